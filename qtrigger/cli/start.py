"""`qtrigger start`: run the project's functions until stopped."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import math
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

import click

from qtrigger.background import begin
from qtrigger.cli import loop, outlet, wiring
from qtrigger.cli.answering import Answering
from qtrigger.cli.attending import Attending
from qtrigger.cli.emulation import LocalEmulator
from qtrigger.cli.ending import Reason, run_to_the_end
from qtrigger.cli.facing import facing_of
from qtrigger.cli.http_options import Listen, http_options
from qtrigger.cli.keeping import KeptJournal
from qtrigger.cli.metered import measuring_of
from qtrigger.cli.reload_options import OpenChanges, changes_of, reload_options, watches
from qtrigger.cli.reloading import Reloading
from qtrigger.cli.several import SeveralValues
from qtrigger.cli.starting import HostStarter, StartOptions
from qtrigger.cli.terminal import ControllingTerminal
from qtrigger.cli.traced import open_traced
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.events import EventSink, Heartbeat, HostLog
from qtrigger.hiding import Hiding
from qtrigger.host import Host
from qtrigger.orphans import leave_on_sigterm, reap_if_first
from qtrigger.project.model import Project
from qtrigger.project.secrets import secrets_of
from qtrigger.standing import Processes
from qtrigger.state import state_folder
from qtrigger.supervisor import Supervisor
from qtrigger.telemetry.heartbeat import beat
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.telemetry.sinks import FanOut, LibraryLogs, Tally


class Seconds(click.ParamType[float]):
    """A finite number of seconds, not negative."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See click."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds >= 0):
            self.fail(f"{value!r} is no number of seconds from 0 up", param, ctx)
        return seconds


EPILOG = """\b
Examples:
  qtrigger start
  qtrigger start ./orders --functions charge refund --exit-when-idle 10

Exit codes: 0 stopped as asked, or idle, 3 the project cannot be run, 4 the queue service cannot be
reached or refuses, 5 messages are left that come back when their leases end.
"""


@click.command(
    cls=SeveralValues, short_help="Run the project's functions until stopped.", epilog=EPILOG
)
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@click.option("--functions", multiple=True, metavar="NAME…", help="Run only these functions.")
@click.option(
    "--workers",
    type=click.IntRange(1, 10),
    help="Worker processes (default: setting FUNCTIONS_WORKER_PROCESS_COUNT, else 1).",
)
@click.option(
    "--shutdown-timeout",
    type=Seconds(),
    metavar="SECONDS",
    help="How long running functions may finish (default: host.json, else 30).",
)
@click.option(
    "--exit-when-idle",
    type=Seconds(),
    metavar="SECONDS",
    help="End with 0 once every queue has been empty and nothing has run for so long.",
)
@click.option(
    "--emulator",
    type=click.Choice(["auto", "azurite", "builtin", "none"]),
    default="auto",
    show_default=True,
    help="What to start when the project uses the local emulator and none runs (Development only).",
)
@reload_options
@http_options
@click.option(
    "--debug",
    type=click.IntRange(1, 65535),
    is_flag=False,
    flag_value=5678,
    metavar="[PORT]",
    help="Let a debugger attach (debugpy of the project's Python, one worker; port 5678).",
)
@wiring.state_option
@outlet.log_options
def start(
    project: str | None,
    logs: outlet.LogOptions,
    reload: bool | None,
    reload_poll: bool,
    http: Listen | None,
    **flags: Any,
) -> int:
    """Run PROJECT's functions (default: the nearest folder upwards with a host.json).

    The first Ctrl-C or SIGTERM lets running functions finish, a second one hands their messages
    back and leaves at once. SIGHUP loads the project anew; closing the terminal stops.
    """
    leave_on_sigterm()
    log_format = outlet.chosen_format(
        logs.log_format, flags["environment"], out=sys.stdout, err=sys.stderr
    )
    tally, reason, clock, traces = Tally(), Reason(), SystemClock(), OpenTraces()
    hiding = Hiding()

    def run() -> ExitCode:
        root, environment = wiring.named_root(project), flags["environment"]
        watched = watches(environment, reload=reload, poll=reload_poll)
        options = StartOptions(
            root=root, watches=watched, http=http, metrics=http is not None, **flags
        )
        changes = changes_of(
            root,
            environment=environment,
            wanted=watched,
            poll=reload_poll,
            clock=clock,
            sink=sink,
        )
        return loop.run(run_host(options, sink, tally, changes, traces, hiding))

    with outlet.open_sink(logs, log_format, traces, hiding.plain) as lines:
        sink = FanOut(tally, reason, lines)
        return run_to_the_end(
            run,
            sink=sink,
            tally=tally,
            reason=reason,
            clock=clock,
            tells_errors=log_format == "json",
        )


async def run_host(
    options: StartOptions,
    sink: FanOut,
    tally: Tally,
    open_changes: OpenChanges,
    open_traces: OpenTraces,
    hiding: Hiding,
) -> ExitCode:
    """Run to the end what the verb is asked for, reloading for what `open_changes` gives."""
    clock = SystemClock()
    faulthandler.enable(file=2)  # a watchdog ends what hangs by a signal, and the stacks say why
    root = options.root.resolve()
    state = state_folder(root, options.state)
    journal = KeptJournal(state, clock=clock, sink=sink, plain=hiding.plain)
    answering = Answering(clock, sink, hiding.plain)
    attending = Attending(clock, sink, tally.counts, asks_workers=options.debug is None)
    answering.standing.looked_after_by(attending.liveness)
    traced = open_traced(root.name, os.environ, open_traces, sink)
    sink.add(journal.sink, answering.happened, attending.announcing, *traced.sinks)

    def learn(project: Project) -> None:
        hiding.learn(secrets_of(project))

    def live(host: Host, processes: Processes) -> None:
        journal.apply(host.project)
        answering.standing.now(host, processes)
        starter.spending.apply(host.project.host.price)
        attending.now(host, processes)
        for each in (measuring, facing):
            if each is not None:
                each.now(host, processes)

    # Held here: a task that nobody holds may be forgotten.
    orphans = reap_if_first(clock)
    logging.getLogger().addHandler(LibraryLogs(sink))
    asyncio.get_running_loop().set_exception_handler(_defects_to(sink))
    emulator = LocalEmulator(root, options.emulator, options.environment, clock, sink)
    starter = HostStarter(options, emulator, clock, sink, live, learn, traced.tracing)
    answering.standing.spending = starter.spending
    measuring = measuring_of(starter, answering.standing, clock) if options.metrics else None
    if measuring is not None:
        sink.add(measuring.meters)
    reloading = Reloading(starter, starter.told, clock=clock, sink=sink)
    supervisor = Supervisor(
        starter.start,
        shutdown_timeout_s=options.shutdown_timeout,
        exit_when_idle_s=options.exit_when_idle,
        clock=clock,
        sink=sink,
        counts=tally.counts,
        terminal_gone=ControllingTerminal().gone,
        changes=open_changes(reloading.foresee),
        renew=reloading.renew,
        requirements=reloading.requirements_changed,
    )
    facing = facing_of(
        options,
        measuring,
        root=root,
        state=state,
        answering=answering,
        supervisor=supervisor,
        requests=starter.requests,
        clock=clock,
        sink=sink,
        plain=hiding.plain,
    )
    starter.opens = facing.open if facing is not None else starter.opens
    async with AsyncExitStack() as ending:
        # Closed from the last to the first, each whatever became of the others.
        ending.callback(journal.close)
        ending.push_async_callback(traced.close)
        ending.push_async_callback(emulator.stop)
        ending.push_async_callback(reloading.close)
        ending.callback(starter.spending.close)
        ending.push_async_callback(answering.close)
        if facing is not None:
            ending.push_async_callback(facing.close)
        ending.callback(attending.close)
        if orphans is not None:
            ending.callback(orphans.cancel)
        if sink.wants(Heartbeat):
            ending.callback(begin(beat(clock, sink, tally.counts), name="heartbeat").cancel)
        await answering.open(supervisor, root, state)
        return await supervisor.run()


def _defects_to(sink: EventSink) -> Any:
    def tell(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        import traceback

        error = context.get("exception")
        sink.emit(
            HostLog(
                level=logging.ERROR,
                logger="qtrigger",
                message=f"a defect of qtrigger, please report it: {context['message']}",
                traceback="".join(traceback.format_exception(error)) if error else "",
            )
        )

    return tell

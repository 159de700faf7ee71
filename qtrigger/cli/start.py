"""`qtrigger start`: run the project's functions until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click

from qtrigger import tellers
from qtrigger.cli import loop, projects, wiring
from qtrigger.cli.collector import resting_collector
from qtrigger.cli.emulation import Choice, LocalEmulator
from qtrigger.cli.reload_options import OpenChanges, changes_of, reload_options
from qtrigger.cli.reloading import Reloading, Staff
from qtrigger.cli.several import SeveralValues
from qtrigger.cli.terminal import ControllingTerminal
from qtrigger.cli.told import News, Told
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode, ProjectError
from qtrigger.events import EventSink, HostLog
from qtrigger.host import Host
from qtrigger.notices import OpenTellers
from qtrigger.pauses import PauseFile, state_folder
from qtrigger.project.model import Project
from qtrigger.queues.services import QueueServices
from qtrigger.supervisor import Supervisor
from qtrigger.telemetry.sinks import FanOut, LibraryLogs, Tally
from qtrigger.tries import TriesOfAll

if TYPE_CHECKING:
    from qtrigger.cli.ahead import Ahead


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """The verb's flags."""

    root: Path
    environment: str
    functions: tuple[str, ...]
    workers: int | None
    shutdown_timeout: float | None
    exit_when_idle: float | None
    emulator: Choice
    state: str | None


EPILOG = """\b
Examples:
  qtrigger start
  qtrigger start ./orders --functions charge refund --exit-when-idle 10
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
@wiring.state_option
@click.option(
    "--log-format",
    type=click.Choice(["auto", "console", "plain", "json"]),
    default="auto",
    show_default=True,
    help="Auto: console on a terminal, json in Production, else plain.",
)
@click.option(
    "--log-level", type=click.Choice(list(wiring.LEVELS)), default="info", show_default=True
)
def start(
    project: str | None,
    log_format: str,
    log_level: str,
    reload: bool | None,
    reload_poll: bool,
    **flags: Any,
) -> int:
    """Run PROJECT's functions (default: the nearest folder upwards with a host.json).

    The first Ctrl-C or SIGTERM lets running functions finish, a second one hands their messages
    back and leaves at once. SIGHUP loads the project anew; closing the terminal stops.
    """
    options = StartOptions(root=wiring.find_root(project), **flags)
    tally = Tally()
    with wiring.open_sink(wiring.choose_format(log_format, options.environment), log_level) as sink:
        fan = FanOut(tally, sink)
        changes = changes_of(
            wiring.named_root(project),
            environment=options.environment,
            reload=reload,
            poll=reload_poll,
            clock=SystemClock(),
            sink=fan,
        )
        return loop.run(run_host(options, fan, tally, changes))


async def run_host(
    options: StartOptions, sink: EventSink, tally: Tally, open_changes: OpenChanges
) -> ExitCode:
    """Run to the end what the verb is asked for, reloading for what `open_changes` gives."""
    clock = SystemClock()
    logging.getLogger().addHandler(LibraryLogs(sink))
    asyncio.get_running_loop().set_exception_handler(_defects_to(sink))
    emulator = LocalEmulator(options.root, options.emulator, options.environment, clock)
    starter = HostStarter(options, emulator, clock, sink)
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
    try:
        return await supervisor.run()
    finally:
        await reloading.close()
        await emulator.stop()


class HostStarter:
    """Loads the project and starts the first host for it; `reloading` has its steps for others.

    `told` is what was said of the project's faults.
    """

    def __init__(
        self, options: StartOptions, emulator: LocalEmulator, clock: SystemClock, sink: EventSink
    ) -> None:
        self.told = Told()
        self.interpreter = ""
        self._warm = False
        self._tries = TriesOfAll()
        self._options = options
        self._emulator = emulator
        self._clock = clock
        self._sink = sink

    async def start(self) -> Host:
        """Return a host that polls. Raises ProjectError when no function can run."""
        began_at = self._clock.monotonic()
        news = News(self._sink, self.told)
        with resting_collector():
            loaded = await self.load(news)
        try:
            return await self._start(loaded, news, began_at)
        finally:
            await loaded.close()

    async def launch_ahead(self) -> Ahead | None:
        """See `Starter`."""
        from qtrigger.cli.ahead import launch_ahead

        options = self._options
        return await launch_ahead(
            options.root,
            os.environ,
            options.environment,
            clock=self._clock,
            sink=self._sink,
            warm=self._warm,
        )

    async def load(self, sink: EventSink, ahead: Ahead | None = None) -> projects.LoadedProject:
        """See `Starter`."""
        options = self._options
        return await projects.load(
            options.root,
            os.environ,
            options.environment,
            options.functions,
            clock=self._clock,
            sink=sink,
            ahead=ahead,
        )

    async def _start(self, loaded: projects.LoadedProject, news: News, began_at: float) -> Host:
        news.tell(loaded.project.problems)
        wiring.check_runnable(loaded.project)
        staff = await self.staff(loaded, news)
        host = self.host(loaded.project, staff)
        await host.start(
            workers=staff.count,
            interpreter=staff.interpreter.why,
            began_at=began_at,
            open_tellers=self.tellers(),
        )
        if not host.listeners:
            await host.stop("nothing to run", up_to_s=0.0, at_once=asyncio.Event())
            raise ProjectError("no function could be loaded. Mend the findings above.")
        host.tell_hidden()
        return host

    async def staff(self, loaded: projects.LoadedProject, sink: EventSink) -> Staff:
        """See `Starter`."""
        await self._emulator.ensure(loaded.project)
        count = self._options.workers or _worker_count(loaded.project.settings)
        pool, interpreter = loaded.open_workers(count, self._clock, sink)
        self.interpreter = str(interpreter.path)
        self._warm = _uses_library(loaded.project)
        return Staff(pool=pool, count=count, interpreter=interpreter)

    def host(self, project: Project, staff: Staff) -> Host:
        """See `Starter`."""
        return Host(
            project,
            services=QueueServices(wiring.open_service_with(self._clock)),
            workers=staff.pool,
            clock=self._clock,
            sink=self._sink,
            random=Random(),  # noqa: S311  # spreads polls, guards nothing
            tries=self._tries,
            pauses=PauseFile(state_folder(self._options.root, self._options.state)),
        )

    def tellers(self) -> OpenTellers:
        """See `Starter`."""
        return tellers.opener(self._options.root, os.environ, self._clock)

    def up_to_s(self, project: Project) -> float:
        """See `Starter`."""
        given = self._options.shutdown_timeout
        return project.host.shutdown_timeout_s if given is None else given


def _uses_library(project: Project) -> bool:
    """Whether the project's code is likely to import `azure.functions`."""
    if project.decorator_script is not None:
        return True
    for script in {each.script_file for each in project.functions}:
        with contextlib.suppress(OSError):
            if b"azure.functions" in script.read_bytes():
                return True
    return False


def _worker_count(settings: Mapping[str, str]) -> int:
    """Return what FUNCTIONS_WORKER_PROCESS_COUNT says when that is 1 to 10, else 1."""
    text = settings.get("FUNCTIONS_WORKER_PROCESS_COUNT", "").strip()
    return int(text) if text in [str(number) for number in range(1, 11)] else 1


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

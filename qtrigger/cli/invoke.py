"""`qtrigger invoke`: run one function once in a worker, without any queue."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import click

from qtrigger.cli import colours, projects, wiring
from qtrigger.cli.several import SeveralValues
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import ExitCode, ProjectError, QtriggerError
from qtrigger.events import Event, EventSink, FunctionLoadFailed, UserLog
from qtrigger.invocation import Postponed, Succeeded, TriggerMessage
from qtrigger.project.model import FunctionDefinition, Project, Severity
from qtrigger.telemetry.console import ConsoleSink
from qtrigger.tryout import (
    FunctionNotRun,
    MetadataError,
    NoSuchFunction,
    TriedOut,
    find_function,
    message_of,
    try_out,
)

EPILOG = """\b
Examples:
  qtrigger invoke charge --message '{"id": 1}'
  qtrigger invoke charge --file order.json --metadata dequeueCount=5
  qtrigger invoke charge --message - --write-outputs --format json < order.json
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeOptions:
    """What the verb was asked for."""

    root: Path
    environment: str
    function: str
    body: bytes
    metadata: dict[str, str]
    write: bool


@dataclass
class InvocationLogs:
    """Shows what the function says as it says it, on stderr, and keeps it."""

    shown: EventSink
    lines: list[UserLog] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, UserLog):
            self.lines.append(event)
            self.shown.emit(event)
        elif isinstance(event, FunctionLoadFailed):
            self.shown.emit(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind in (UserLog, FunctionLoadFailed)


@click.command(
    cls=SeveralValues, short_help="Run one function once, without a queue.", epilog=EPILOG
)
@click.argument("function")
@click.option("--message", metavar="TEXT", help="The message's body; - is standard input.")
@click.option("--file", type=click.File("rb"), help="Its body, byte for byte; - is standard input.")
@click.option(
    "--metadata",
    multiple=True,
    metavar="NAME=VALUE…",
    help="What comes with it: id, dequeueCount, insertionTime, expirationTime, nextVisibleTime, "
    "popReceipt.",
)
@click.option(
    "--write-outputs", is_flag=True, help="Write to the output queues for real, as a host does."
)
@click.option(
    "--format",
    "form",
    envvar="QTRIGGER_INVOKE_FORMAT",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is written, on standard output.",
)
@wiring.environment_option
@click.option(
    "--project",
    type=click.Path(),
    help="The project's folder (default: the nearest upwards with a host.json).",
)
def invoke(
    form: str,
    message: str | None,
    file: BinaryIO | None,
    metadata: tuple[str, ...],
    project: str | None,
    **flags: Any,
) -> int:
    """Run FUNCTION once in a worker process, on a message that you give, without any queue.

    It says what the function returned and what would have been written to which queue. What the
    function logs and prints goes to standard error. functionTimeout applies; a retry policy does
    not.

    The message is empty where neither --message nor --file gives one. Its metadata, where not
    given: a fresh id, dequeueCount 1, inserted now, expiring in 7 days, visible again when a lease
    taken now would end, and a pop receipt that no queue knows.

    Exit codes: 0 it succeeded or asked for a later time, 6 it failed, timed out, ended its worker
    or rejected the message, 2 there is no such function, 3 it cannot be run here.
    """
    options = InvokeOptions(
        root=wiring.find_root(project),
        environment=flags["environment"],
        function=flags["function"],
        body=_body(message, file),
        metadata=_metadata(metadata),
        write=flags["write_outputs"],
    )
    colour = colours.wanted("auto", sys.stderr)
    logs = InvocationLogs(ConsoleSink(sys.stderr, level=logging.DEBUG, colour=colour))
    function, tried = asyncio.run(_run(options, logs, SystemClock()))
    _write(form, function, tried, logs.lines)
    return _exit_code(tried)


def _body(message: str | None, file: BinaryIO | None) -> bytes:
    if message is not None and file is not None:
        raise click.UsageError("give the message by --message or by --file, not by both")
    if message == "-":
        return sys.stdin.buffer.read()
    if file is not None:
        return file.read()
    return os.fsencode(message or "")


def _metadata(given: Sequence[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    for name, equals, _ in pairs:
        if not equals:
            raise click.UsageError(f"--metadata {name}: write it as NAME=VALUE")
    return {name.strip(): value for name, _, value in pairs}


async def _run(
    options: InvokeOptions, logs: InvocationLogs, clock: Clock
) -> tuple[FunctionDefinition, TriedOut]:
    loaded = await projects.load(
        options.root, os.environ, options.environment, clock=clock, sink=logs
    )
    try:
        function = _found(loaded.project, options.function)
        message = _message(options, function, loaded.project, clock)
        return function, await _try(options, loaded, function, message, logs, clock)
    finally:
        await loaded.close()


async def _try(
    options: InvokeOptions,
    loaded: projects.LoadedProject,
    function: FunctionDefinition,
    message: TriggerMessage,
    logs: InvocationLogs,
    clock: Clock,
) -> TriedOut:
    from qtrigger.assembly import function_spec, output_writer
    from qtrigger.queues.services import QueueServices
    from qtrigger.wakeups import Wakeups

    pool, _ = loaded.open_workers(1, clock, logs)
    services = QueueServices(wiring.open_service_with(clock))
    try:
        if (await pool.start([function_spec(function)])).failures:
            raise ProjectError(f"{function.name} cannot be loaded. Mend what is said above.")
        return await try_out(
            function,
            message,
            worker=pool,
            outputs=output_writer(function, services=services, clock=clock, wakeups=Wakeups()),
            timeout_s=loaded.project.host.function_timeout_s,
            write=options.write,
        )
    finally:
        try:
            await pool.stop(0.0)
        finally:
            await services.close()


def _found(project: Project, name: str) -> FunctionDefinition:
    try:
        return find_function(project, name)
    except NoSuchFunction as error:
        raise click.UsageError(str(error)) from error
    except FunctionNotRun:
        for each in project.problems:
            own = each.function.casefold() in ("", name.casefold())
            if own and each.severity is Severity.ERROR:
                click.echo("\n".join(filter(None, (str(each), each.traceback))), err=True)
        raise


def _message(
    options: InvokeOptions, function: FunctionDefinition, project: Project, clock: Clock
) -> TriggerMessage:
    from qtrigger.queues.encoding import encode

    try:
        encode(options.body, function.options.message_encoding)
    except QtriggerError as error:
        wiring.note(f"note: no such message can stand on {function.trigger.queue}: {error}")
    now, lease_s = clock.utcnow(), project.host.lease_s
    try:
        return message_of(options.body, options.metadata, now=now, lease_s=lease_s)
    except MetadataError as error:
        raise click.UsageError(f"--metadata: {error}") from error


def _write(
    form: str, function: FunctionDefinition, tried: TriedOut, logs: Sequence[UserLog]
) -> None:
    from qtrigger.cli.tried import as_json, as_text

    if form == "json":
        click.echo(as_json(function, tried, logs))
        return
    click.echo(as_text(function, tried), err=_exit_code(tried) is not ExitCode.OK)
    if function.retry is not None:
        wiring.note("note: its retry policy is not carried out here")


def _exit_code(tried: TriedOut) -> ExitCode:
    """A wish for a later time is no failure; a message that is rejected is for its sender."""
    done = isinstance(tried.outcome, Succeeded | Postponed)
    return ExitCode.OK if done else ExitCode.FAILED

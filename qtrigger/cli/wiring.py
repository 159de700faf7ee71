"""Puts real parts together for the verbs: project, queue services, emulator, sinks.

Owns no behaviour of its own. Heavy modules are imported by the functions that need them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from qtrigger.clock import Clock
from qtrigger.errors import ProjectError
from qtrigger.events import EventSink, Finding
from qtrigger.project.model import Problem, Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueService
from qtrigger.telemetry.writer import BackgroundWriter

HOST_FILE = "host.json"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def find_root(given: str | None) -> Path:
    """Return the project's folder: the given one, else the nearest with host.json upwards.

    Raises ProjectError when there is none.
    """
    if given is not None:
        root = Path(given)
        if not root.is_dir():
            raise ProjectError(f"{given} is not a folder. Give the folder that holds {HOST_FILE}.")
        return root.resolve()
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise ProjectError("the current folder no longer exists. Change to another.") from None
    for folder in (here, *here.parents):
        if (folder / HOST_FILE).is_file():
            return folder
    raise ProjectError(
        f"no {HOST_FILE} in {here} or above it. Change to a project's folder, or name one: "
        "qtrigger start PROJECT."
    )


def load(
    root: Path, environ: Mapping[str, str], environment: str, only: Sequence[str] = ()
) -> Project:
    """Read the project. Raises ProjectError when nothing can be said about it."""
    from qtrigger.project.loader import load_project

    return load_project(root, environ, environment=environment, only=only)


def open_service_with(clock: Clock) -> Callable[[Account], QueueService]:
    """Return what opens the service of an account over HTTP."""
    from qtrigger.queues.rest import RestQueueService

    def open_service(account: Account) -> QueueService:
        return RestQueueService(account, clock)

    return open_service


def choose_format(log_format: str, environment: str) -> str:
    """Return the log format that `auto` means here."""
    if log_format == "auto":
        readable = "console" if sys.stderr.isatty() and sys.stdout.isatty() else "plain"
        log_format = "json" if environment.casefold() != "development" else readable
    return log_format


@contextmanager
def open_sink(log_format: str, level: str) -> Iterator[EventSink]:
    """Open the sink that writes log lines: to stderr on a terminal, else to stdout."""
    terminal = log_format == "console"
    writer = BackgroundWriter(sys.stderr if terminal else sys.stdout)
    try:
        if log_format == "json":
            from qtrigger.telemetry.json_lines import JsonSink

            yield JsonSink(writer, level=LEVELS[level])
        else:
            from qtrigger.telemetry.console import ConsoleSink

            colour = terminal and not _colour_unwanted()
            yield ConsoleSink(writer, level=LEVELS[level], colour=colour)
    finally:
        writer.close()


def tell_findings(problems: Sequence[Problem], sink: EventSink) -> None:
    """Emit the project's findings."""
    for problem in problems:
        parts = (problem.file, problem.line, problem.column)
        sink.emit(
            Finding(
                function=problem.function,
                place=":".join(str(part) for part in parts if part),
                severity=problem.severity,
                message=problem.message,
                hint=problem.hint,
            )
        )


def _colour_unwanted() -> bool:
    import os

    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def note(text: str) -> None:
    """Tell a person what is going on, on stderr."""
    click.echo(text, err=True)

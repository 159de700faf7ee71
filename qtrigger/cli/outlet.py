"""Where the log lines of a verb go, and how they look.

Owns the flags for it, what `auto` means, and the width of the terminal. What the lines say is
the telemetry's business.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Final, TextIO

import click

from qtrigger.cli import colours
from qtrigger.events import EventSink
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.telemetry.writer import BackgroundWriter

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# Of a terminal that does not tell.
USUAL_WIDTH: Final = 80
LEAST_WIDTH: Final = 40

_OPTIONS: Final = (
    click.option(
        "--log-format",
        type=click.Choice(["auto", "console", "plain", "json"]),
        default="auto",
        show_default=True,
        help="Auto: console on a terminal, else plain, and json in Production.",
    ),
    click.option("--log-level", type=click.Choice(list(LEVELS)), default="info", show_default=True),
    click.option(
        "-v", "--verbose", is_flag=True, help="Level debug, and a line each minute with counts."
    ),
    click.option("-q", "--quiet", is_flag=True, help="Warnings and errors alone, no banner."),
    colours.colour_option,
    click.option(
        "--traceback",
        type=click.Choice(["user", "full"]),
        default="user",
        show_default=True,
        help="Frames of your own code, or those of packages and of Python as well.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """The flags that are about log lines."""

    log_format: str = "auto"
    log_level: str = "info"
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"
    traceback: str = "user"

    @property
    def level(self) -> int:
        """The least level shown. Raises UsageError for flags that contradict each other."""
        if self.verbose and self.quiet:
            raise click.UsageError("--verbose and --quiet contradict each other: give one of them")
        if self.verbose or self.quiet:
            return logging.DEBUG if self.verbose else logging.WARNING
        return LEVELS[self.log_level]


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the flags; it gets their values as `logs`."""

    @functools.wraps(command)
    def call(*args: Any, **flags: Any) -> Any:
        given = {each.name: flags.pop(each.name) for each in fields(LogOptions)}
        return command(*args, logs=LogOptions(**given), **flags)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


def chosen_format(log_format: str, environment: str, *, out: TextIO, err: TextIO) -> str:
    """Return the log format that `auto` means with these streams; never json on a terminal."""
    if log_format != "auto":
        return log_format
    if out.isatty():
        return "console" if err.isatty() else "plain"
    return "plain" if environment.casefold() == "development" else "json"


@contextmanager
def open_sink(
    options: LogOptions,
    log_format: str,
    traces: OpenTraces | None = None,
    plain: Callable[[str], str] = str,
) -> Iterator[EventSink]:
    """Open the sink that writes log lines: to stderr in the format console, else to stdout.

    Lines for programs name the trace that they belong to, as `traces` has it. `plain` takes secrets
    out of a text.
    """
    stream = sys.stderr if log_format == "console" else sys.stdout
    level = options.level
    writer = BackgroundWriter(stream, plain=plain)
    try:
        if log_format == "json":
            from qtrigger.telemetry import journald
            from qtrigger.telemetry.json_lines import JsonSink

            if journald.leads_there(stream, os.environ):
                yield JsonSink(writer, level=level, traces=traces, begin=journald.prefix)
            else:
                yield JsonSink(writer, level=level, traces=traces)
        else:
            from qtrigger.telemetry.console import ConsoleSink

            on_terminal = log_format == "console" and stream.isatty()
            yield ConsoleSink(
                writer,
                level=level,
                colour=coloured(options, log_format, stream),
                width=functools.partial(width_of, stream) if on_terminal else None,
                all_frames=options.traceback == "full",
                plain=plain,
            )
    finally:
        writer.close()


def coloured(
    options: LogOptions,
    log_format: str,
    stream: TextIO,
    environ: Mapping[str, str] = os.environ,
) -> bool:
    """Whether lines are coloured; those that were asked for as plain, by the flag alone."""
    if options.log_format == "plain":
        return options.color == "always"
    return log_format != "json" and colours.wanted(options.color, stream, environ)


def width_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> int:
    """Return the columns of the terminal behind a stream, or what COLUMNS says."""
    try:
        width = int(environ.get("COLUMNS", "0")) or os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    return max(width, LEAST_WIDTH) if width > 0 else USUAL_WIDTH

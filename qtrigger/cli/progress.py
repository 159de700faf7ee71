"""Shows how far long work has come: a bar on a terminal, a line now and then elsewhere.

Owns both shapes, on stderr; the work itself only says how much more is done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from qtrigger.clock import Clock

# Elsewhere than on a terminal; shorter work says nothing but its result.
LINE_EVERY_S: Final = 10.0

Advance = Callable[[int], None]


@contextmanager
def progress(what: str, total: int | None, clock: Clock) -> Iterator[Advance]:
    """Yield what is to be called with how many more are done; `total` None is not known.

    `what` is a verb in its -ing form and its object: `requeueing from orders-poison`.
    """
    if sys.stderr.isatty():
        with _bar(what, total) as advance:
            yield advance
    else:
        yield _Lines(what, total, clock).advance


@contextmanager
def waiting(what: str, clock: Clock) -> Iterator[Callable[[], None]]:
    """Show that `what` goes on, for work that cannot say how far it is; yield what to call often.

    A spinner with the time on a terminal, and elsewhere a line each ten seconds.
    """
    if sys.stderr.isatty():
        with _spinner(what):
            yield lambda: None
    else:
        yield _Patience(what, clock).tick


@contextmanager
def _spinner(what: str) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(what, total=None)
        yield


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda more: shown.advance(task, more)


class _Lines:
    """A line each ten seconds."""

    def __init__(self, what: str, total: int | None, clock: Clock) -> None:
        self._what = what
        self._of = "" if total is None else f" of {total:,}"
        self._clock = clock
        self._done = 0
        self._next_s = clock.monotonic() + LINE_EVERY_S

    def advance(self, more: int) -> None:
        """Count, and say so when it is time."""
        self._done += more
        if self._clock.monotonic() >= self._next_s:
            self._next_s = self._clock.monotonic() + LINE_EVERY_S
            click.echo(f"{self._what}: {self._done:,}{self._of}", err=True)


class _Patience:
    """The time that has passed, each ten seconds."""

    def __init__(self, what: str, clock: Clock) -> None:
        self._what = what
        self._clock = clock
        self._began_s = clock.monotonic()
        self._next_s = self._began_s + LINE_EVERY_S

    def tick(self) -> None:
        """Say so when it is time."""
        now = self._clock.monotonic()
        if now >= self._next_s:
            self._next_s = now + LINE_EVERY_S
            click.echo(f"{self._what} … {now - self._began_s:.0f} s", err=True)

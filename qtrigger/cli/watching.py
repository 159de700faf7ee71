"""Shows how hosts stand, anew each second, until somebody has seen enough."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from qtrigger.cli.standings import as_text
from qtrigger.errors import ExitCode

EACH_S: Final = 1.0
_ENDS: Final = b"qQ\x03\x04"  # also Ctrl-C and Ctrl-D, where the terminal sends them as keys


def watched(look: Callable[[], Sequence[Mapping[str, Any]]], root: Path) -> int:
    """Show what `look` finds until q or Ctrl-C."""
    if not sys.stdout.isatty():
        raise click.UsageError("--watch needs a terminal; use --format json from a program")
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with (
        contextlib.suppress(KeyboardInterrupt),
        _keys() as pressed,
        Live(console=Console(), screen=True, auto_refresh=False) as live,
    ):
        while True:
            width = live.console.width
            shown = "\n\n".join(as_text(each, width=width) for each in look())
            text = shown or f"no host of {root} runs here; waiting for one"
            live.update(Text(f"{text}\n\nq ends", no_wrap=True, overflow="crop"), refresh=True)
            if pressed(EACH_S):
                break
    return ExitCode.OK


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Yield what waits so long for a key that ends it, and says whether one came."""
    if not sys.stdin.isatty():
        yield _never
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)

    def pressed(for_s: float) -> bool:
        ready, _, _ = select.select([descriptor], [], [], for_s)
        if not ready:
            return False
        key = os.read(descriptor, 1)
        return not key or key in _ENDS

    try:
        yield pressed
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _never(for_s: float) -> bool:
    select.select([], [], [], for_s)
    return False

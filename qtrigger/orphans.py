"""What falls to a host that is the first process of a container.

Owns two duties that nobody else has there. Processes whose own parent has ended become the host's
children, and stay in the table until it asks for their ends; user code that leaves some behind
would fill it. And a signal without a handler does nothing to the first process, so that a stop
that comes before the supervisor's would be lost. Knows no host.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from qtrigger.background import begin
from qtrigger.clock import Clock

FIRST: Final = 1
LOOK_S: Final = 2.0

Ended = tuple[int, int]
"""A process that has ended: its id, and when it began, since ids are given away again."""


def leave_on_sigterm() -> None:
    """Let SIGTERM end the first process with exit code 0 until somebody else takes the signal."""
    if os.getpid() == FIRST:
        signal.signal(signal.SIGTERM, _leave)


def reap_if_first(clock: Clock) -> asyncio.Task[None] | None:
    """Begin to reap where this is the first process; the task ends by being cancelled."""
    return begin(reap(clock), name="orphans") if os.getpid() == FIRST else None


async def reap(clock: Clock, ended: Callable[[], set[Ended]] | None = None) -> NoReturn:
    """Ask for the ends of children that nobody asks for, a look or two after they came.

    Whoever begins a process here asks for its end as soon as it comes: what has stayed ended from
    one look to the next is nobody's.
    """
    look = ended or ended_children
    before: set[Ended] = set()
    while True:
        await clock.sleep(LOOK_S)
        now = look()
        for pid, _ in now & before:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222  # it does not wait
        before = now - before


def ended_children() -> set[Ended]:
    """This process's children that have ended and still stand in the table; Linux alone tells."""
    found = set()
    with contextlib.suppress(OSError):
        for each in Path("/proc").iterdir():
            if each.name.isdecimal():
                found |= _ended(each)
    return found


def _ended(process: Path) -> set[Ended]:
    try:
        # A name may hold spaces and parentheses: the fields come after its last one.
        said = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return set()
    if len(said) < 20 or said[0] != "Z" or int(said[1]) != os.getpid():
        return set()
    return {(int(process.name), int(said[19]))}


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)

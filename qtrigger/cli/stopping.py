"""Work that Ctrl-C ends well: once finishes what is under way, twice leaves at once.

Owns the signals of a verb that goes through many messages.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Final, TypeVar

import click

from qtrigger.cli import wiring

T = TypeVar("T")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
STOPPING: Final = "stopping: what is under way is finished (again: leave at once)"


def run(work: Callable[[asyncio.Event], Coroutine[object, object, T]]) -> T:
    """Run `work` with what tells it to stop. Raises Abort for the second signal."""
    try:
        return asyncio.run(_run(work))
    except asyncio.CancelledError:
        wiring.note("left at once: what was in hand comes back within a few minutes")
        raise click.exceptions.Abort from None


async def _run(work: Callable[[asyncio.Event], Coroutine[object, object, T]]) -> T:
    loop, task, stop = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()
    assert task is not None

    def hear() -> None:
        if stop.is_set():
            task.cancel()
            return
        stop.set()
        wiring.note(STOPPING)

    for number in SIGNALS:
        loop.add_signal_handler(number, hear)
    try:
        return await work(stop)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

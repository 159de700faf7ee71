"""Time, behind a seam.

Owns every look at a clock and every wait by time; nothing else may import `time` for that or
call `asyncio.sleep`, so that tests run hours in milliseconds. Delays are float seconds.
Everything is measured on the monotonic clock; wall time is only ever shown or compared with
times that the service gave.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    """A callback that has not run yet."""

    def cancel(self) -> None:
        """Keep it from running; harmless when it already has."""


class Clock(Protocol):
    """Tells the time and waits."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""

    def utcnow(self) -> datetime:
        """Wall time, with zone UTC."""

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Run `callback` on the loop after `delay_s` seconds."""

    async def sleep(self, delay_s: float) -> None:
        """Wait for `delay_s` seconds."""

    async def wait(self, event: asyncio.Event, timeout_s: float) -> bool:
        """Wait until `event` is set, at most `timeout_s` seconds; says whether it is set."""

    def timeout(self, delay_s: float) -> AbstractAsyncContextManager[object]:
        """Cancel the body of an `async with` after `delay_s` seconds, raising TimeoutError."""


async def wait_for_event(clock: Clock, event: asyncio.Event, timeout_s: float) -> bool:
    """`Clock.wait` in terms of `Clock.timeout`."""
    if event.is_set():
        return True
    try:
        async with clock.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


class SystemClock:
    """The machine's own time."""

    # Itself and not a call of it: a message has its time looked at ten times.
    monotonic = staticmethod(time.monotonic)

    def utcnow(self) -> datetime:
        """See `Clock`."""
        return datetime.now(UTC)

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """See `Clock`."""
        return asyncio.get_running_loop().call_later(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        """See `Clock`."""
        await asyncio.sleep(delay_s)

    async def wait(self, event: asyncio.Event, timeout_s: float) -> bool:
        """See `Clock`."""
        return await wait_for_event(self, event, timeout_s)

    def timeout(self, delay_s: float) -> AbstractAsyncContextManager[object]:
        """See `Clock`."""
        return asyncio.timeout(delay_s)

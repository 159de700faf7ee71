"""A clock that moves only when told to.

Owns virtual time for tests. Due callbacks run in the order of their due times, and between two
of them every task gets the turns it needs to come to rest.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeVar

from qtrigger.clock import Timer, wait_for_event

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)

# Turns of the loop that the tasks get between two timers. A chain of awaits that needs more
# without any timer would show as a test that stops making progress, not as a wrong result.
SETTLE_TURNS = 40


class _Pending:
    __slots__ = ("callback", "cancelled", "due")

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due = due
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class ManualClock:
    """A `Clock` under the test's hand; see `advance` and `run`."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = count()
        self._timers: list[tuple[float, int, _Pending]] = []

    def monotonic(self) -> float:
        """See `Clock`."""
        return self._now

    def utcnow(self) -> datetime:
        """See `Clock`."""
        return START + timedelta(seconds=self._now)

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """See `Clock`."""
        pending = _Pending(self._now + max(delay_s, 0.0), callback)
        heapq.heappush(self._timers, (pending.due, next(self._order), pending))
        return pending

    async def sleep(self, delay_s: float) -> None:
        """See `Clock`."""
        done = asyncio.Event()
        timer = self.call_later(delay_s, done.set)
        try:
            await done.wait()
        finally:
            timer.cancel()

    async def wait(self, event: asyncio.Event, timeout_s: float) -> bool:
        """See `Clock`."""
        return await wait_for_event(self, event, timeout_s)

    def timeout(self, delay_s: float) -> AbstractAsyncContextManager[object]:
        """See `Clock`."""
        return _manual_timeout(self, delay_s)

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass, running what falls due on the way."""
        end = self._now + seconds
        await settle()
        while (due := self._next_due()) is not None and due <= end:
            await self._step(due)
        self._now = max(self._now, end)
        await settle()

    async def run(self, awaitable: Awaitable[T], *, limit_s: float = 7 * 86400.0) -> T:
        """Let time pass until `awaitable` is done; AssertionError after `limit_s` of it."""
        task = asyncio.ensure_future(awaitable)
        end = self._now + limit_s
        await settle()
        while not task.done():
            due = self._next_due()
            if due is None or due > end:
                task.cancel()
                reason = "nothing is due" if due is None else f"{limit_s} s have passed"
                raise AssertionError(f"still waiting at {self._now} s, and {reason}")
            await self._step(due)
        return await task

    def _next_due(self) -> float | None:
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    async def _step(self, due: float) -> None:
        self._now = max(self._now, due)
        _, _, pending = heapq.heappop(self._timers)
        pending.callback()
        await settle()


@asynccontextmanager
async def _manual_timeout(clock: ManualClock, delay_s: float) -> AsyncIterator[None]:
    """asyncio's own time-out, told the end by the manual clock."""
    async with asyncio.timeout(None) as timeout:
        now = asyncio.get_running_loop().time
        timer = clock.call_later(delay_s, lambda: timeout.reschedule(now()))
        try:
            yield
        finally:
            timer.cancel()


async def settle() -> None:
    """Give every task that can run the turns it needs to come to rest."""
    for _ in range(SETTLE_TURNS):
        await asyncio.sleep(0)

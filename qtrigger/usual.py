"""How long a function's runs usually take, and noticing one that takes much longer.

Owns the measure; what is said of such a run, and to whom, is not its concern.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.overdue import Overdue

Tell = Callable[[float, float, str], None]
"""Given a run's time so far and the usual one, in seconds, and where it stands."""

Where = Callable[[str], Awaitable[str]]
"""Says where the run of an invocation stands, as a traceback has it; see `Workers.where`."""


async def nowhere(_invocation_id: str) -> str:
    """Who has no worker to ask."""
    return ""


class UsualTime:
    """Watches the runs of one function.

    One is noticed that takes `over_s` seconds longer than the longest before it, or than nothing
    where there is none.
    """

    def __init__(self, clock: Clock, over_s: float = 60.0, where: Where = nowhere) -> None:
        self._clock = clock
        self._over_s = over_s
        self._where = where
        self._longest_s = 0.0
        self._overdue = Overdue(clock)

    def watching(self, tell: Tell, invocation_id: str) -> AbstractContextManager[None]:
        """Around a run: told of once, if it still runs when it is known where it stands."""
        began_at = self._clock.monotonic()
        late_s = self._longest_s + self._over_s
        asked = (self._where, invocation_id)
        return _Watch(self._overdue, began_at + late_s, (late_s, self._longest_s), tell, asked)

    def succeeded(self, duration_s: float) -> None:
        """A run has succeeded in that time."""
        self._longest_s = max(self._longest_s, duration_s)


class _Watch(AbstractContextManager[None]):
    """Around one run; a class, because a generator for each message costs more than the watch."""

    __slots__ = ("_asked", "_asking", "_due_at", "_overdue", "_tell", "_times")

    def __init__(
        self,
        overdue: Overdue,
        due_at: float,
        times: tuple[float, float],
        tell: Tell,
        asked: tuple[Where, str],
    ) -> None:
        self._overdue = overdue
        self._due_at = due_at
        self._times = times
        self._tell = tell
        self._asked = asked
        self._asking: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._overdue.add(self, self._due_at, self._late)

    def __exit__(self, *_error: object) -> None:
        self._overdue.remove(self)
        if self._asking is not None:
            self._asking.cancel()

    def _late(self) -> None:
        self._asking = begin(self._tell_where(), name="where a slow run stands")

    async def _tell_where(self) -> None:
        where, invocation_id = self._asked
        stack = await where(invocation_id)
        self._tell(*self._times, stack)

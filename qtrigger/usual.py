"""How long a function's runs usually take, and noticing one that takes much longer.

Owns the measure; what is said of such a run, and to whom, is not its concern.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractContextManager
from functools import partial

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
        usual_s = self._longest_s
        due_at = self._clock.monotonic() + usual_s + self._over_s
        telling = partial(self._tell_where, tell, invocation_id, usual_s)
        return _Watch(self._overdue, due_at, telling)

    async def _tell_where(self, tell: Tell, invocation_id: str, usual_s: float) -> None:
        stack = await self._where(invocation_id)
        tell(usual_s + self._over_s, usual_s, stack)

    def succeeded(self, duration_s: float) -> None:
        """A run has succeeded in that time."""
        self._longest_s = max(self._longest_s, duration_s)


class _Watch(AbstractContextManager[None]):
    """Around one run; a class, because a generator for each message costs more than the watch."""

    __slots__ = ("_asking", "_due_at", "_overdue", "_telling")

    def __init__(
        self,
        overdue: Overdue,
        due_at: float,
        telling: Callable[[], Coroutine[object, object, None]],
    ) -> None:
        self._overdue = overdue
        self._due_at = due_at
        self._telling = telling
        self._asking: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._overdue.add(self, self._due_at, self._late)

    def __exit__(self, *_error: object) -> None:
        self._overdue.remove(self)
        if self._asking is not None:
            self._asking.cancel()

    def _late(self) -> None:
        self._asking = begin(self._telling(), name="where a slow run stands")

"""Starts a worker's process at the first sign of a change, before it is known what has changed.

Owns that one process until a reload takes it, or it turns out that there is none. See `ahead`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from qtrigger.background import begin
from qtrigger.cli.ahead import Ahead
from qtrigger.clock import Clock

# Where no reload follows, it is ended after so long.
KEEP_S = 3.0


class Foreseen:
    """At most one worker that comes up; none while others come and go, as `busy` says."""

    def __init__(
        self,
        launch: Callable[[], Coroutine[object, object, Ahead | None]],
        *,
        busy: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self._busy = busy
        self._launch = launch
        self._clock = clock
        self._ahead: Ahead | None = None
        self._launched = asyncio.Event()
        self._taken = asyncio.Event()
        self._holding: asyncio.Task[None] | None = None

    def notice(self) -> None:
        """Something seems to have changed."""
        if not self._busy() and (self._holding is None or self._holding.done()):
            self._launched.clear()
            self._taken.clear()
            self._holding = begin(self._hold(), name="a worker for a reload that is foreseen")

    async def take(self) -> Ahead | None:
        """The worker, if there is one; the caller ends it."""
        if self._holding is None or self._holding.done():
            return None
        await self._launched.wait()
        ahead, self._ahead = self._ahead, None
        self._taken.set()
        return ahead

    async def close(self) -> None:
        """End the worker, unless it was taken."""
        if self._holding is not None:
            self._taken.set()
            await asyncio.wait([self._holding])

    async def _hold(self) -> None:
        try:
            self._ahead = await self._launch()
        finally:
            self._launched.set()
        await self._clock.wait(self._taken, KEEP_S)
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            await ahead.close()

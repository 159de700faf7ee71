"""So many turns a second, evenly.

Owns when the next turn is. A turn that comes late is not made up for.
"""

from __future__ import annotations

import asyncio

from qtrigger.clock import Clock


class Pace:
    """Turns at `per_s` a second; None is without limit. `stop` ends all waiting."""

    def __init__(self, per_s: float | None, clock: Clock, stop: asyncio.Event) -> None:
        self.per_s = per_s
        self._clock = clock
        self._stop = stop
        self._next_at = clock.monotonic()

    async def turn(self) -> bool:
        """Wait for a turn; False when it is to stop instead."""
        if self.per_s is not None:
            now = self._clock.monotonic()
            at = max(self._next_at, now)
            self._next_at = at + 1.0 / self.per_s
            if at > now:
                await self._clock.wait(self._stop, at - now)
        return not self._stop.is_set()

"""Says when a host has had nothing to do for a given time.

Owns the meaning of idle: every queue was seen empty (or does not exist), nothing is in
processing or being settled, and so it has been for a while. A queue that cannot be reached is
not idle, since nobody knows what is in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from qtrigger.clock import Clock
from qtrigger.listener import Listener


class IdleWatch:
    """Waits for the listeners' rest; `note` is called at each of their changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = asyncio.Event()

    def note(self) -> None:
        """Say that a listener changed."""
        self._changed.set()

    async def wait(self, listeners: Sequence[Listener], for_s: float) -> None:
        """Return once all listeners have been idle for `for_s` seconds on end."""
        while True:
            self._changed.clear()
            if not all(listener.seen_empty for listener in listeners):
                await self._changed.wait()
                continue
            last = max((listener.active_at for listener in listeners), default=0.0)
            left_s = last + for_s - self._clock.monotonic()
            if left_s <= 0:
                return
            await self._clock.wait(self._changed, left_s)

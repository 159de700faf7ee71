"""How many runs of a function begin within a minute.

Owns the times of the last starts, and what is promised to messages that have not started yet. A
start is the moment at which a run is handed to a worker; every run is one, also a retry within a
receipt. State is touched by the loop's own thread alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from qtrigger.clock import Clock, Timer
from qtrigger.invocation import Invocation

WINDOW_S: Final = 60.0
# Functions begin a little after they were handed over, some sooner than others. By so much the
# window is longer, so that who counts in the function, or behind it, finds no more in a minute.
HANDOVER_S: Final = 0.25


class Rate:
    """At most `limit` starts within `WINDOW_S` seconds, whichever; a `Bound`, see there.

    What was asked for and has not started counts as if it did now. A retry was not asked for: it
    begins as soon as the window allows, and a message that was promised its place waits then.
    `starts` are the times of starts before these, on the monotonic clock; it is kept up.
    """

    def __init__(self, limit: int, clock: Clock, starts: deque[float]) -> None:
        self._limit = limit
        self._clock = clock
        self._starts = starts
        self._asked = 0
        self._waiting: set[str] = set()
        self._look: Callable[[], None] | None = None
        self._timer: Timer | None = None

    @property
    def most(self) -> int:
        """See `Bound`."""
        self._forget()
        return self._limit - len(self._starts) - self._asked - len(self._waiting)

    async def due(self, invocation: Invocation, stopped: asyncio.Event) -> bool:
        """Wait until the window allows a run, and count it; False when `stopped` comes first."""
        while not self._start(invocation):
            if await self._clock.wait(stopped, self._free_in_s):
                return False
        return True

    def _start(self, invocation: Invocation) -> bool:
        """Count a start, if there may be one now."""
        self._forget()
        if len(self._starts) >= self._limit:
            return False
        self._starts.append(self._clock.monotonic())
        self._waiting.difference_update(message.id for message in invocation.messages)
        self._set_timer()
        return True

    def asked(self, count: int) -> None:
        """See `Bound`."""
        self._asked += count

    def begun(self, message_id: str) -> None:
        """See `Bound`."""
        self._waiting.add(message_id)

    def answered(self, count: int, found: int) -> None:
        """See `Bound`."""
        self._asked -= count
        self._tell()

    def ended(self, message_id: str) -> None:
        """See `Bound`."""
        if message_id in self._waiting:
            self._waiting.discard(message_id)
            self._tell()

    def wait(self, look: Callable[[], None]) -> None:
        """See `Bound`."""
        self.wait_no_more()
        self._look = look
        self._set_timer()

    def wait_no_more(self) -> None:
        """See `Bound`."""
        self._look = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        """See to it that who waits looks when the oldest start leaves the window."""
        if self._look is not None and self._timer is None and self._starts:
            self._timer = self._clock.call_later(self._free_in_s, self._tell)

    def _tell(self) -> None:
        if self._look is not None:
            self._look()

    def _forget(self) -> None:
        """Forget the starts that are no longer in the window."""
        now = self._clock.monotonic()
        while self._starts and self._starts[0] + WINDOW_S + HANDOVER_S <= now:
            self._starts.popleft()

    @property
    def _free_in_s(self) -> float:
        return self._starts[0] + WINDOW_S + HANDOVER_S - self._clock.monotonic()

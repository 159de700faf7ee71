"""One timer for many times that fall due.

Owns when it rings. A timer for each of them would be made and cancelled for nothing nearly every
time; this one rings for a time that nobody waits for any more, and is then set to the next.
"""

from __future__ import annotations

from collections.abc import Callable

from qtrigger.clock import Clock, Timer


class Alarm:
    """Calls `ring`, with the time on the clock, when the earliest time it was set to has come.

    It is then set to none: `ring` sets it to what is still to come.
    """

    def __init__(self, clock: Clock, ring: Callable[[float], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._timer: Timer | None = None
        self._due = 0.0

    def set(self, due: float) -> None:
        """Ring at that time on the clock at the latest."""
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self._clock.call_later(due - self._clock.monotonic(), self._on_timer)

    def cancel(self) -> None:
        """Ring no more until it is set again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        self._timer = None
        # Timers may be early, by the grain of the loop's clock.
        self._ring(max(self._clock.monotonic(), self._due))

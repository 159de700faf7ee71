"""How long a function's runs usually take, and noticing one that takes much longer.

Owns the measure; what is said of such a run, and to whom, is not its concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from qtrigger.clock import Clock

# Over the longest run so far, or from the start where there is none.
OVER_S = 60.0


class UsualTime:
    """Watches the runs of one function."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._longest_s = 0.0

    @contextmanager
    def watching(self, tell: Callable[[float, float], None]) -> Iterator[None]:
        """Around a run: `tell` is given its time so far and the usual one, once, in seconds."""
        usual_s = self._longest_s
        late_s = usual_s + OVER_S
        timer = self._clock.call_later(late_s, lambda: tell(late_s, usual_s))
        try:
            yield
        finally:
            timer.cancel()

    def succeeded(self, duration_s: float) -> None:
        """A run has succeeded in that time."""
        self._longest_s = max(self._longest_s, duration_s)

"""How long a function's runs usually take, and noticing one that takes much longer.

Owns the measure; what is said of such a run, and to whom, is not its concern.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from qtrigger.clock import Clock
from qtrigger.overdue import Overdue

# Over the longest run so far, or from the start where there is none.
OVER_S = 60.0


class UsualTime:
    """Watches the runs of one function."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._longest_s = 0.0
        self._overdue = Overdue(clock)

    def watching(self, tell: Callable[[float, float], None]) -> AbstractContextManager[None]:
        """Around a run: `tell` is given its time so far and the usual one, once, in seconds."""
        return _Watch(self._overdue, self._clock.monotonic(), self._longest_s, tell)

    def succeeded(self, duration_s: float) -> None:
        """A run has succeeded in that time."""
        self._longest_s = max(self._longest_s, duration_s)


class _Watch(AbstractContextManager[None]):
    """Around one run; a class, because a generator for each message costs more than the watch."""

    __slots__ = ("_began_at", "_overdue", "_tell", "_usual_s")

    def __init__(
        self,
        overdue: Overdue,
        began_at: float,
        usual_s: float,
        tell: Callable[[float, float], None],
    ) -> None:
        self._overdue = overdue
        self._began_at = began_at
        self._usual_s = usual_s
        self._tell = tell

    def __enter__(self) -> None:
        self._overdue.add(self, self._began_at + self._usual_s + OVER_S, self._late)

    def __exit__(self, *_error: object) -> None:
        self._overdue.remove(self)

    def _late(self) -> None:
        self._tell(self._usual_s + OVER_S, self._usual_s)

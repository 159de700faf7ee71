"""Counts of one function by second, and how long its runs took, over the last ten minutes.

Owns the rings that hold them and what is read from them. Counting is on the path of every
message, so it is a few additions; what is shown is worked out when somebody looks. Its memory is
`BYTES`, whatever happens.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

SPAN_S: Final = 600
# One point of a plot of rates, and one of a plot of durations.
POINT_S: Final = 10
STEP_S: Final = 20
STEPS: Final = SPAN_S // STEP_S
# Durations fall into four classes an octave, from 64 microseconds to more than an hour; what is
# read from a class is off by an eighth at most.
_SHIFT: Final = 6
_TICKS: Final = 1e6 / (1 << _SHIFT)
_OCTAVES: Final = 27
_CLASSES: Final = _OCTAVES * 4
BYTES: Final = 2 * 4 * SPAN_S + 4 * STEPS * _CLASSES


class Series:
    """What has ended of one function; times are whole seconds of the monotonic clock."""

    __slots__ = ("_classes", "_ended", "_failed", "_second")

    def __init__(self, second: int) -> None:
        self._ended = array("I", bytes(4 * SPAN_S))
        self._failed = array("I", bytes(4 * SPAN_S))
        self._classes = array("I", bytes(4 * STEPS * _CLASSES))
        self._second = second

    def count(self, second: int, duration_s: float, failed: bool) -> None:  # noqa: FBT001  # quicker by place
        """One run has ended now."""
        if second != self._second:
            self._forward(second)
        at = second % SPAN_S
        self._ended[at] += 1
        if failed:
            self._failed[at] += 1
        ticks = int(duration_s * _TICKS)
        octave = ticks.bit_length()
        found = octave * 4 + ((ticks >> (octave - 3)) & 3) if octave > 2 else octave * 4
        if found >= _CLASSES:
            found = _CLASSES - 1
        self._classes[at // STEP_S * _CLASSES + found] += 1

    def ended(self, second: int, last_s: int) -> int:
        """How many runs ended in the last `last_s` seconds, the present one included."""
        self._forward(second)
        return sum(_in_order(self._ended, second)[SPAN_S - last_s :])

    def failed(self, second: int, last_s: int) -> int:
        """How many of those failed."""
        self._forward(second)
        return sum(_in_order(self._failed, second)[SPAN_S - last_s :])

    def points(self, second: int) -> tuple[Sequence[int], Sequence[int]]:
        """Runs that ended, and that failed, in each whole ten seconds, oldest first.

        One less than sixty of each, since the ring holds no more whole ones; a point changes once
        in ten seconds, so that plots need no more than that.
        """
        self._forward(second)
        end = SPAN_S - 1 - second % POINT_S
        begins = range(end - SPAN_S + POINT_S, end, POINT_S)
        ended, failed = _in_order(self._ended, second), _in_order(self._failed, second)
        return (
            [sum(ended[at : at + POINT_S]) for at in begins],
            [sum(failed[at : at + POINT_S]) for at in begins],
        )

    def quantiles(self, second: int, shares: Sequence[float]) -> Sequence[float | None]:
        """For each share, the seconds that it of the last ten minutes' runs stayed under."""
        self._forward(second)
        return _quantiles(list(map(sum, zip(*self._steps(), strict=True))), shares)

    def durations(self, second: int, shares: Sequence[float]) -> Sequence[Sequence[float | None]]:
        """The same for each twenty seconds, oldest first; None without runs."""
        self._forward(second)
        now = (second % SPAN_S) // STEP_S
        steps = self._steps()
        found = [_quantiles(steps[(now + 1 + each) % STEPS], shares) for each in range(STEPS)]
        return [list(each) for each in zip(*found, strict=True)]

    def _steps(self) -> Sequence[Sequence[int]]:
        return [self._classes[at : at + _CLASSES] for at in range(0, STEPS * _CLASSES, _CLASSES)]

    def _forward(self, second: int) -> None:
        """Let what is older than ten minutes go."""
        gone = second - self._second
        if gone <= 0:
            return
        if gone >= SPAN_S:
            self.__init__(second)  # type: ignore[misc]
            return
        for at in range(self._second + 1, second + 1):
            place = at % SPAN_S
            self._ended[place] = self._failed[place] = 0
            if place % STEP_S == 0:
                step = place // STEP_S * _CLASSES
                self._classes[step : step + _CLASSES] = array("I", bytes(4 * _CLASSES))
        self._second = second


def _in_order(ring: array[int], second: int) -> array[int]:
    """A ring from its oldest second to that one."""
    at = second % SPAN_S + 1
    return ring[at:] + ring[:at]


def _quantiles(classes: Sequence[int], shares: Sequence[float]) -> Sequence[float | None]:
    """For each share the middle of the class in which it is reached."""
    reached = list(accumulate(classes))
    if not reached[-1]:
        return [None] * len(shares)
    return [_middle(bisect_left(reached, max(reached[-1] * share, 1))) for share in shares]


def _middle(number: int) -> float:
    """The seconds in the middle of a class."""
    octave, quarter = divmod(number, 4)
    if octave > 2:
        low, width = (4 + quarter) << (octave - 3), 1 << (octave - 3)
        return (low + width / 2) / _TICKS
    return (1 << octave) / 2 / _TICKS

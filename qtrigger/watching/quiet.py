"""When a burst of changes is over.

Owns the arithmetic alone: no clock, no files. Times are float seconds of any one clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# A save is one write or a few of them, milliseconds apart.
QUIET_S: Final = 0.1
# A checkout or a copy brings many files, and may catch its breath between them.
MANY: Final = 5
QUIET_AFTER_MANY_S: Final = 0.3
# Files that are only written again and again do not hold up the others for longer than this.
REPEATED_UP_TO_S: Final = 3.0
# Nor does what never ends, even if it brings new files all the time.
UP_TO_S: Final = 30.0


class Burst:
    """Changes that come one upon another, from the first of them on."""

    def __init__(self, now: float, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._began_at = self._last_at = self._new_at = now

    def note(self, now: float, paths: Iterable[str]) -> None:
        """More has changed; nothing when there are no paths."""
        fresh = set(paths)
        if not fresh:
            return
        self._last_at = now
        if not fresh <= self._paths:
            self._new_at = now
            self._paths |= fresh

    def left_s(self, now: float) -> float:
        """How long nothing more must change for the burst to be over; 0 when it is."""
        quiet = QUIET_AFTER_MANY_S if len(self._paths) > MANY else QUIET_S
        over_at = min(
            self._last_at + quiet, self._new_at + REPEATED_UP_TO_S, self._began_at + UP_TO_S
        )
        return max(0.0, over_at - now)

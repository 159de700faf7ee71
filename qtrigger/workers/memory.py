"""The most memory that a process has held.

Owns looking while it runs, and once more when it has ended: a process that was killed for its
memory says nothing itself. Sizes are in KiB; 0 means that nothing is known.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path

from qtrigger.clock import Clock, Timer

LOOK_EVERY_S = 1.0


class PeakMemory:
    """Watches one process from its start until `end`."""

    def __init__(self, clock: Clock, pid: int) -> None:
        self._clock = clock
        self._status = Path(f"/proc/{pid}/status")
        self._seen_kib = 0
        self._others_kib = 0
        self._timer: Timer | None = None
        self._look()

    def end(self) -> int:
        """The process has ended and was waited for: the most it has held, as far as is known."""
        if self._timer is not None:
            self._timer.cancel()
        # The system keeps the largest peak of all our children that have ended. When that has
        # grown it is this one's; a new process counts the memory of its parent for a moment.
        last_kib = _largest_child_kib()
        if last_kib > max(self._others_kib, _own_kib()):
            return max(self._seen_kib, last_kib)
        return self._seen_kib

    def _look(self) -> None:
        with suppress(OSError):
            self._seen_kib = max(self._seen_kib, _peak_kib(self._status.read_text("utf-8")))
        self._others_kib = _largest_child_kib()
        self._timer = self._clock.call_later(LOOK_EVERY_S, self._look)


def size_text(kib: int) -> str:
    """Return a size for people: `712 MiB`, `1.9 GiB`."""
    mib = kib / 1024
    return f"{mib:.0f} MiB" if mib < 1000 else f"{mib / 1024:.1f} GiB"


def _peak_kib(status: str) -> int:
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def _largest_child_kib() -> int:
    return _kib(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_kib() -> int:
    return _kib(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _kib(maxrss: int) -> int:
    return maxrss // 1024 if sys.platform == "darwin" else maxrss

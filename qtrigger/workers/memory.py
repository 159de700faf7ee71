"""The most memory that a process has held.

Owns looking while it runs, and once more when it has ended: a process that was killed for its
memory says nothing itself. Sizes are in KiB.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from qtrigger.backoff import doubling
from qtrigger.clock import Clock, Timer

LOOK_AFTER_S = 1.0
# A look each second was most of what a host with empty queues cost.
LOOK_AFTER_AT_MOST_S = 8.0


class PeakMemory:
    """Watches one process from its start until `end`.

    It looks each second while the peak grows, and more and more rarely while it does not: the
    system keeps the peak, so that a look which comes late has missed none of it. `read` gives the
    peak of a process in KiB, 0 when it cannot be told.
    """

    def __init__(self, clock: Clock, pid: int, read: Callable[[int], int] | None = None) -> None:
        self._clock = clock
        self._pid = pid
        self._read = read or _peak_kib
        self._seen_kib = 0
        self._others_kib = 0
        self._pauses = doubling(LOOK_AFTER_S, LOOK_AFTER_AT_MOST_S)
        self._timer: Timer | None = None
        self._look()

    def end(self) -> tuple[int, int]:
        """The process has ended and was waited for: its peak was one of these or between them."""
        if self._timer is not None:
            self._timer.cancel()
        # The system keeps the largest peak of all our children that have ended. When that has
        # grown it is this one's. A new process counts the memory of its parent for a moment.
        most_kib = max(_largest_child_kib(), self._seen_kib)
        if most_kib > max(self._others_kib, _own_kib()):
            return most_kib, most_kib
        return self._seen_kib, most_kib

    def _look(self) -> None:
        seen_kib = self._read(self._pid)
        if seen_kib > self._seen_kib:
            self._seen_kib = seen_kib
            self._pauses = doubling(LOOK_AFTER_S, LOOK_AFTER_AT_MOST_S)
        self._others_kib = _largest_child_kib()
        self._timer = self._clock.call_later(next(self._pauses), self._look)


def peak_text(least_kib: int, most_kib: int) -> str:
    """Return a peak for people: `712 MiB`, `1.9 GiB`, `30 MiB to 64 MiB`."""
    least, most = _size_text(least_kib), _size_text(most_kib)
    return least if least == most else f"{least} to {most}"


def _size_text(kib: int) -> str:
    mib = kib / 1024
    return f"{mib:.0f} MiB" if mib < 1000 else f"{mib / 1024:.1f} GiB"


def held_kib(pid: int) -> int:
    """Return what a process holds now in KiB, 0 when that cannot be told."""
    return _status_kib(pid, "VmRSS:")


def _peak_kib(pid: int) -> int:
    return _status_kib(pid, "VmHWM:")


def _status_kib(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return 0


def _largest_child_kib() -> int:
    return _kib(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_kib() -> int:
    return _kib(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _kib(maxrss: int) -> int:
    return maxrss // 1024 if sys.platform == "darwin" else maxrss

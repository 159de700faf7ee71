"""How many messages a process has handled, where another process can see it.

Costs a fraction of a microsecond, and outlives whatever ends the process: one file for each
process, in the folder that `BENCH_HANDLED` names, with the count in its first eight bytes.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from pathlib import Path

_COUNT = struct.Struct("=Q")


class Handled:
    """The count of this process. It begins at the first message, so that a fork may come before."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._count = 0
        self._memory: mmap.mmap | None = None

    def one(self) -> None:
        """Count one more; from any thread."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
            self._count += 1
            _COUNT.pack_into(self._memory, 0, self._count)

    def _open(self) -> mmap.mmap:
        file = os.open(self._folder / str(os.getpid()), os.O_RDWR | os.O_CREAT)
        try:
            os.ftruncate(file, _COUNT.size)
            return mmap.mmap(file, _COUNT.size)
        finally:
            os.close(file)


def from_environment() -> Handled:
    """The count that whoever started us looks at."""
    return Handled(Path(os.environ["BENCH_HANDLED"]))


def total(folder: Path) -> int:
    """What all processes have counted there."""
    counts = [file.read_bytes() for file in folder.iterdir()]
    return sum(_COUNT.unpack(count)[0] for count in counts if len(count) == _COUNT.size)

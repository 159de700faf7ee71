"""Processes as Linux tells of them: started, looked at, ended by their number.

Owns `/proc` and the ends of children. Knows nothing of queues.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TICKS_S = 1 / os.sysconf("SC_CLK_TCK")
STOP_S = 20.0
ORPHAN_S = 1.0
LOOK_S = 0.02
_USER, _SYSTEM, _CHILD_USER, _CHILD_SYSTEM = 11, 12, 13, 14


@dataclass(frozen=True, slots=True)
class Usage:
    """What some trees of processes have used: their roots (`host`) and what these started."""

    host_s: float
    worker_s: float

    @property
    def all_s(self) -> float:
        """CPU seconds of all, user and system."""
        return self.host_s + self.worker_s

    def since(self, earlier: Usage) -> Usage:
        """What came between."""
        return Usage(self.host_s - earlier.host_s, self.worker_s - earlier.worker_s)


def below(roots: Iterable[int]) -> list[int]:
    """The processes that those started, and theirs, without the roots."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = list(roots)
    while waiting:
        more = children.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def usage(roots: Sequence[int], others: Iterable[int]) -> Usage:
    """The CPU of the trees. What ended children used stands with their parent, as theirs."""
    host_s = worker_s = 0.0
    for pid in roots:
        if fields := _stat(pid):
            host_s += _seconds(fields, _USER, _SYSTEM)
            worker_s += _seconds(fields, _CHILD_USER, _CHILD_SYSTEM)
    for pid in others:
        if fields := _stat(pid):
            worker_s += _seconds(fields, _USER, _SYSTEM, _CHILD_USER, _CHILD_SYSTEM)
    return Usage(host_s, worker_s)


def busy_s() -> float:
    """CPU seconds of user and system work of all processors since the machine began.

    With what a virtual machine was kept from by its neighbours. Interrupts are left out: on
    loopback they are our own packets, and stand with no process.
    """
    user, nice, system, _idle, _wait, _irq, _softirq, stolen = (
        Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    )
    return sum(map(int, (user, nice, system, stolen))) * TICKS_S


def memory_mb(pids: Iterable[int], *, peak: bool) -> float:
    """Resident memory of the processes together, now or at the highest each; MB of 2**20 bytes."""
    name = "VmHWM:" if peak else "VmRSS:"
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
                if line.startswith(name):
                    total += int(line.split()[1])
    return total / 1024


@contextlib.contextmanager
def running(
    command: Sequence[str],
    environ: Mapping[str, str],
    log: IO[bytes] | None,
    folder: Path,
    *,
    told: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, and at the end of the block stop it and all that it started.

    What it writes goes to `log`, or where ours goes; with `told` its standard output is a pipe.
    """
    process = subprocess.Popen(  # noqa: S603
        command,
        env=dict(environ),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if told else log,
        stderr=log,
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    others = below([process.pid])
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_S)
    if process.stdout is not None:
        process.stdout.close()
    if not _gone(others):
        for pid in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _gone(others)


def _gone(pids: Sequence[int]) -> bool:
    """Wait a little until they have ended; says whether they have."""
    until = time.monotonic() + ORPHAN_S
    while any(map(alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True


def alive(pid: int) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold blanks; none when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _seconds(fields: list[str], *which: int) -> float:
    return sum(int(fields[at]) for at in which) * TICKS_S

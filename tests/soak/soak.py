"""A host that works for long: whether its memory, and its worker's, stays as it is.

Run it by `make soak MESSAGES=1000000`, with `RELOADS=500` to load the project anew so often on
the way. The queues are the built-in emulator's, in this process; the host and its worker are
processes of their own. Ends with a table, and with exit code 1 when a message is missing or was
worked on twice, or when a process has grown: see `figures` for the rule. After `--minutes` no
more are sent, and what was sent until then is judged. Linux alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from qtrigger import __version__
from qtrigger.clock import SystemClock
from qtrigger.queues.emulator.server import BuiltinEmulator
from tests.chaos.hosts import children, environ_of
from tests.soak import project
from tests.soak.figures import GROWTH_MB, Sample, Track, table

BACKLOG = 1_000
OUTPUTS_KEPT = 1_000
TOP_UP_S = 0.02
LOG_LIMIT = 32 * 1024 * 1024
RELOAD_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
STALLED_S = 120.0
DEFAULT_LIMIT_S = 3600.0


@dataclass(slots=True)
class Soaked:
    """What came of it."""

    messages: int
    size: int
    reloads: int
    took_s: float = 0.0
    processed: int = 0
    poisoned: int = 0
    written: int = 0
    left: int = 0
    exit_code: int = 0
    tracks: dict[str, Track] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether each message was worked on once, or poisoned as it was meant to be."""
        poisoned = len(project.QUEUES) * project.poisoned_of(self.messages // len(project.QUEUES))
        written = len(project.QUEUES) * project.written_of(self.messages // len(project.QUEUES))
        return (
            (self.processed, self.poisoned) == (self.messages - poisoned, poisoned)
            and (self.written, self.left, self.exit_code) == (written, 0, 0)
        )  # fmt: skip

    def lines(self) -> list[str]:
        """The figures as a person reads them."""
        unflat = [name for name, track in self.tracks.items() if not track.flat]
        rate = self.messages / self.took_s if self.took_s else 0.0
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
        return [
            f"qtrigger {__version__}, Python {platform.python_version()}, {machine}",
            f"messages    {self.messages:>10,}   of {self.size:,} bytes",
            f"processed   {self.processed:>10,}   in {self.took_s:,.0f} s: {rate:,.0f} a second",
            f"poisoned    {self.poisoned:>10,}",
            f"outputs     {self.written:>10,}",
            f"still there {self.left:>10,}",
            f"reloads     {self.reloads:>10,}",
            *table(self.tracks),
            "every message is accounted for"
            if self.complete
            else f"THE NUMBERS DO NOT ADD UP (the host ended with {self.exit_code})",
            f"flat: none has grown by {GROWTH_MB:g} MB since a fifth of the messages"
            if not unflat
            else f"NOT FLAT: {', '.join(unflat)}",
        ]


class Soak:
    """One run of it, in the folder `root`."""

    def __init__(
        self, root: Path, messages: int, size: int, reloads: int, *, every_s: float, limit_s: float
    ) -> None:
        self.soaked = Soaked(messages - messages % len(project.QUEUES), size, reloads)
        self._root = root
        self._every_s = every_s
        self._limit_s = limit_s
        self._service = BuiltinEmulator(SystemClock())
        self._reloaded = 0
        self._sent = 0
        self._log = root / "host.log"
        self._notes = root / "notes.txt"

    async def run(self) -> Soaked:
        """Run to the end."""
        soaked = self.soaked
        roles = ("host", "worker", "emulator")
        soaked.tracks = {role: Track(soaked.messages) for role in roles}
        project.write_project(self._root)
        port = await self._service.start(0)
        for queue in (*project.QUEUES, project.OUTPUT):
            self._service.service.make(queue)
        host = self._start_host(port)
        began = time.monotonic()
        try:
            looks = asyncio.create_task(self._look(host))
            reloads = asyncio.create_task(self._reload(host))
            works = asyncio.create_task(self._send_until_done())
            asyncio.get_running_loop().call_later(self._limit_s, self._send_no_more)
            await asyncio.wait({looks, works}, return_when="FIRST_COMPLETED")
            soaked.took_s = time.monotonic() - began
            for task in (looks, works, reloads):
                task.cancel()
            ends = await asyncio.gather(looks, works, reloads, return_exceptions=True)
            host.send_signal(signal.SIGTERM)
            soaked.exit_code = await asyncio.to_thread(host.wait, STOP_LIMIT_S)
        finally:
            host.kill()
            host.wait()
        self._count()
        await self._service.stop()
        for end in ends:
            if isinstance(end, Exception):
                raise end
        return soaked

    def _start_host(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "qtrigger", "start", str(self._root)]
        command += ["--emulator", "none", "--log-format", "plain"]
        with self._log.open("ab") as log:
            environ = environ_of(self._root, port)
            return subprocess.Popen(command, env=environ, stdout=log, stderr=log)

    async def _send_until_done(self) -> None:
        """Keep a bounded backlog on each queue until all are sent, then wait until all are gone."""
        stores = [self._service.service.store(queue) for queue in project.QUEUES]
        while self._sent < (each := self.soaked.messages // len(stores)) or any(map(len, stores)):
            # So that reloads and messages come to their end together.
            allowed = each * (self._reloaded + 1) // max(self.soaked.reloads, 1)
            room = BACKLOG - max(map(len, stores))
            for number in range(self._sent, min(self._sent + room, each, allowed)):
                for store in stores:
                    store.put(project.text_of(number, self.soaked.size), None, None)
                self._sent = number + 1
            self._tidy()
            await asyncio.sleep(TOP_UP_S)
        await _until(lambda: self._reloaded >= self.soaked.reloads)

    def _send_no_more(self) -> None:
        """Take what was sent until now, and the reloads until now, for all that was asked for."""
        soaked = self.soaked
        soaked.messages = min(soaked.messages, self._sent * len(project.QUEUES))
        soaked.reloads = min(soaked.reloads, self._reloaded)
        for track in soaked.tracks.values():
            track.total = soaked.messages

    def _tidy(self) -> None:
        done = self._service.service.store(project.OUTPUT)
        if len(done) > OUTPUTS_KEPT:
            self.soaked.written += len(done)
            done.clear()
        if self._log.stat().st_size > LOG_LIMIT:
            os.truncate(self._log, 0)

    async def _reload(self, host: subprocess.Popen[bytes]) -> None:
        """Load the project anew, again and again; each time wait until one new worker is alone."""
        await _until(lambda: bool(self._done()))
        while self._reloaded < self.soaked.reloads:
            old = children(host.pid)
            host.send_signal(signal.SIGHUP)
            async with asyncio.timeout(RELOAD_LIMIT_S):
                await _until(partial(_replaced, host.pid, old))
            self._reloaded += 1

    async def _look(self, host: subprocess.Popen[bytes]) -> None:
        """Sample until the host ends, or nothing moves any more."""
        moved_at, before = time.monotonic(), (0, 0)
        while host.poll() is None:
            now = (self._done(), self._reloaded)
            if now != before:
                moved_at, before = time.monotonic(), now
            elif time.monotonic() - moved_at > STALLED_S:
                raise TimeoutError(f"nothing moved for {STALLED_S:g} s after {now[0]} messages")
            pids = {"host": host.pid, "emulator": os.getpid()}
            if workers := children(host.pid):
                pids["worker"] = min(workers)  # at a reload the new one is still starting
            for role, pid in pids.items():
                sample = sample_of(pid, now[0])
                if sample is not None:
                    self.soaked.tracks[role].samples.append(sample)
            await asyncio.sleep(self._every_s)

    def _done(self) -> int:
        return self._notes.stat().st_size if self._notes.exists() else 0

    def _count(self) -> None:
        service, soaked = self._service.service, self.soaked
        names = set(service.names())
        poison = [f"{queue}-poison" for queue in project.QUEUES]
        soaked.processed = self._done()
        soaked.poisoned = sum(len(service.store(name)) for name in poison if name in names)
        soaked.written += len(service.store(project.OUTPUT))
        soaked.left = sum(len(service.store(queue)) for queue in project.QUEUES)


async def _until(met: Callable[[], bool]) -> None:
    while not met():  # noqa: ASYNC110  # another process's doing, of which nobody tells us
        await asyncio.sleep(TOP_UP_S)


def _replaced(pid: int, old: Sequence[int]) -> bool:
    """Whether one worker is there, which is none of the old ones."""
    now = children(pid)
    return len(now) == 1 and now[0] not in old


def sample_of(pid: int, messages: int) -> Sample | None:
    """Look at a process; None when it is gone, or just about to be."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        opened = [_opened(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
        rss_mb = int(status["VmRSS"].split()[0]) / 1024
    except (OSError, KeyError):
        return None
    sockets = sum(what.startswith("socket:") for what in opened)
    return Sample(messages, rss_mb, len(opened) - sockets, sockets, int(status["Threads"]))


def _opened(path: Path) -> str:
    """What a file descriptor stands for; "" when it was closed meanwhile."""
    try:
        return str(path.readlink())
    except OSError:
        return ""


async def run(
    root: Path,
    *,
    messages: int,
    size: int = 1024,
    reloads: int = 0,
    every_s: float = 1.0,
    limit_s: float = DEFAULT_LIMIT_S,
) -> Soaked:
    """Soak a host in that folder, send no more after `limit_s`, and return the figures."""
    return await Soak(root, messages, size, reloads, every_s=every_s, limit_s=limit_s).run()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--reloads", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=DEFAULT_LIMIT_S / 60)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="qtrigger-soak-"))
    soaked = asyncio.run(
        run(
            root,
            messages=given.messages,
            size=given.size,
            reloads=given.reloads,
            limit_s=given.minutes * 60,
        )
    )
    sys.stdout.write("\n".join(soaked.lines()) + "\n")
    if soaked.complete and all(track.flat for track in soaked.tracks.values()):
        shutil.rmtree(root)
        return 0
    sys.stdout.write(f"the host's log is in {root}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

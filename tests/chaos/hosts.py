"""The hosts of a chaos: real processes, started, looked at, killed by their ids. Linux alone."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from qtrigger.errors import ExitCode
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from tests.chaos.account import Kill

REPOSITORY = Path(__file__).resolve().parents[2]
WORKERS = 2
STOP_LIMIT_S = 20.0

# Partly: the service did not take back in time what was in hand. By signal: it was still starting.
EXPECTED_EXITS = (ExitCode.OK, ExitCode.PARTLY, -signal.SIGTERM)


class Hosts:
    """The hosts by number, and what was done to them."""

    def __init__(self, root: Path, port: int) -> None:
        self.kills: list[Kill] = []
        self.exits: list[int] = []
        self.odd_exits: list[int] = []
        self.seen_workers: set[int] = set()
        self._root = root
        self._environ = environ_of(root, port)
        self._numbers = itertools.count(1)
        self._running: list[subprocess.Popen[bytes]] = []

    @property
    def pids(self) -> list[int]:
        """The hosts that were started, and neither killed nor told to stop."""
        return [host.pid for host in self._running]

    def start(self) -> None:
        """Add a host."""
        command = [sys.executable, "-m", "qtrigger", "start", str(self._root)]
        command += ["--emulator", "none", "--log-format", "plain", "--workers", str(WORKERS)]
        with (self._root / f"host-{next(self._numbers)}.log").open("wb") as log:
            self._running.append(
                subprocess.Popen(command, env=self._environ, stdout=log, stderr=log)
            )

    def look(self) -> None:
        """Note the workers there are now, and replace hosts that ended by themselves."""
        for host in list(self._running):
            self.seen_workers.update(children(host.pid))
            if (code := host.poll()) is not None:
                self.odd_exits.append(code)
                self._running.remove(host)
                self.start()

    def kill_worker(self, random: Random) -> bool:
        """Kill one worker of one host; says whether there was one."""
        workers = children(random.choice(self._running).pid)
        return bool(workers) and self._kill(random.choice(workers))

    def kill_host(self, pid: int, *, replace: bool = True) -> None:
        """Kill that host, and start another in its place."""
        host = self._host(pid)
        self.seen_workers.update(children(host.pid))
        self._kill(host.pid)
        host.wait()
        self._running.remove(host)
        if replace:
            self.start()

    async def stop_host(self, pid: int, *, replace: bool = True) -> None:
        """Ask that host to stop as a service manager does, and start another in its place."""
        host = self._host(pid)
        self._running.remove(host)
        if replace:
            self.start()
        await self._stop(host)

    def reload_one(self, random: Random) -> bool:
        """Ask one host to load the project anew; says whether it was up, and so could."""
        host = random.choice(self._running)
        up = bool(children(host.pid))
        if up:
            host.send_signal(signal.SIGHUP)
        return up

    async def stop_all(self) -> None:
        """Ask all to stop, and wait for it."""
        hosts, self._running = self._running, []
        await asyncio.gather(*(self._stop(host) for host in hosts))

    def end(self) -> None:
        """Make sure that none is left, whatever happened."""
        for host in self._running:
            host.kill()
            host.wait()

    def leftover(self) -> list[int]:
        """The workers that are still there although their hosts are gone."""
        return sorted(pid for pid in self.seen_workers if _is_worker(pid))

    def _host(self, pid: int) -> subprocess.Popen[bytes]:
        return next(host for host in self._running if host.pid == pid)

    async def _stop(self, host: subprocess.Popen[bytes]) -> None:
        self.seen_workers.update(children(host.pid))
        if host.poll() is None:
            host.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.to_thread(host.wait, STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            host.kill()
            code = host.wait()
        self.exits.append(code)
        if code not in EXPECTED_EXITS:
            self.odd_exits.append(code)

    def _kill(self, pid: int) -> bool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills.append(Kill(pid, time.time()))
        return True


def told_of(root: Path) -> set[str]:
    """The beginnings of the ids of which a host has said that a renewal or a delete failed."""
    told: set[str] = set()
    for log in root.glob("host-*.log"):
        for line in log.read_text(errors="replace").splitlines():
            words = line.split()
            if len(words) > 3 and words[1] in ("SETTLE", "LEASE"):
                told.add(words[3])
    return told


def environ_of(root: Path, port: int) -> dict[str, str]:
    """The environment of a host of that project, whose service listens on that port."""
    return {
        **{name: value for name, value in os.environ.items() if "AZURE" not in name.upper()},
        "QTRIGGER_START_NO_HTTP": "1",
        "AzureWebJobsStorage": (
            f"DefaultEndpointsProtocol=http;AccountName={EMULATOR_ACCOUNT};"
            f"AccountKey={EMULATOR_KEY};"
            f"QueueEndpoint=http://127.0.0.1:{port}/{EMULATOR_ACCOUNT};"
        ),
        "NOTES": str(root / "notes.txt"),
        "PYTHONPATH": str(REPOSITORY),
    }


def children(pid: int) -> list[int]:
    """The processes that a process has started and that have not ended."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(each) for each in listed.read_text().split()]
    return found


def _is_worker(pid: int) -> bool:
    """Whether that is a live process of ours, and not another that was given its id."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"qtrigger" in command

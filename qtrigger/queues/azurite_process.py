"""One running Azurite: start, readiness, stop.

Owns the child process, its data folder and the lock on it. Knows no rungs and no project. The
child ends with us, even when we are killed: it holds a pipe of ours as its stdin.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.errors import EmulatorError
from qtrigger.queues.azurite_find import Azurite
from qtrigger.queues.probe import HOST

READY_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 5.0

_POLL_S = 0.05
_LISTENS = re.compile(rb"successfully listens on https?://[^:\s]+:(\d+)")
_EXIT_WITH_PARENT = Path(__file__).with_name("exit-with-parent.cjs")


class DataFolder:
    """The folder that holds an Azurite's queues, for one Azurite at a time.

    Azurite itself would let two run on the same files. The lock goes with our process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def claim(self) -> bool:
        """Make the folder and take its lock; False when another process has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / ".gitignore").write_text("*\n", "utf-8")
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        self.note(port=0)
        return True

    def note(self, *, port: int) -> None:
        """Write down who holds the lock, and the port (0: not known yet)."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, json.dumps({"pid": os.getpid(), "port": port}).encode(), 0)

    def holder(self) -> tuple[int, int]:
        """Process id and port of the lock's holder; zeros for what it has not written."""
        try:
            noted = json.loads((self.path / "lock").read_bytes())
            return int(noted["pid"]), int(noted["port"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    def used_by(self) -> int:
        """The process that has the lock, 0 when nobody has; looks, and makes nothing."""
        try:
            lock = os.open(self.path / "lock", os.O_RDONLY)
        except OSError:
            return 0
        try:
            # A shared one for a moment: nobody who only looks stands in another looker's way.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return self.holder()[0]
        finally:
            os.close(lock)
        return 0

    def remove(self) -> bool:
        """Remove the folder with all queues in it; False when another process uses it."""
        if not self.claim():
            return False
        try:
            shutil.rmtree(self.path)
        finally:
            self.release()
        return True

    def release(self) -> None:
        """Give the lock back; harmless when there is none."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class AzuriteProcess:
    """An Azurite that we started; `port` is where it listens."""

    def __init__(
        self, process: subprocess.Popen[bytes], port: int, clock: Clock, *, scratch: Path | None
    ) -> None:
        self.port = port
        self._process = process
        self._clock = clock
        self._scratch = scratch

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def stop(self) -> None:
        """End it: by its stdin, by SIGTERM, after five seconds by SIGKILL. Harmless twice."""
        await _end(self._process, self._clock)
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


async def start_azurite(
    azurite: Azurite, port: int, clock: Clock, *, data: Path | None, flags: Sequence[str] = ()
) -> AzuriteProcess:
    """Start it on `port` (0: a free one) and wait until it listens, ten seconds at most.

    `data` None keeps the queues in memory. `flags` are Azurite's own, such as those for https
    and tokens. Raises EmulatorError with the end of its log.
    """
    home = data or Path(tempfile.mkdtemp(prefix="qtrigger-azurite-"))
    log = home / "azurite.log"
    command = [
        *(str(azurite.node), "--require", str(_EXIT_WITH_PARENT), str(azurite.main)),
        *("--queueHost", HOST, "--queuePort", str(port)),
        *(("--location", str(data)) if data else ("--inMemoryPersistence",)),
        *("--silent", "--disableTelemetry", "--skipApiVersionCheck", "--disableProductStyleUrl"),
        *flags,
    ]
    # A debugger's port in NODE_OPTIONS is meant for the user's own programs.
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - a spawn takes a millisecond
            command,
            cwd=home,
            env=environment,
            # Held open, and never written to: its end is the child's sign to go.
            stdin=subprocess.PIPE,
            # Never a pipe: one that nobody reads would end Azurite at its next line.
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C goes to the terminal's whole group, and Azurite must outlast our drain.
            process_group=0,
        )
    ready = False
    try:
        bound = await _listening(process, log, clock)
        ready = True
    finally:
        if not ready:
            await _end(process, clock)
    return AzuriteProcess(process, bound, clock, scratch=None if data else home)


async def _listening(process: subprocess.Popen[bytes], log: Path, clock: Clock) -> int:
    deadline = clock.monotonic() + READY_TIMEOUT_S
    while True:
        # Looked at before the log, so that a last line cannot slip between the two.
        ended = process.poll()
        said = _read(log)
        if found := _LISTENS.search(said):
            return int(found[1])
        if ended is not None:
            raise EmulatorError(f"Azurite ended with status {ended}: {_tail(said)}")
        if clock.monotonic() >= deadline:
            raise EmulatorError(
                f"Azurite was not ready within {READY_TIMEOUT_S:g} s: {_tail(said)}"
            )
        await clock.sleep(_POLL_S)


async def _end(process: subprocess.Popen[bytes], clock: Clock) -> None:
    """Let it save and leave; by its closed input first, by signals only when that did nothing.

    A closed input already makes it send itself SIGTERM, and a second SIGTERM within the
    milliseconds that it takes to save would end it with the newest messages unsaved.
    """
    try:
        if process.stdin is not None:
            process.stdin.close()
        if not await _has_ended(process, clock):
            process.terminate()
            await _has_ended(process, clock)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


async def _has_ended(process: subprocess.Popen[bytes], clock: Clock) -> bool:
    deadline = clock.monotonic() + STOP_TIMEOUT_S
    while process.poll() is None and clock.monotonic() < deadline:
        await clock.sleep(_POLL_S)
    return process.poll() is not None


def _read(log: Path) -> bytes:
    return log.read_bytes()


def _tail(said: bytes) -> str:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    return " / ".join([line for line in lines if line][-3:]) or "it said nothing"

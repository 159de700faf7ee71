"""One operating system process: started, listened to, ended.

Owns the process group, the two output pipes and the ladder of signals that ends it for certain.
It does not know what the process is for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError

KILL_AFTER_S = 2.0
GONE_WITHIN_S = 5.0
SILENT_WITHIN_S = 0.5
MAX_LINE = 32 * 1024

OnLine = Callable[[str, str], None]
"""Told the stream's name, `stdout` or `stderr`, and a line without its end."""


class Process(asyncio.SubprocessProtocol):
    """A running process in a session of its own; see `spawn`."""

    def __init__(self, clock: Clock, on_line: OnLine, on_exit: Callable[[], None]) -> None:
        self._clock = clock
        self._on_line = on_line
        self._on_exit = on_exit
        self._partial = {1: b"", 2: b""}
        self._transport: asyncio.SubprocessTransport | None = None
        self._held: int | None = None
        self._signalled = False
        self._exited = asyncio.Event()
        self._silent = asyncio.Event()

    @property
    def pid(self) -> int:
        """Its id, which is also that of its process group."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def has_exited(self) -> bool:
        """Whether it has ended."""
        return self._exited.is_set()

    @property
    def how(self) -> str:
        """How it ended, in words."""
        code = None if self._transport is None else self._transport.get_returncode()
        if code is None:
            return "still running"
        if self.was_killed:
            return f"signal {-code} (often: out of memory)"
        return f"exit code {code}" if code >= 0 else f"signal {-code} ({_signal_name(-code)})"

    @property
    def was_killed(self) -> bool:
        """Whether it has ended by a SIGKILL that we did not send."""
        code = None if self._transport is None else self._transport.get_returncode()
        return code == -signal.SIGKILL and not self._signalled

    async def wait(self, timeout_s: float) -> bool:
        """Wait until it has ended, at most `timeout_s` seconds; says whether it has."""
        return await self._clock.wait(self._exited, timeout_s)

    def send_signal(self, number: signal.Signals) -> None:
        """Send it alone a signal, unless it has ended."""
        if not self._is_reaped:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    async def end(self) -> None:
        """End it and everything in its group: SIGTERM, then SIGKILL 2 seconds later.

        What is left of the group when it has ended by itself gets SIGKILL then.

        Returns when it has ended; a process that even SIGKILL does not end within 5 seconds (it
        hangs in the kernel) is left behind.
        """
        for number, wait_s in ((signal.SIGTERM, KILL_AFTER_S), (signal.SIGKILL, GONE_WITHIN_S)):
            if not self._is_reaped:
                self._signalled = True
                self._signal_group(number)
            await self.wait(wait_s)
        # Its last lines; a process that left the group may hold the pipes open for longer.
        await self._clock.wait(self._silent, SILENT_WITHIN_S)
        self.close()

    def feed(self, data: bytes) -> None:
        """Give it all that there is on its standard input; it need not read it."""
        assert self._transport is not None
        pipe = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        pipe.write(data)
        pipe.close()

    def hold(self, descriptor: int) -> None:
        """Keep a descriptor open for as long as the process is wanted."""
        self._held = descriptor

    def close(self) -> None:
        """Let go of the pipes, which a process outside the group may hold open."""
        if self._transport is not None:
            self._transport.close()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.SubprocessProtocol."""
        # Other event loops have transports of this shape that are no subclass.
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """See asyncio.SubprocessProtocol."""
        *lines, rest = (self._partial[fd] + data).split(b"\n")
        while len(rest) > MAX_LINE:
            lines.append(rest[:MAX_LINE])
            rest = rest[MAX_LINE:]
        self._partial[fd] = rest
        for line in lines:
            self._line(fd, line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """See asyncio.SubprocessProtocol."""
        rest = self._partial.get(fd)
        if rest:
            self._partial[fd] = b""
            self._line(fd, rest)

    def process_exited(self) -> None:
        """See asyncio.SubprocessProtocol."""
        # What it started and left behind. Only now, just after it was reaped: while anything of
        # the group lives its number is not given away, and later it may be somebody else's.
        self._signal_group(signal.SIGKILL)
        self._exited.set()
        self._on_exit()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.SubprocessProtocol: it has ended, and both pipes are closed."""
        self._silent.set()

    @property
    def _is_reaped(self) -> bool:
        """Whether its number may be somebody else's, which is so before we are told of its end."""
        return self._transport is None or self._transport.get_returncode() is not None

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _line(self, fd: int, line: bytes) -> None:
        name = "stdout" if fd == 1 else "stderr"
        self._on_line(name, line.rstrip(b"\r").decode("utf-8", "backslashreplace"))


async def spawn(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    pass_fds: Sequence[int],
    process: Process,
    stdin: int = asyncio.subprocess.DEVNULL,
) -> None:
    """Start `command`, with `process` as its protocol. Raises WorkerStartError.

    With PIPE as its `stdin` it can be fed.
    """
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: process,
            *command,
            stdin=stdin,
            cwd=cwd,
            env=dict(env),
            pass_fds=pass_fds,
            # Its own session: Ctrl-C in the terminal reaches the host alone.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise WorkerStartError(f"cannot start {command[0]}: {error}") from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"

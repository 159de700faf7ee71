"""A command, `qtrigger start` by default, on a terminal of its own, as a person sees it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.e2e.support import LIMIT_S, START, Startable

CODES = re.compile(r"\x1b\[[0-9;]*m")
INTERRUPT = b"\x03"


class Terminal:
    """A command in a project's folder on a terminal, 80 columns wide or as told."""

    def __init__(
        self,
        folder: Startable,
        environ: Mapping[str, str],
        columns: int = 80,
        command: Sequence[str] = START,
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            command,
            cwd=folder.root,
            env={**folder.environ, "PWD": str(folder.root), "TERM": "xterm", **environ},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # Its own terminal, so that the key reaches it; no thread is upset by it.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(theirs)
        self.text = ""

    def wait_for(self, words: str) -> None:
        """Read until `words` have come."""
        self.wait_for_match(re.compile(re.escape(words)))

    def wait_for_match(self, pattern: re.Pattern[str], after: int = 0) -> int:
        """Read until something after a place in the text, without its colours, fits; its end."""
        until = time.monotonic() + LIMIT_S
        while not (found := pattern.search(CODES.sub("", self.text), after)):
            assert self._read(until), f"no {pattern.pattern!r} in:\n{self.text}"
        return found.end()

    def press(self, key: bytes) -> None:
        os.write(self._ours, key)

    def wait(self) -> int:
        """Read to the end and return the exit code."""
        until = time.monotonic() + LIMIT_S
        while self._read(until):
            pass
        return self.process.wait(5.0)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(10.0)
        os.close(self._ours)

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(until - time.monotonic(), 0.0))
        read = b""
        with contextlib.suppress(OSError):  # the other end is closed
            read = os.read(self._ours, 65_536) if ready else b""
        self.text += read.decode(errors="replace")
        return bool(read)


@contextmanager
def on_terminal(
    folder: Startable,
    environ: Mapping[str, str],
    columns: int = 80,
    command: Sequence[str] = START,
) -> Iterator[Terminal]:
    """Start a host or the like on a terminal and make sure that it ends with the test."""
    terminal = Terminal(folder, environ, columns, command)
    try:
        yield terminal
    finally:
        terminal.end()

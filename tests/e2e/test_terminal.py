"""What a person sees of `qtrigger start`: on a terminal, without colours, and in a pipe."""

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.e2e.conftest import Service
from tests.e2e.support import LIMIT_S, QTRIGGER, ProjectFolder, qtrigger, running

CODES = re.compile(r"\x1b\[[0-9;]*m")
INTERRUPT = b"\x03"
FAILS = """
import json
def main(msg):
    json.loads("{")
"""


class Terminal:
    """`qtrigger start` on a terminal of 80 columns."""

    def __init__(self, folder: ProjectFolder, environ: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [*QTRIGGER, "start", str(folder.root)],
            env={**folder.environ, "TERM": "xterm", **environ},
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
        until = time.monotonic() + LIMIT_S
        while words not in CODES.sub("", self.text):
            assert self._read(until), f"no {words!r} in:\n{self.text}"

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
def on_terminal(folder: ProjectFolder, **environ: str) -> Iterator[Terminal]:
    """Start a host on a terminal and make sure that it ends with the test."""
    terminal = Terminal(folder, environ)
    try:
        yield terminal
    finally:
        terminal.end()


async def test_a_terminal_gets_colours_and_its_width_and_a_pipe_gets_plain_lines(
    folder: ProjectFolder, service: Service
) -> None:
    """With NO_COLOR the terminal gets the same without a code."""
    for environ in ({"NO_COLOR": ""}, {"NO_COLOR": "1"}):
        await _on_a_terminal(folder, service, environ)
    with running(folder, "--log-format", "auto") as host:
        host.wait_for("ready in")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0
    assert "\x1b" not in host.output
    assert "Try:" not in host.output


async def _on_a_terminal(
    folder: ProjectFolder, service: Service, environ: Mapping[str, str]
) -> None:
    if not (folder.root / "functions").exists():
        folder.host_json({"maxDequeueCount": 1})
        folder.function("breaks", FAILS)
    await service.put(folder.queue("breaks"), ["a"])
    with on_terminal(folder, **environ) as terminal:
        terminal.wait_for("hint: qtrigger poison show")
        terminal.press(INTERRUPT)
        assert terminal.wait() == 0
    text = CODES.sub("", terminal.text)
    assert bool(CODES.search(terminal.text)) is not bool(environ["NO_COLOR"])
    assert text.startswith("qtrigger ")
    assert "Try:  qtrigger send" in text
    assert "… 3 frames of libraries" in text
    assert "stopping  Ctrl-C: nothing is running" in text
    assert "0 ok · 1 failed · 1 poisoned · 0 handed back" in text
    table = text[text.index("FUNCTION") : text.index("ready in")].splitlines()
    assert max(map(len, table)) <= 80


def test_check_colours_what_it_says_when_asked_to(folder: ProjectFolder) -> None:
    (folder.root / "host.json").write_text('{"version": "2.0", "extensionz": {}}')
    arguments = ("check", str(folder.root), "--no-import")

    assert "\x1b[" in qtrigger(*arguments, "--color", "always", environ=folder.environ).stdout
    assert "\x1b[" not in qtrigger(*arguments, environ=folder.environ).stdout


def test_in_json_an_error_before_the_host_is_up_is_a_line_too(folder: ProjectFolder) -> None:
    done = qtrigger(
        "start", str(folder.root), "--environment", "Production", environ=folder.environ
    )

    kinds = re.findall(r'"kind": "([\w.]+)"', done.stdout)
    assert (done.returncode, done.stderr) == (3, "")
    assert kinds[-2:] == ["start.failed", "summary"]

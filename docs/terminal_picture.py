"""Makes docs/pictures/start.svg: what `qtrigger start` shows on a terminal while the demo runs.

`make picture` calls it. The picture is what a terminal of 120 columns got from a real host, with
its colours; nothing in it is written by hand. It names no font of another host.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import demo
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parent / "pictures" / "start.svg"
COLUMNS = 120
TITLE = "qtrigger start"
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Run the demo on a terminal, and draw what it got."""
    with tempfile.TemporaryDirectory(prefix="qtrigger-picture-") as folder:
        project = demo.copy_project(Path(folder) / "orders-app")
        said = run(project)
    PICTURE.write_text(drawn(said), "utf-8")
    print(f"wrote {PICTURE}")


def run(project: Path) -> str:
    """What a host of the project writes to a terminal until it ends by itself."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    command = [*demo.QTRIGGER, "start", "--exit-when-idle", demo.IDLE_SECONDS]
    environ = {**demo.environ(), "TERM": "xterm", "PWD": str(project)}
    environ["QTRIGGER_START_EMULATOR"] = "builtin"
    with subprocess.Popen(
        command, cwd=project, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    ) as host:
        os.close(theirs)
        said = read(ours, "ready in")
        demo.send_orders(project, demo.ORDERS[1:3])
        said += read(ours, "ran for")
        host.wait(demo.LIMIT_SECONDS)
    os.close(ours)
    return said


def read(terminal: int, words: str) -> str:
    """Read until the line with these words has come."""
    said, until = "", time.monotonic() + demo.LIMIT_SECONDS
    while words not in said or not said.endswith("\n"):
        ready, _, _ = select.select([terminal], [], [], max(until - time.monotonic(), 0.0))
        if not ready:
            sys.exit(f"no {words!r} in:\n{said}")
        said += os.read(terminal, 65_536).decode(errors="replace")
    return said


def drawn(said: str) -> str:
    """The terminal's text as a picture."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(said.replace("\r\n", "\n").rstrip()))
        text = console.export_svg(title=TITLE, theme=MONOKAI, unique_id="start")
    return _FONTS.sub("", text).replace("Fira Code, monospace", "ui-monospace, monospace")


if __name__ == "__main__":
    main()

"""Projects in a folder, and `qtrigger` in a subprocess."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

REPOSITORY = Path(__file__).resolve().parents[2]
QTRIGGER = (sys.executable, "-m", "qtrigger")
START = (*QTRIGGER, "start")
LIMIT_S = 50.0

# Each function notes what it saw by one appended line, which is atomic.
NOTE = """
import os
def note(text):
    file = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (text + "\\n").encode())
    os.close(file)
"""


class ProjectFolder:
    """A project that a test writes, and the notes that its functions leave."""

    def __init__(self, root: Path, connection: str, prefix: str) -> None:
        self.root = root
        self.connection = connection
        self.prefix = prefix
        self.notes_file = root / "notes.txt"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not _foreign(name)},
            "AzureWebJobsStorage": connection,
            "QTRIGGER_START_NO_HTTP": "1",
            "NOTES": str(self.notes_file),
            "PYTHONPATH": str(REPOSITORY),
        }
        self.host_json()
        (root / "shared_notes.py").write_text(NOTE)

    def queue(self, name: str) -> str:
        """A queue's name that no other test uses."""
        return f"{self.prefix}-{name}"

    def host_json(self, queues: Mapping[str, Any] | None = None, **own: Any) -> None:
        """Write host.json; `own` is its section `qtrigger`."""
        content = {"version": "2.0", "extensions": {"queues": queues or {}}, "qtrigger": own}
        (self.root / "host.json").write_text(json.dumps(content))

    def function(
        self, name: str, code: str, *, queue: str = "", out: Mapping[str, str] = {}
    ) -> None:
        """Write a function on `queue` (default: named like it), with outputs by binding name."""
        folder = self.root / "functions" / name
        folder.mkdir(parents=True)
        bindings = [
            {
                "type": "queueTrigger",
                "direction": "in",
                "name": "msg",
                "queueName": self.queue(queue or name),
                "connection": "AzureWebJobsStorage",
            }
        ]
        bindings += [
            {
                "type": "queue",
                "direction": "out",
                "name": binding,
                "queueName": self.queue(target),
                "connection": "AzureWebJobsStorage",
            }
            for binding, target in out.items()
        ]
        (folder / "function.json").write_text(json.dumps({"bindings": bindings}))
        (folder / "__init__.py").write_text(
            "from shared_notes import note\n" + textwrap.dedent(code)
        )

    def hide(self, module: str) -> None:
        """Let `qtrigger` find no such module, as where it is not installed."""
        (self.root / "hidden").mkdir(exist_ok=True)
        (self.root / "hidden" / f"{module}.py").write_text("raise ImportError")
        self.environ["PYTHONPATH"] = f"{self.root / 'hidden'}{os.pathsep}{REPOSITORY}"

    def notes(self) -> list[str]:
        """What the functions noted so far."""
        if not self.notes_file.exists():
            return []
        return self.notes_file.read_text().splitlines()


class Startable(Protocol):
    """A project's folder, and the variables that its host gets."""

    root: Path
    environ: dict[str, str]


class Background:
    """A command that goes on by itself, its output collected line by line."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], cwd: Path | None = None
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for(self, words: str, *, count: int = 1, limit_s: float = LIMIT_S) -> None:
        """Wait until that many lines hold `words`."""
        with self._more:
            found = self._more.wait_for(
                lambda: sum(words in line for line in self.lines) >= count, limit_s
            )
        assert found, f"no {words!r} in:\n{self.output}"

    def wait_for_match(self, pattern: re.Pattern[str], limit_s: float = LIMIT_S) -> None:
        """Wait until something in a line fits."""
        with self._more:
            found = self._more.wait_for(lambda: any(map(pattern.search, self.lines)), limit_s)
        assert found, f"no {pattern.pattern!r} in:\n{self.output}"

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, limit_s: float = LIMIT_S) -> int:
        """Wait for its end and return the exit code."""
        code = self._process.wait(limit_s)
        self._reader.join(5.0)
        # Shown by pytest where a test fails, which a bare exit code would not explain.
        sys.stdout.write(f"exit code {code} after:\n{self.output}\n")
        return code

    def end(self) -> None:
        """Make sure that it is gone."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(10.0)
        self._reader.join(5.0)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._more:
                self.lines.append(line.rstrip("\n"))
                self._more.notify_all()


class RunningHost(Background):
    """`qtrigger start` in a subprocess."""

    def __init__(self, folder: Startable, *arguments: str, program: Sequence[str] = START) -> None:
        command = [*program, str(folder.root), "--log-format", "plain", *arguments]
        super().__init__(command, folder.environ)


@contextmanager
def running(
    folder: Startable, *arguments: str, program: Sequence[str] = START
) -> Iterator[RunningHost]:
    """Start a host and make sure that it ends with the test."""
    host = RunningHost(folder, *arguments, program=program)
    try:
        yield host
    finally:
        host.end()


def qtrigger(
    *arguments: str, environ: Mapping[str, str] | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a verb to its end; `given` is its standard input."""
    return subprocess.run(
        [*QTRIGGER, *arguments],
        env={"PYTHONPATH": str(REPOSITORY), **(environ or os.environ)},
        input=given,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _foreign(name: str) -> bool:
    return name.upper().startswith(("AZURE", "FUNCTIONS_", "QTRIGGER_", "PYTHON_"))

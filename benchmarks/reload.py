"""How long it takes from saving a file to the first message that the new code has handled.

`python -m benchmarks.reload [--saves 20]` prints a Markdown table: a project of folders and one of
decorators, while a message comes every 20 ms.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks import small_host
from benchmarks.processes import running
from benchmarks.report import table
from benchmarks.service import Service, serving

QUEUE = "q000"
TEXT = "aGVsbG8="
EVERY_S = 0.02
# So that saves meet the host at any moment of its own.
APART_S = 0.7

# The time is that of the run's end, on the clock that all processes share.
BODY = """
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{{VERSION}} {{time.monotonic()}}\\n")
"""
FOLDER = "import os, time\nVERSION = {version}\ndef main(msg: str) -> None:" + BODY
DECORATED = (
    "import os, time\nimport azure.functions as func\nVERSION = {version}\n"
    "app = func.FunctionApp()\n"
    f"@app.queue_trigger(arg_name='msg', queue_name='{QUEUE}', connection='AzureWebJobsStorage')\n"
    "def main(msg: str) -> None:" + BODY
)


class Saved:
    """A host on a project whose script is saved again and again."""

    def __init__(self, root: Path, *, decorated: bool, program: Sequence[str]) -> None:
        self.took_s: list[float] = []
        self._notes = root / "notes.txt"
        self._program = [sys.executable, "-m", *program, str(root)]
        self._root = root
        if decorated:
            (root / "host.json").write_text('{"version": "2.0"}')
            self._script, self._code = root / "function_app.py", DECORATED
        else:
            small_host.write_project(root, 1)
            self._script = root / "functions" / f"on_{QUEUE}" / "__init__.py"
            self._code = FOLDER
        self._save(0)

    def measure(self, service: Service, saves: int) -> None:
        """Start, then save so many times; see `took_s`."""
        service.reset()
        service.create(QUEUE)
        environ = small_host.environ_of(
            AzureWebJobsStorage=service.connection_string(), NOTES=str(self._notes)
        )
        ended = threading.Event()
        sender = threading.Thread(target=self._send, args=(service, ended), daemon=True)
        with Path(os.devnull).open("wb") as log, running(self._program, environ, log, self._root):
            sender.start()
            try:
                self._wait_for(0)
                for version in range(1, saves + 1):
                    time.sleep(APART_S)
                    saved_at = self._save(version)
                    self.took_s.append(self._wait_for(version) - saved_at)
            finally:
                ended.set()
                sender.join()

    def _save(self, version: int) -> float:
        """Replace the script; the moment before that."""
        new = self._script.with_name("new~")
        new.write_text(self._code.format(version=version))
        now = time.monotonic()
        new.replace(self._script)
        return now

    def _wait_for(self, version: int) -> float:
        """When that version has handled its first message."""
        mark = f"\n{version} "
        small_host.wait_until(lambda: mark in self._noted(), f"a run of version {version}")
        return float(self._noted().split(mark, 1)[1].split("\n", 1)[0])

    def _noted(self) -> str:
        text = self._notes.read_text() if self._notes.exists() else ""
        return "\n" + text[: text.rfind("\n") + 1]

    def _send(self, service: Service, ended: threading.Event) -> None:
        while not ended.wait(EVERY_S):
            service.fill(QUEUE, 1, TEXT)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--program", nargs="+", default=["qtrigger", "start"])
    given = parser.parse_args()
    rows = []
    with serving() as service:
        for decorated in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                saved = Saved(Path(folder), decorated=decorated, program=given.program)
                saved.measure(service, given.saves)
            took = sorted(saved.took_s)
            rows.append(
                [
                    "decorators" if decorated else "folders",
                    *(f"{each * 1000:.0f} ms" for each in (median(took), took[0], took[-1])),
                    "350 ms",
                ]
            )
    print(f"Of {given.saves} saves each.\n")
    print(table(["project with", "median", "lowest", "highest", "target"], rows))


if __name__ == "__main__":
    main()

"""Saves in quick succession on a host at work: `python -m tests.chaos.saves [--saves 100]`.

One file is saved again and again while messages flow, then the project is moved to another branch
and back by `git checkout`. Counts processes and sockets before, meanwhile and after, and says
whether the last state won and whether every message ran, once.
"""

# ruff: noqa: T201 - a program for people

from __future__ import annotations

import argparse
import base64
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import small_host
from benchmarks.processes import below, running
from benchmarks.service import Service, serving
from benchmarks.small_host import wait_until

QUEUE = "q000"
EVERY_S = 0.05
APART_S = 0.2
BACK_S = 5.0
OTHERS = 60
CODE = """
import os
VERSION = "{version}"

def main(msg) -> None:
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{{VERSION}} {{msg.id}} {{msg.dequeue_count}}\\n")
"""


class Looks:
    """What is seen of a host's processes, many times a second."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.most = 0
        self._ended = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def sockets(self) -> int:
        """How many the host has open."""
        found = 0
        for each in Path(f"/proc/{self._pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found += str(each.readlink()).startswith("socket:")
        return found

    def workers(self) -> int:
        """How many processes it has."""
        return len(below([self._pid]))

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._ended.wait(0.01):
            self.most = max(self.most, self.workers())


class Project:
    """A function folder, some modules beside it, and two branches of both."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes = root / "notes.txt"
        small_host.write_project(root, 1)
        self._script = root / "functions" / f"on_{QUEUE}" / "__init__.py"
        (root / ".gitignore").write_text("notes.txt\n__pycache__\n.qtrigger\n")
        self._git("init", "--quiet", "--initial-branch", "one")
        for branch in ("one", "two"):
            if branch != "one":
                self._git("checkout", "--quiet", "-b", branch)
            self.save(branch)
            for number in range(OTHERS):
                (root / f"module{number}.py").write_text(f"BRANCH = '{branch}'\n")
            self._git("add", "--all")
            self._git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", branch)
        self.checkout("one")

    def save(self, version: str) -> None:
        """Replace the function's code, as editors do."""
        new = self._script.with_name("new~")
        new.write_text(CODE.format(version=version))
        new.replace(self._script)

    def checkout(self, branch: str) -> None:
        """Have the project as it is on that branch."""
        self._git("checkout", "--quiet", "--force", branch)

    def runs(self) -> list[list[str]]:
        """Version, message and try of each run."""
        text = self.notes.read_text() if self.notes.exists() else ""
        return [line.split() for line in text.splitlines()]

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, check=True, timeout=30.0)


@contextlib.contextmanager
def sending(service: Service, sent: list[int]) -> Iterator[None]:
    """Messages flow for as long as the block lasts."""
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(EVERY_S):
            sent.append(len(sent))
            service.fill(QUEUE, 1, base64.b64encode(b"x").decode())

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        ended.set()
        sender.join()


def on(project: Project, version: str) -> None:
    """Wait until that version has run."""
    wait_until(lambda: any(run[0] == version for run in project.runs()[-20:]), f"version {version}")


def check(project: Project, service: Service, program: list[str], saves: int) -> list[str]:
    """Run everything; returns what is wrong."""
    wrong: list[str] = []
    sent: list[int] = []
    service.create(QUEUE)
    environ = small_host.environ_of(
        AzureWebJobsStorage=service.connection_string(), NOTES=str(project.notes)
    )
    command = [sys.executable, "-m", *program, str(project.root), "--workers", "2"]
    with (
        Path(os.devnull).open("wb") as log,
        running(command, environ, log, project.root) as host,
    ):
        looks = Looks(host.pid)
        with sending(service, sent):
            on(project, "one")
            time.sleep(BACK_S / 5)  # so that its connections are there
            before = (looks.workers(), looks.sockets())
            looks.most = 0
            for number in range(saves):
                project.save(f"v{number}")
                time.sleep(APART_S)
            saved_at = time.monotonic()
            wait_until(lambda: looks.workers() == before[0], "the processes that there were")
            back_s = time.monotonic() - saved_at
            on(project, f"v{saves - 1}")
            print(f"{saves} saves: at most {looks.most} workers, {before[0]} after {back_s:.1f} s")
            print(f"sockets after that {looks.sockets()}")
            if looks.most > 2 * before[0] or back_s > BACK_S:
                wrong.append("more than two generations of workers")
            for branch in ("two", "one"):
                project.checkout(branch)
                on(project, branch)
        wait_until(lambda: len(project.runs()) >= len(sent), "all messages")
        wait_until(lambda: looks.workers() == before[0], "the processes that there were")
        print(f"workers and sockets before {before}, after {(looks.workers(), looks.sockets())}")
        looks.end()
        if looks.sockets() > before[1] + 2:
            wrong.append("sockets were left")
    runs = project.runs()
    print(f"{len(sent)} messages sent, {len(runs)} runs, {len({run[1] for run in runs})} messages")
    if len(runs) != len(sent) or {run[2] for run in runs} != {"1"}:
        wrong.append("a message did not run, or not once, or lost a try")
    return wrong


def main() -> int:
    """Run it and say what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--saves", type=int, default=100)
    parser.add_argument("--program", nargs="+", default=["qtrigger", "start"])
    given = parser.parse_args()
    with serving() as service, tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        wrong = check(project, service, given.program, given.saves)
    print("\n".join(wrong) or "all is well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

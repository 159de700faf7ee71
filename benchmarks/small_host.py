"""One host on a project made for measuring, beside a queue server of its own.

Owns the project's files, the two processes and their end, and reading what Linux says of a
process. Every process that is started here is ended here, by its number.
"""

# ruff: noqa: S603 - our own commands

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
LIMIT_S = 30.0

# What a run notes is when it began, on the clock that all processes share.
SCRIPT = """
import os, time

def main(msg: str) -> None:
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{time.monotonic()}\\n")
"""


class Server:
    """The measuring queue server, once it answers."""

    def __init__(self, port: int) -> None:
        self.connection = (
            f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={KEY};"
            f"QueueEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
        )
        self._control = f"http://127.0.0.1:{port}/_ctl"

    def fill(self, queue: str, messages: int) -> None:
        """Put so many messages on a queue, which is made when there is none."""
        self._ask(f"fill?queue={queue}&n={messages}&text=aGVsbG8%3D")

    def counts(self) -> dict[str, int]:
        """What was asked of it until now, by verb."""
        counts: dict[str, int] = json.loads(self._ask("stats"))
        return counts

    def requests(self) -> int:
        """How many requests it has answered for clients."""
        counts = self.counts()
        verbs = ("create", "get", "peek", "put", "update", "delete", "properties", "other")
        return sum(counts.get(verb, 0) for verb in verbs)

    def _ask(self, verb: str) -> bytes:
        with urllib.request.urlopen(f"{self._control}/{verb}", timeout=5) as answer:  # noqa: S310
            body: bytes = answer.read()
            return body


@contextmanager
def server() -> Iterator[Server]:
    """Run the queue server on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-O", "-m", "benchmarks.server", "--port", str(port)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(port), "the queue server answers")
        yield Server(port)
    finally:
        end(process)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def write_project(root: Path, functions: int) -> list[str]:
    """Write a project of so many functions, each on a queue of its own; returns the queues."""
    (root / "host.json").write_text('{"version": "2.0"}')
    queues = [f"q{number:03}" for number in range(functions)]
    for queue in queues:
        folder = root / "functions" / f"on_{queue}"
        folder.mkdir(parents=True)
        binding = {
            "type": "queueTrigger",
            "direction": "in",
            "name": "msg",
            "queueName": queue,
            "connection": "AzureWebJobsStorage",
        }
        (folder / "function.json").write_text(json.dumps({"bindings": [binding]}))
        (folder / "__init__.py").write_text(SCRIPT)
    return queues


def environ_of(**more: str) -> dict[str, str]:
    """The environment of a command to measure: this repository's code, byte code kept."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **more}


def start_host(
    root: Path, connection: str, *, environment: str = "Development"
) -> subprocess.Popen[bytes]:
    """Start `qtrigger start` there; its runs note their times in `notes.txt`."""
    environ = environ_of(
        AzureWebJobsStorage=connection,
        AZURE_FUNCTIONS_ENVIRONMENT=environment,
        NOTES=str(root / "notes.txt"),
    )
    command = [sys.executable, "-m", "qtrigger", "start", str(root)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours for certain."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
    if process.stdout is not None:
        process.stdout.close()


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Look every two milliseconds. Raises TimeoutError after half a minute."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {LIMIT_S:g} s: {what}")
        time.sleep(0.002)


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of a process's live threads until now, and its resident memory in MiB."""

    cpu_s: float
    rss_mib: float


def usage(pid: int) -> Usage:
    """Read what Linux says of a process."""
    # In nanoseconds, where the process's own sum is in hundredths of a second.
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    cpu_s = sum(int(each.read_text().split()[0]) for each in threads) / 1e9
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Usage(cpu_s, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in found for child in each.read_text().split()]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])

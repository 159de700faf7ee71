"""One host on a project made for measuring, as it starts and while it has nothing to do.

Owns the project's files, the host's process, and CPU times finer than `processes` needs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import memory_mb, running
from benchmarks.service import ROOT, Service

LIMIT_S = 30.0
LOOK_S = 0.002

# What a run notes is when it began, on the clock that all processes share.
SCRIPT = """
import os, time

def main(msg: str) -> None:
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{time.monotonic()}\\n")
"""


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
    return {**kept, "PYTHONPATH": str(ROOT), **more}


@contextmanager
def host(
    root: Path, service: Service, *, environment: str = "Development"
) -> Iterator[subprocess.Popen[bytes]]:
    """`qtrigger start` there, for the block; its runs note their times in `notes.txt`."""
    environ = environ_of(
        AzureWebJobsStorage=service.connection_string(),
        AZURE_FUNCTIONS_ENVIRONMENT=environment,
        NOTES=str(root / "notes.txt"),
    )
    command = [sys.executable, "-m", "qtrigger", "start", str(root)]
    with (
        Path(os.devnull).open("wb") as nowhere,
        running(command, environ, nowhere, root, told=True) as process,
    ):
        yield process


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Look every two milliseconds. Raises TimeoutError after half a minute."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {LIMIT_S:g} s: {what}")
        time.sleep(LOOK_S)


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of a process's live threads until now, and its resident memory in MB of 2**20."""

    cpu_s: float
    rss_mb: float


def usage(pid: int) -> Usage:
    """Read what Linux says of a process."""
    # In nanoseconds, where the process's own sum is in hundredths of a second.
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    cpu_s = sum(int(each.read_text().split()[0]) for each in threads) / 1e9
    return Usage(cpu_s, memory_mb([pid], peak=False))

"""The project that the chaos runs: one function that does well, badly or very badly.

What a message asks for stands in its text, `KIND-NUMBER`; each run leaves a line when it begins
and one when it has done its work, with the processes it ran in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

QUEUE = "work"
POISON = "work-poison"
BATCH_SIZE = 8
NEW_BATCH_THRESHOLD = 4
LEASE_S = 5.0
FUNCTION_TIMEOUT_S = 3.0

# How long a worker may live on after a function has done what ends it.
GOING_S = 1.0


@dataclass(frozen=True, slots=True)
class Kind:
    """What a message makes its function do, and how many of a hundred messages do so.

    `ends_worker_s` is when after its beginning the first run of it has cost its worker.
    """

    share: int
    says: str
    ends_worker_s: float | None = None


KINDS = {
    "quick": Kind(52, "return at once"),
    "slow": Kind(14, "take up to two seconds"),
    "raises": Kind(3, "raise at every try"),
    "raises_once": Kind(7, "raise at the first try"),
    "sysexits_once": Kind(3, "call sys.exit at the first try"),
    "exits_once": Kind(3, "call os._exit at the first try", 0.0),
    "crashes_once": Kind(2, "touch memory that is not there, at the first try", 0.0),
    "closes_once": Kind(2, "close every socket of their worker, at the first try", 0.0),
    "hangs_once": Kind(2, "hang past the time-out at the first try", FUNCTION_TIMEOUT_S),
    "prints": Kind(3, "print 3 MB"),
    "shouts": Kind(2, "let a program write 1 MB to stderr"),
    "leaks": Kind(3, "keep 50 MB"),
    "forks": Kind(2, "fork a child that outlives them"),
    "starts": Kind(2, "start a program and wait for it"),
}

ALWAYS_FAILS = "raises-"

CODE = """
import ctypes
import os
import subprocess
import sys
import time

import azure.functions as func

kept = []


def note(word, text):
    line = f"{word} {text} {os.getpid()} {os.getppid()} {time.time():.4f}\\n"
    file = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def fork(number):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        time.sleep(6)
        os._exit(0)


def fail(kind, text):
    if kind.startswith("raises"):
        raise ValueError(text)
    if kind == "sysexits_once":
        sys.exit(3)
    if kind == "exits_once":
        os._exit(7)
    if kind == "crashes_once":
        ctypes.string_at(0)
    if kind == "closes_once":
        os.closerange(3, 1024)
    if kind == "hangs_once":
        time.sleep(600)


def main(msg: func.QueueMessage) -> None:
    text = msg.get_body().decode()
    kind, _, number = text.partition("-")
    note("began", text)
    if kind == "raises" or (kind.endswith("_once") and msg.dequeue_count == 1):
        fail(kind, text)
        return
    if kind == "slow":
        time.sleep(int(number) % 20 / 10)
    elif kind == "prints":
        for _ in range(300):
            print("x" * 10_000)
    elif kind == "shouts":
        subprocess.run("head -c 1000000 /dev/zero | tr '\\\\0' y >&2", shell=True, check=True)
    elif kind == "leaks":
        kept.append(b"x" * 50_000_000)
        del kept[:-3]
    elif kind == "forks":
        fork(int(number))
    elif kind == "starts":
        subprocess.run(["/bin/true"], check=True)
    note("ended", text)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that did its work: by which worker of which host, and between which moments."""

    text: str
    worker: int
    host: int
    began: float
    ended: float


def write_project(root: Path, *, lease_s: float = LEASE_S) -> None:
    """Put the project there, with leases of under a minute."""
    host = {
        "version": "2.0",
        "functionTimeout": f"00:00:{FUNCTION_TIMEOUT_S:02.0f}",
        "extensions": {
            "queues": {
                "batchSize": BATCH_SIZE,
                "newBatchThreshold": NEW_BATCH_THRESHOLD,
                "maxPollingInterval": "00:00:00.500",
                "messageEncoding": "none",
            }
        },
        "qtrigger": {"lease": f"00:00:{lease_s:02.0f}", "shutdownTimeout": "00:00:02"},
    }
    binding = {
        "type": "queueTrigger",
        "direction": "in",
        "name": "msg",
        "queueName": QUEUE,
        "connection": "AzureWebJobsStorage",
    }
    folder = root / "functions" / "work"
    folder.mkdir(parents=True)
    (root / "host.json").write_text(json.dumps(host))
    (folder / "function.json").write_text(json.dumps({"bindings": [binding]}))
    (folder / "__init__.py").write_text(CODE)


def draw_text(random: Random, number: int) -> str:
    """The text of the next message."""
    (kind,) = random.choices(list(KINDS), weights=[kind.share for kind in KINDS.values()])
    return f"{kind}-{number}"


def kind_of(text: str) -> str:
    """What kind of message that text is of."""
    return text.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that began and has not done its work: not yet, or never."""

    text: str
    worker: int
    host: int
    began: float


@dataclass(slots=True)
class Notes:
    """What the functions noted: runs that did their work, by text, and those that did not."""

    done: dict[str, list[Run]] = field(default_factory=dict)
    unfinished: list[Begun] = field(default_factory=list)

    def ended_workers(self) -> list[tuple[int, float]]:
        """The workers that a function ended, and about when."""
        return [
            (each.worker, each.began + after_s)
            for each in self.unfinished
            if (after_s := KINDS[kind_of(each.text)].ends_worker_s) is not None
        ]


def read_notes(path: Path) -> Notes:
    """Read what was noted so far."""
    begun: dict[tuple[str, int], Begun] = {}
    notes = Notes()
    for line in path.read_text().splitlines() if path.exists() else ():
        word, text, worker, host, at = line.split(" ")
        key = (text, int(worker))
        if word == "began":
            if key in begun:
                notes.unfinished.append(begun[key])
            begun[key] = Begun(text, int(worker), int(host), float(at))
        else:
            run = Run(text, int(worker), int(host), begun.pop(key).began, float(at))
            notes.done.setdefault(text, []).append(run)
    notes.unfinished += begun.values()
    return notes

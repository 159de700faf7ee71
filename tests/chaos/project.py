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
LEASE_S = 5.0
FUNCTION_TIMEOUT_S = 3.0

# How many of a hundred messages are of which kind.
KINDS = {
    "quick": 60,
    "slow": 14,
    "raises": 3,
    "raises_once": 8,
    "exits_once": 3,
    "hangs_once": 2,
    "prints": 5,
    "leaks": 3,
    "forks": 2,
}

ALWAYS_FAILS = "raises-"

CODE = """
import os
import subprocess
import time

import azure.functions as func

kept = []


def note(word, text):
    line = f"{word} {text} {os.getpid()} {os.getppid()} {time.time():.4f}\\n"
    file = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def main(msg: func.QueueMessage) -> None:
    text = msg.get_body().decode()
    kind, _, number = text.partition("-")
    first = msg.dequeue_count == 1
    note("began", text)
    if kind == "slow":
        time.sleep(int(number) % 20 / 10)
    elif kind == "raises" or (kind == "raises_once" and first):
        raise ValueError(text)
    elif kind == "exits_once" and first:
        os._exit(7)
    elif kind == "hangs_once" and first:
        time.sleep(600)
    elif kind == "prints":
        for _ in range(2000):
            print("x" * 100)
    elif kind == "leaks":
        kept.append(bytearray(1_000_000))
    elif kind == "forks":
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


def write_project(root: Path) -> None:
    """Put the project there."""
    host = {
        "version": "2.0",
        "functionTimeout": f"00:00:{FUNCTION_TIMEOUT_S:02.0f}",
        "extensions": {
            "queues": {
                "batchSize": 8,
                "newBatchThreshold": 4,
                "maxPollingInterval": "00:00:00.500",
                "messageEncoding": "none",
            }
        },
        "qtrigger": {"lease": f"00:00:{LEASE_S:02.0f}", "shutdownTimeout": "00:00:02"},
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
    (kind,) = random.choices(list(KINDS), weights=list(KINDS.values()))
    return f"{kind}-{number}"


@dataclass(slots=True)
class Notes:
    """What the functions noted: runs that did their work, by text, and those that did not.

    `unfinished` are text, worker and the moment of the beginning.
    """

    done: dict[str, list[Run]] = field(default_factory=dict)
    unfinished: list[tuple[str, int, float]] = field(default_factory=list)

    def ended_workers(self) -> list[tuple[int, float]]:
        """The workers that a function ended, and about when."""
        waits = {"exits_once": 0.0, "hangs_once": FUNCTION_TIMEOUT_S}
        return [
            (worker, began + waits[kind])
            for text, worker, began in self.unfinished
            if (kind := text.partition("-")[0]) in waits
        ]


def read_notes(path: Path) -> Notes:
    """Read what was noted so far."""
    begun: dict[tuple[str, int], float] = {}
    notes = Notes()
    for line in path.read_text().splitlines() if path.exists() else ():
        word, text, worker, host, at = line.split(" ")
        key = (text, int(worker))
        if word == "began":
            if key in begun:
                notes.unfinished.append((*key, begun[key]))
            begun[key] = float(at)
        else:
            run = Run(text, int(worker), int(host), begun.pop(key), float(at))
            notes.done.setdefault(text, []).append(run)
    notes.unfinished += [(*key, began) for key, began in begun.items()]
    return notes

"""A rate in real time: one host and a full queue for some minutes, on Azurite.

By hand, `python -m tests.chaos.rate` runs it for three minutes at 60 starts a minute. It says how
many runs began in the fullest 60 seconds, by the functions' own clock, and how many messages lay
hidden at the service that did not run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qtrigger.clock import SystemClock
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_install import install
from qtrigger.queues.azurite_process import start_azurite
from qtrigger.queues.client import QueueInspector
from qtrigger.queues.rest import RestQueueService
from tests.chaos.hosts import Hosts

CLOCK = SystemClock()
QUEUE: Final = "rated"
MINUTE_S: Final = 60.0
LOOK_S: Final = 0.25
# A peek shows no more: where it shows as many, nobody can tell how many are hidden.
PEEKED: Final = 32

FUNCTION: Final = """
import os, time

def main(msg: str) -> None:
    note("begin")
    time.sleep(0.5)
    note("end")

def note(what):
    file = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{what} {time.monotonic()}\\n".encode())
    os.close(file)
"""
TRIGGER: Final = {
    "type": "queueTrigger",
    "direction": "in",
    "name": "msg",
    "queueName": QUEUE,
    "connection": "AzureWebJobsStorage",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """The times of the starts, and the most that lay hidden and did not run at two looks on end.

    `looks` are those at which that could be told, `tried` the messages that are left although
    they were received.
    """

    starts: Sequence[float]
    lying: int
    looks: int
    tried: int

    @property
    def most_in_a_minute(self) -> int:
        """The runs that began in the fullest 60 seconds."""
        starts = self.starts
        return max((sum(at <= each < at + MINUTE_S for each in starts) for at in starts), default=0)


async def rate(root: Path, port: int, per_minute: int, minutes: int) -> Seen:
    """Run it in that folder on the Azurite at that port."""
    _write_project(root, per_minute)
    service = RestQueueService(emulator_account(port), CLOCK)
    queue = service.queue(QUEUE)
    hosts = Hosts(root, port)
    before, lying, looks = 0, 0, 0
    try:
        await queue.create()
        for number in range(per_minute * minutes + PEEKED - 2):
            await queue.send(str(number))
        hosts.start()
        end = time.monotonic() + minutes * MINUTE_S
        while time.monotonic() < end:
            await asyncio.sleep(LOOK_S)
            now = await _lying(root, queue)
            if now is not None:
                # What was just received or has just ended is gone at the next look.
                lying, before, looks = max(lying, min(before, now)), now, looks + 1
        await hosts.stop_all()
        tried = sum(each.dequeue_count > 0 for each in await queue.peek(PEEKED))
    finally:
        hosts.end()
        await service.close()
    return Seen(starts=_times(root, "begin"), lying=lying, looks=looks, tried=tried)


async def _lying(root: Path, queue: QueueInspector) -> int | None:
    """How many messages are hidden and do not run; None where it cannot be told."""
    visible = len(await queue.peek(PEEKED))
    if visible == PEEKED:
        return None
    running = len(_times(root, "begin")) - len(_times(root, "end"))
    return max(await queue.approximate_count() - visible - running, 0)


def _times(root: Path, what: str) -> Sequence[float]:
    notes = root / "notes.txt"
    lines = notes.read_text().splitlines() if notes.exists() else []
    return sorted(float(line.split()[1]) for line in lines if line.startswith(what))


def _write_project(root: Path, per_minute: int) -> None:
    own = {"maxPerMinute": per_minute}
    queues = {"messageEncoding": "none"}
    host = {"version": "2.0", "extensions": {"queues": queues}, "qtrigger": own}
    (root / "host.json").write_text(json.dumps(host))
    folder = root / "functions" / "rated"
    folder.mkdir(parents=True)
    (folder / "function.json").write_text(json.dumps({"bindings": [TRIGGER]}))
    (folder / "__init__.py").write_text(FUNCTION)


async def _on_azurite(root: Path, per_minute: int, minutes: int) -> Seen:
    machine = Machine.here()
    found = find(Path(), machine) or await install(machine, print, CLOCK)
    azurite = await start_azurite(found, 0, CLOCK, data=None)
    try:
        return await rate(root, azurite.port, per_minute, minutes)
    finally:
        await azurite.stop()


def main() -> int:
    """Run it on Azurite from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--per-minute", type=int, default=60)
    parser.add_argument("--minutes", type=int, default=3)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="qtrigger-rate-"))
    seen = asyncio.run(_on_azurite(root, given.per_minute, given.minutes))
    lines = [
        f"maxPerMinute {given.per_minute} on Azurite, a full queue for {given.minutes} min",
        f"{len(seen.starts):>9,} runs began",
        f"{seen.most_in_a_minute:>9,} of them in the fullest 60 s",
        f"{seen.lying:>9,} messages lay hidden and did not run, at {seen.looks:,} looks",
        f"{seen.tried:>9,} messages are left that were received",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if seen.most_in_a_minute <= given.per_minute and not seen.lying and not seen.tried:
        shutil.rmtree(root)
        return 0
    sys.stdout.write(f"the host's log and the functions' notes are in {root}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

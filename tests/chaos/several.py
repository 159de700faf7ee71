"""Three hosts on one queue: half-way one is killed by signal 9 and one is asked to stop.

Owns the scenario on any queue service; `test_several_hosts` holds the built-in emulator to it. By
hand, `python -m tests.chaos.several --messages 5000` runs it on Azurite, installed when missing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qtrigger.clock import SystemClock
from qtrigger.errors import QueueUnavailable
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_install import install
from qtrigger.queues.azurite_process import start_azurite
from qtrigger.queues.rest import RestQueueService
from tests.chaos import project
from tests.chaos.account import Account, Kill, counted, settle_account
from tests.chaos.hosts import Hosts, told_of

CLOCK = SystemClock()
HOSTS = 3
# What the hosts may have in hand at most: a batch beside what runs, while another is settled.
IN_HAND = HOSTS * (project.NEW_BATCH_THRESHOLD + 2 * project.BATCH_SIZE)
SENDERS = 8
LOOK_S = 0.1
# With thousands of messages an Azurite takes seconds for an answer. A renewal that is given up for
# its next try may have been carried out: its receipt is lost then, and the message runs again.
AZURITE_LEASE_S = 30.0
# One in so many messages takes its function half a second, so that there is work to interrupt.
SLOW_EVERY = 20
# Of a slow run this much may have passed when its host is killed.
FRESH_S = 0.2


class Queue(Protocol):
    """What the scenario asks of the queue."""

    async def create(self) -> None:
        """Make it."""

    async def send(self, text: str) -> str:
        """Put a message there and return its id."""

    async def approximate_count(self) -> int:
        """How many messages there are, hidden ones too."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    `in_flight` are the texts that any host had in hand at the kill, where the service can tell;
    `exits` are how the other hosts ended.
    """

    account: Account
    notes: project.Notes
    kill: Kill
    in_flight: set[str]
    exits: list[int]
    took_s: float

    @property
    def repeated(self) -> set[str]:
        """The texts whose work was done more than once."""
        return {text for text, runs in self.notes.done.items() if len(runs) > 1}

    @property
    def interrupted(self) -> set[str]:
        """The texts whose work the killed host had begun, and never did."""
        return {each.text for each in self.notes.unfinished if each.host == self.kill.pid}


async def several(
    root: Path,
    port: int,
    queue: Queue,
    messages: int,
    limit_s: float,
    in_flight: Callable[[], Collection[str]] = tuple,
    *,
    lease_s: float = project.LEASE_S,
) -> Outcome:
    """Run it in that folder; TimeoutError when the hosts are not through after `limit_s`."""
    project.write_project(root, lease_s=lease_s)
    hosts = Hosts(root, port)
    await queue.create()
    sent = await _sent(queue, messages)
    began = time.monotonic()

    async def left() -> int:
        # An Azurite that is busy closes a connection now and then that is just being used.
        with contextlib.suppress(QueueUnavailable):
            return await queue.approximate_count()
        return messages

    async def until_left(count: int) -> None:
        while await left() > count:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)

    try:
        for _ in range(HOSTS):
            hosts.start()
        async with asyncio.timeout(limit_s):
            await until_left(messages // 2)
            hosts.kill_host(await _one_at_work(root, hosts), replace=False)
            hidden = set(in_flight())
            await hosts.stop_host(hosts.pids[0], replace=False)
            await until_left(0)
        took_s = time.monotonic() - began
        await hosts.stop_all()
    finally:
        hosts.end()
    notes = project.read_notes(root / "notes.txt")
    account = settle_account(sent, notes.done, (), (), hosts.kills, (), told=told_of(root))
    account.odd_exits = hosts.odd_exits
    return Outcome(account, notes, hosts.kills[0], hidden, hosts.exits, took_s)


async def _sent(queue: Queue, messages: int) -> Mapping[str, str]:
    sent: dict[str, str] = {}
    numbers = iter(range(messages))

    async def sender() -> None:
        for number in numbers:
            text = f"slow-{number}" if number % SLOW_EVERY == 5 else f"quick-{number}"
            sent[text] = await queue.send(text)

    await asyncio.gather(*(sender() for _ in range(SENDERS)))
    return sent


async def _one_at_work(root: Path, hosts: Hosts) -> int:
    """A host that has just begun to run a slow function."""
    while True:
        for begun in project.read_notes(root / "notes.txt").unfinished:
            fresh = time.time() - begun.began < FRESH_S
            if begun.host in hosts.pids and begun.text.startswith("slow-") and fresh:
                return begun.host
        await asyncio.sleep(FRESH_S / 4)


async def _on_azurite(root: Path, messages: int, limit_s: float) -> Outcome:
    machine = Machine.here()
    found = find(Path(), machine) or await install(machine, print, CLOCK)
    azurite = await start_azurite(found, 0, CLOCK, data=None)
    service = RestQueueService(emulator_account(azurite.port), CLOCK)
    try:
        queue = service.queue(project.QUEUE)
        return await several(root, azurite.port, queue, messages, limit_s, lease_s=AZURITE_LEASE_S)
    finally:
        await service.close()
        await azurite.stop()


def main() -> int:
    """Run it on Azurite from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="qtrigger-several-"))
    outcome = asyncio.run(_on_azurite(root, given.messages, given.minutes * 60))
    lines = [
        f"{HOSTS} hosts on Azurite, one killed and one stopped half-way",
        *outcome.account.lines(),
        counted(len(outcome.interrupted), "interrupted by the kill before their work was done"),
        f"{outcome.took_s:>9.1f} s  from the first host's start to the last message's end",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if outcome.account.balances:
        shutil.rmtree(root)
        return 0
    sys.stdout.write(f"the hosts' logs and the functions' notes are in {root}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

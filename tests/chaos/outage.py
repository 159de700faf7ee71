"""A database is down for long, and its function has a circuit breaker: nothing is poisoned.

Owns the run by hand: `python -m tests.chaos.outage --messages 5000 --down 120` on Azurite, which
is installed when missing, with the project of docs/how-to/circuit-breaker.md. The suite has a
shorter one in `tests/e2e/test_pauses.py`, and hours of it under virtual time in
`tests/conformance/test_circuit_breaker.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from qtrigger.clock import SystemClock
from qtrigger.errors import QueueError, QueueUnavailable
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_install import install
from qtrigger.queues.azurite_process import start_azurite
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.chaos.hosts import Hosts, environ_of
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder

CLOCK = SystemClock()
LOOK_S = 0.5
SENDERS = 8
PREFIX = "outage"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it; `most_poisoned` is the most that any look at the poison queue found."""

    sent: int
    booked: Counter[str]
    most_poisoned: int
    left_at_return: int
    opened: int
    closed: int
    back_s: float

    @property
    def balances(self) -> bool:
        """Whether each message was processed once, none before the end, and none was poisoned."""
        each_once = len(self.booked) == self.sent == self.booked.total()
        return each_once and not self.most_poisoned and self.left_at_return == self.sent

    def lines(self) -> list[str]:
        """The account for people."""
        return [
            f"{self.sent:>9,} sent while the database was down",
            f"{self.opened:>9,} times the breaker opened, {self.closed} times it closed",
            f"{self.most_poisoned:>9,} in the poison queue at any look",
            f"{self.left_at_return:>9,} on the queue when the database came back",
            f"{len(self.booked):>9,} processed, {self.booked.total() - len(self.booked)} again",
            f"{self.back_s:>9.1f} s  from the database's return to the last message's end",
            "in order" if self.balances else "NOT IN ORDER",
        ]


async def outage(
    root: Path, port: int, service: RestQueueService, messages: int, down_s: float, limit_s: float
) -> Outcome:
    """Run it in that folder; TimeoutError when the host is not through after `limit_s`."""
    connection = environ_of(root, port)["AzureWebJobsStorage"]
    folder = ProjectFolder(root, connection, PREFIX)
    write_project("circuit-breaker", folder)
    queue = service.queue(folder.queue("bookings"))
    poison = service.queue(folder.queue("bookings-poison"))
    down, booked = root / "book" / "down", root / "book" / "booked.txt"
    down.touch()
    await queue.create()
    await _send(queue, messages)
    hosts = Hosts(root, port)
    hosts.start()
    most = 0

    async def look(until: float) -> None:
        nonlocal most
        while time.monotonic() < until:
            most = max(most, await _count(poison))
            await asyncio.sleep(LOOK_S)

    try:
        await look(time.monotonic() + down_s)
        left = await _count(queue)
        down.unlink()
        began = time.monotonic()
        async with asyncio.timeout(limit_s):
            while await _count(queue, unknown=1):
                await look(time.monotonic() + LOOK_S)
        back_s = time.monotonic() - began
        most = max(most, await _count(poison))
        await hosts.stop_all()
    finally:
        hosts.end()
    log = (root / "host-1.log").read_text(errors="replace")
    return Outcome(
        sent=messages,
        booked=Counter(booked.read_text().split()),
        most_poisoned=most,
        left_at_return=left,
        opened=log.count("circuit breaker open") + log.count("that was tried has failed too"),
        closed=log.count("circuit breaker closed"),
        back_s=back_s,
    )


async def _send(queue: RestQueueClient, messages: int) -> None:
    numbers = iter(range(messages))

    async def sender() -> None:
        for number in numbers:
            await queue.send(base64.b64encode(f"booking-{number}".encode()).decode())

    await asyncio.gather(*(sender() for _ in range(SENDERS)))


async def _count(queue: RestQueueClient, unknown: int = 0) -> int:
    """The messages there, hidden ones too; 0 where there is no queue."""
    try:
        return await queue.approximate_count()
    except QueueUnavailable:
        return unknown  # a busy Azurite closes a connection now and then
    except QueueError:
        return 0


async def _on_azurite(root: Path, messages: int, down_s: float, limit_s: float) -> Outcome:
    machine = Machine.here()
    found = find(Path(), machine) or await install(machine, print, CLOCK)
    azurite = await start_azurite(found, 0, CLOCK, data=None)
    service = RestQueueService(emulator_account(azurite.port), CLOCK)
    try:
        return await outage(root, azurite.port, service, messages, down_s, limit_s)
    finally:
        await service.close()
        await azurite.stop()


def main() -> int:
    """Run it on Azurite from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--down", type=float, default=120.0, help="seconds")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all to be processed")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="qtrigger-outage-"))
    outcome = asyncio.run(_on_azurite(root, given.messages, given.down, given.minutes * 60))
    sys.stdout.write("\n".join(outcome.lines()) + "\n")
    if outcome.balances:
        with contextlib.suppress(OSError):
            shutil.rmtree(root)
        return 0
    sys.stdout.write(f"the host's log and what was booked are in {root}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Poisoned messages are requeued, the requeue is interrupted, and none is lost.

Owns the run by hand: `python -m tests.chaos.requeue --messages 10000 [--emulator azurite|builtin]
[--kill]`. The first requeue gets Ctrl-C when about half of the messages are back (with `--kill`
signal 9), the next one finishes. The suite has a smaller one in `tests/e2e/test_requeue.py`, and
every point of failure under virtual time in `tests/unit/bulk`.

A run of 10,000 is for the built-in emulator: Azurite's deletes grow with its queue (measured: 2.7
ms at 500 messages, 47 ms at 8,000), and it stops answering around each 60 s.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from qtrigger.bulk.held import LEASE_S
from qtrigger.bulk.requests import persist
from qtrigger.clock import SystemClock
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_install import install
from qtrigger.queues.azurite_process import start_azurite
from qtrigger.queues.client import MAX_RECEIVE, NEVER_EXPIRES_S
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.chaos.hosts import environ_of
from tests.e2e.support import QTRIGGER, ProjectFolder
from tests.unit.cli.account import in_base64

CLOCK = SystemClock()
WORKERS = 16
LIMIT_S = 600.0
LOOK_S = 0.02
PREFIX = "requeue"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the messages are after the last run; `said` is what the runs wrote."""

    sent: int
    back: Counter[str]
    left: int
    said: tuple[str, ...]
    codes: tuple[int, ...]
    took_s: tuple[float, ...]

    @property
    def lost(self) -> int:
        """How many are nowhere."""
        return self.sent - len(self.back) - self.left

    def lines(self) -> list[str]:
        """The account for people."""
        often = Counter(self.back.values())
        runs = zip(self.said, self.codes, self.took_s, strict=True)
        return [
            *(f"{took:9.1f} s  exit {code}: {said}" for said, code, took in runs),
            f"{self.sent:>9,} sent",
            f"{often[1]:>9,} back once",
            f"{often[2]:>9,} back twice",
            f"{sum(number for times, number in often.items() if times > 2):>9,} back more often",
            f"{self.left:>9,} left",
            f"{self.lost:>9,} lost",
        ]


async def requeue(
    root: Path, port: int, messages: int, *, number: signal.Signals, rate: str = ""
) -> Outcome:
    """Interrupt one requeue by the signal when half is back, and let another one finish."""
    folder = ProjectFolder(root, environ_of(root, port)["AzureWebJobsStorage"], PREFIX)
    folder.function("orders", "def main(msg: str):\n    note(msg)\n")
    service = RestQueueService(emulator_account(port), CLOCK)
    orders, poison = (service.queue(folder.queue(name)) for name in ("orders", "orders-poison"))
    try:
        for queue in (orders, poison):
            await queue.create()
        await _send(poison, messages)
        first = await _run(folder, orders, rate, half=messages // 2, number=number)
        if number == signal.SIGKILL:
            await CLOCK.sleep(LEASE_S)
        second = await _run(folder, orders, "")
        left = await poison.approximate_count()
        back = await _drain(orders)
    finally:
        await service.close()
    runs = (first, second)
    return Outcome(
        sent=messages,
        back=back,
        left=left,
        said=tuple(said for said, _, _ in runs),
        codes=tuple(code for _, code, _ in runs),
        took_s=tuple(took_s for _, _, took_s in runs),
    )


async def _run(
    folder: ProjectFolder,
    orders: RestQueueClient,
    rate: str,
    *,
    half: int | None = None,
    number: signal.Signals = signal.SIGINT,
) -> tuple[str, int, float]:
    command = [*QTRIGGER, "poison", "requeue", "orders", "--yes", "--project", str(folder.root)]
    command += ["--rate", rate] if rate else []
    began = time.monotonic()
    run = subprocess.Popen(  # noqa: ASYNC220 - it only starts here
        command, env=folder.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            while half is not None and run.poll() is None:
                if await persist(orders.approximate_count, CLOCK) >= half:
                    run.send_signal(number)
                    break
                await CLOCK.sleep(LOOK_S)
            said, _ = await asyncio.to_thread(run.communicate, timeout=LIMIT_S)
    finally:
        if run.poll() is None:
            run.kill()
            run.wait(10.0)
    return " / ".join(said.splitlines()), run.returncode, time.monotonic() - began


async def _send(queue: RestQueueClient, messages: int) -> None:
    numbers = iter(range(messages))

    async def sender() -> None:
        for number in numbers:
            send = functools.partial(
                queue.send, in_base64(f"order-{number}"), ttl_s=NEVER_EXPIRES_S
            )
            await persist(send, CLOCK, twice=False)

    await asyncio.gather(*(sender() for _ in range(WORKERS)))


async def _drain(queue: RestQueueClient) -> Counter[str]:
    texts: Counter[str] = Counter()

    async def taker() -> None:
        while received := await persist(lambda: queue.receive(MAX_RECEIVE, LIMIT_S), CLOCK):
            texts.update(each.text for each in received)

    await asyncio.gather(*(taker() for _ in range(WORKERS)))
    return texts


@contextlib.asynccontextmanager
async def _emulator(kind: str) -> AsyncIterator[int]:
    if kind == "builtin":
        emulator = BuiltinEmulator(CLOCK)
        port = await emulator.start(0)
        try:
            yield port
        finally:
            await emulator.stop()
        return
    found = find(Path(), Machine.here()) or await install(Machine.here(), print, CLOCK)
    process = await start_azurite(found, 0, CLOCK, data=None)
    try:
        yield process.port
    finally:
        await process.stop()


async def _main(arguments: argparse.Namespace) -> int:
    number = signal.SIGKILL if arguments.kill else signal.SIGINT
    with tempfile.TemporaryDirectory() as root:
        async with _emulator(arguments.emulator) as port:
            outcome = await requeue(Path(root), port, arguments.messages, number=number)
    print("\n".join(outcome.lines()))  # noqa: T201
    return 1 if outcome.lost or outcome.left else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--emulator", choices=["azurite", "builtin"], default="azurite")
    parser.add_argument("--kill", action="store_true", help="end the first run by signal 9")
    sys.exit(asyncio.run(_main(parser.parse_args())))

"""What users ran into when the service answers badly at the wrong moment, on a real Azurite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from qtrigger.clock import SystemClock
from qtrigger.events import MessagePoisoned, PollFinished, QueueStateChanged, SettlementFailed
from qtrigger.queues import wire
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.faults.house import LEASE_S, House
from tests.faults.proxy import Answer, Fault, FaultProxy, Lose

CLOCK = SystemClock()
LIMIT_S = 40.0


@dataclass(frozen=True, slots=True)
class Bench:
    """A host behind a proxy on Azurite, and its queues as they are without the proxy."""

    house: House
    proxy: FaultProxy
    queue: RestQueueClient
    poison: RestQueueClient
    service: RestQueueService

    async def empty(self) -> None:
        """Wait until the queue is empty, hidden messages counted too."""
        async with CLOCK.timeout(LIMIT_S):
            while await self.queue.approximate_count():
                await CLOCK.sleep(0.1)

    async def within(self, awaited: Awaitable[object]) -> None:
        async with CLOCK.timeout(LIMIT_S):
            await awaited


@asynccontextmanager
async def on_azurite(
    azurite: AzuriteProcess, name: str, *, lease_s: float = LEASE_S
) -> AsyncIterator[Bench]:
    """Answers have time to come on a busy machine: none of the faults here is silence."""
    direct = RestQueueService(emulator_account(azurite.port), CLOCK)
    queue, poison = direct.queue(name), direct.queue(f"{name}-poison")
    await queue.create()
    await poison.create()
    try:
        async with FaultProxy(azurite.port) as proxy:
            house = House(proxy, queue=name, lease_s=lease_s, request_s=10.0)
            yield Bench(house, proxy, queue, poison, direct)
    finally:
        await direct.close()


async def test_a_delete_that_fails_for_two_leases_leaves_one_poison_copy(
    azurite: AzuriteProcess,
) -> None:
    async with on_azurite(azurite, "delete-fails") as bench:
        await bench.queue.send("never-1")
        bench.proxy.script(Answer(500, "InternalError"), verb="delete")
        await bench.house.start()
        await bench.within(bench.house.probe.wait_for(SettlementFailed, count=2))
        assert await bench.poison.approximate_count() == 1
        bench.proxy.mend()

        await bench.empty()
        assert await bench.house.stop() == 0

        assert [message.text for message in await bench.poison.receive(32, 60.0)] == ["never-1"]
        assert len(bench.house.probe.of(MessagePoisoned)) == 1
        assert bench.house.runs["never-1"] == 10


@pytest.mark.parametrize(
    ("fault", "verb", "copies", "words"),
    [(Lose(), "delete", 1, ""), (Lose(), "send", 2, "may stand there twice")],
    ids=["delete", "copy"],
)
async def test_a_lost_answer_makes_two_copies_at_most_and_then_it_is_said(
    azurite: AzuriteProcess, fault: Fault, verb: str, copies: int, words: str
) -> None:
    async with on_azurite(azurite, f"lost-{verb}") as bench:
        await bench.queue.send("never-1")
        bench.proxy.script(fault, verb=verb, times=1)
        await bench.house.start()

        await bench.empty()
        assert await bench.house.stop() == 0

        assert await bench.poison.approximate_count() == copies
        (told,) = bench.house.probe.of(MessagePoisoned)
        assert (words in told.detail) if words else told.detail == ""


async def test_a_backlog_costs_a_get_for_a_batch_and_a_delete_for_a_message(
    azurite: AzuriteProcess,
) -> None:
    async with on_azurite(azurite, "backlog", lease_s=60.0) as bench:
        for number in range(200):
            await bench.queue.send(f"plain-{number}")
        await bench.house.start()

        await bench.empty()
        assert await bench.house.stop() == 0

        requests = bench.proxy.requests
        assert (requests["delete"], requests["update"]) == (200, 0)
        # A batch is asked for when half of the one before has ended.
        found = [each for each in bench.house.probe.of(PollFinished) if each.found]
        assert len(found) <= 200 / 8


async def test_a_message_that_makes_an_azurite_unreadable_is_named_and_clearing_cures_it(
    azurite: AzuriteProcess,
) -> None:
    """A foreign sender can put a raw control character; each get is answered 500 then."""
    async with on_azurite(azurite, "unreadable") as bench:
        path = f"/{emulator_account(azurite.port).name}/unreadable"
        put = wire.put_message(path, "ab\x01", None, None)
        await bench.service.exchange(bench.queue.address, put, (201,))
        await bench.house.start()
        await bench.within(bench.house.probe.wait_for(QueueStateChanged))
        (told,) = bench.house.probe.of(QueueStateChanged)
        assert told.state == "unavailable"
        assert "holds a character that XML cannot carry: clear the queue" in told.message

        await bench.queue.clear()
        await bench.queue.send("plain-1")
        await bench.empty()

        assert bench.house.done["plain-1"] == 1
        assert await bench.house.stop() == 0

"""A listener on a real Azurite: the rules that rest on what the service does.

Leases are short here and pass in real time; everything that a manual clock can show stands in
`conformance`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from azure.storage.queue import QueueSasPermissions, generate_queue_sas
from azure.storage.queue.aio import QueueServiceClient

from qtrigger.events import (
    InvocationFinished,
    LeaseEnded,
    LeaseRenewed,
    MessagePoisoned,
    QueueStateChanged,
    RenewalFailed,
    SettlementFailed,
)
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.queues.account import (
    EMULATOR_ACCOUNT,
    EMULATOR_KEY,
    Credential,
    Sas,
    emulator_account,
)
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.contract.live import CLOCK, OPTIONS, Live, listening
from tests.contract.waiting import receive_soon, until
from tests.faults.proxy import Answer, FaultProxy
from tests.unit.harness import fail

Make = Callable[[Credential | None], RestQueueService]
SHORT_LEASE_S = 2.0


@pytest.fixture
def service(azurite_service: Make) -> RestQueueService:
    return azurite_service(None)


@pytest.fixture
async def queue(service: RestQueueService, queue_name: str) -> RestQueueClient:
    fresh = service.queue(queue_name)
    await fresh.create()
    return fresh


async def delete(queue: RestQueueClient, azurite: AzuriteProcess) -> None:
    """Delete it as its owner does, by other means than ours."""
    owner = QueueServiceClient(
        f"http://127.0.0.1:{azurite.port}/{EMULATOR_ACCOUNT}",
        EMULATOR_KEY,
        api_version="2021-12-02",
    )
    async with owner:
        await owner.delete_queue(queue.name)


async def test_each_renewal_replaces_the_receipt_and_the_last_one_deletes(
    service: RestQueueService, queue: RestQueueClient
) -> None:
    """The function ends after its first lease, and after one that was renewed once."""

    async def body(_message: TriggerMessage) -> Outcome:
        await live.event(LeaseRenewed, count=3)
        return Succeeded()

    live = Live(service, queue.name, body, lease_s=SHORT_LEASE_S)
    await queue.send("a")

    async with listening(live):
        (run,) = await live.event(InvocationFinished)

    assert run.disposition == "acked"
    assert len(live.given) == 1
    assert await queue.approximate_count() == 0
    assert live.probe.of(LeaseEnded) == []


async def test_a_message_whose_lease_ran_out_is_deleted_all_the_same_when_nobody_took_it(
    azurite: AzuriteProcess, queue: RestQueueClient
) -> None:
    """Late but harmless: the receipt holds until somebody else is given another."""
    async with FaultProxy(azurite.port) as proxy:
        service = RestQueueService(emulator_account(proxy.port), CLOCK)

        async def body(message: TriggerMessage) -> Outcome:
            # Times are shown in whole seconds: this is surely past the lease.
            await until(message.next_visible + timedelta(seconds=1))
            return Succeeded()

        live = Live(service, queue.name, body, lease_s=SHORT_LEASE_S)
        proxy.script(Answer(503, "ServerBusy"), verb="update")
        await queue.send("a")

        async with listening(live):
            (run,) = await live.event(InvocationFinished)
        await service.close()

    assert live.probe.of(RenewalFailed)
    assert run.disposition == "acked"
    assert (len(live.given), await queue.approximate_count()) == (1, 0)


async def test_a_message_that_somebody_took_after_its_lease_is_theirs(
    azurite: AzuriteProcess, queue: RestQueueClient
) -> None:
    async with FaultProxy(azurite.port) as proxy:
        service = RestQueueService(emulator_account(proxy.port), CLOCK)

        async def body(_message: TriggerMessage) -> Outcome:
            taken.append(await receive_soon(queue))
            return Succeeded()

        taken: list[QueueMessage] = []
        live = Live(service, queue.name, body, lease_s=SHORT_LEASE_S)
        proxy.script(Answer(503, "ServerBusy"), verb="update")
        await queue.send("a")

        async with listening(live):
            (run,) = await live.event(InvocationFinished)
        await service.close()

    assert run.disposition == "dropped"
    assert len(live.probe.of(LeaseEnded)) == 1
    assert live.probe.of(SettlementFailed) == []
    (theirs,) = taken
    assert theirs.dequeue_count == 2
    await queue.delete(theirs.id, theirs.pop_receipt)


async def test_a_queue_that_is_deleted_under_a_run_and_made_again_is_served_again(
    azurite: AzuriteProcess, service: RestQueueService, queue: RestQueueClient
) -> None:
    let_go = asyncio.Event()

    async def body(_message: TriggerMessage) -> Outcome:
        await let_go.wait()
        return Succeeded()

    live = Live(service, queue.name, body)
    await queue.send("before")

    async with listening(live):
        await live.began(1)
        await delete(queue, azurite)
        let_go.set()
        (gone,) = await live.event(QueueStateChanged)
        await queue.create()
        await queue.send("after")
        await live.event(InvocationFinished, count=2)

    assert gone.state == "missing"
    assert [each.state for each in live.probe.of(QueueStateChanged)] == ["missing", "ok"]
    assert [message.body for message in live.given] == [b"before", b"after"]
    assert live.probe.of(SettlementFailed) == []
    assert await queue.approximate_count() == 0


async def test_a_failed_message_comes_back_as_it_was_and_its_copy_begins_anew_for_ever(
    service: RestQueueService, queue: RestQueueClient
) -> None:
    live = Live(service, queue.name, fail, options=replace(OPTIONS, max_dequeue_count=2))
    poison = service.queue(f"{queue.name}-poison")
    sent = await queue.send("a")

    async with listening(live):
        await live.event(MessagePoisoned)

    first, second = live.given
    assert (first.dequeue_count, second.dequeue_count) == (1, 2)
    assert (first.id, first.inserted, first.expires) == (sent, second.inserted, second.expires)
    assert second.id == sent
    assert second.pop_receipt != first.pop_receipt
    assert await queue.approximate_count() == 0
    (copy,) = await poison.receive(32, 30.0)
    assert (copy.text, copy.dequeue_count, copy.expires.year) == ("a", 1, 9999)
    assert copy.id != sent


async def test_a_failure_on_a_poison_queue_touches_nothing_and_makes_no_other_queue(
    service: RestQueueService, queue_name: str
) -> None:
    """The receipt that the function was given still holds afterwards."""
    poison = service.queue(f"{queue_name}-poison")
    await poison.create()
    live = Live(service, poison.name, fail)
    await poison.send("a")

    async with listening(live):
        (run,) = await live.event(InvocationFinished)
        (given,) = live.given
        await poison.update(given.id, given.pop_receipt, 0.0)
        await live.began(2)

    assert run.disposition == "abandoned"
    assert [message.dequeue_count for message in live.given] == [1, 2]
    assert not await service.queue(f"{poison.name}-poison").exists()


async def test_without_the_right_to_update_a_failure_waits_for_its_lease_and_nothing_is_lost(
    azurite_service: Make, queue: RestQueueClient
) -> None:
    token = generate_queue_sas(
        EMULATOR_ACCOUNT,
        queue.name,
        EMULATOR_KEY,
        permission=QueueSasPermissions(read=True, process=True),
        expiry=CLOCK.utcnow() + timedelta(hours=1),
    )
    live = Live(
        azurite_service(Sas(token=token)),
        queue.name,
        fail,
        options=replace(OPTIONS, max_dequeue_count=2),
        lease_s=SHORT_LEASE_S,
    )
    await queue.send("a")

    async with listening(live):
        refused, *_ = await live.event(SettlementFailed, count=2)

    assert "permission u (update)" in refused.message
    assert [message.dequeue_count for message in live.given] == [1, 2]
    assert await queue.approximate_count() == 1

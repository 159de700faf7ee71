"""The memory queues under a clock that only tests move. The shared rules are the contract's."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from qtrigger.errors import LeaseLostError, QueueMissing, QueueRejected, QueueUnavailable
from qtrigger.queues.memory import Counts, MemoryQueueClient, MemoryQueueService
from qtrigger.queues.store import MessageStore
from qtrigger.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def service(clock: ManualClock) -> MemoryQueueService:
    service = MemoryQueueService(clock)
    service.make("orders")
    return service


@pytest.fixture
def queue(service: MemoryQueueService) -> MemoryQueueClient:
    return service.queue("orders")


async def test_a_lease_lapses_at_its_second_and_not_before(
    clock: ManualClock, queue: MemoryQueueClient
) -> None:
    await queue.send("x")
    await queue.receive(1, 600)

    await clock.advance(599.9)
    early = await queue.receive(1, 600)
    await clock.advance(0.1)
    late = await queue.receive(1, 600)

    assert list(early) == []
    assert [message.dequeue_count for message in late] == [2]


async def test_an_hour_of_renewals_keeps_one_delivery(
    clock: ManualClock, queue: MemoryQueueClient
) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 600)
    receipt = message.pop_receipt

    for _ in range(12):
        await clock.advance(300)
        receipt = (await queue.update(message.id, receipt, 600)).pop_receipt
        assert list(await queue.receive(1, 600)) == []

    await queue.delete(message.id, receipt)


async def test_released_messages_stand_behind_those_that_waited(
    clock: ManualClock, queue: MemoryQueueClient
) -> None:
    await queue.send("first")
    (first,) = await queue.receive(1, 600)
    await queue.send("second")
    await clock.advance(1)
    await queue.update(first.id, first.pop_receipt, 0)

    assert [message.text for message in await queue.receive(2, 600)] == ["second", "first"]


async def test_messages_expire_hidden_or_not(
    clock: ManualClock, service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    await queue.send("short", ttl_s=10)
    await queue.send("long")
    (short,) = await queue.receive(1, 600)

    await clock.advance(10)

    with pytest.raises(LeaseLostError):
        await queue.delete(short.id, short.pop_receipt)
    assert [message.text for message in service.peek_all("orders")] == ["long"]
    await clock.advance(7 * 86_400)
    assert service.counts("orders") == Counts(visible=0, invisible=0)


async def test_looking_changes_nothing(
    service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    await queue.send("a")
    await queue.send("b")
    (taken,) = await queue.receive(1, 600)

    seen = service.peek_all("orders")

    assert [(m.text, m.dequeue_count) for m in seen] == [("a", 1), ("b", 0)]
    assert seen[0].pop_receipt == taken.pop_receipt
    assert service.counts("orders") == Counts(visible=1, invisible=1)
    assert [m.text for m in service.store("orders").peek(32)] == ["b"]
    assert [m.dequeue_count for m in await queue.receive(1, 600)] == [1]


async def test_a_scripted_fault_strikes_as_often_as_told(
    service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    service.fail("send", QueueUnavailable("busy", status=503, retry_after_s=2), times=2)

    for _ in range(2):
        with pytest.raises(QueueUnavailable) as struck:
            await queue.send("x")
        assert (struck.value.status, struck.value.retry_after_s) == (503, 2)

    await queue.send("x")
    assert service.requests == {"send": 3}
    assert service.counts("orders").visible == 1


async def test_a_lost_answer_is_a_fault_after_the_work(
    service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 600)
    service.fail("delete", QueueUnavailable("no answer"), carried_out=True)

    with pytest.raises(QueueUnavailable):
        await queue.delete(message.id, message.pop_receipt)

    with pytest.raises(LeaseLostError):
        await queue.delete(message.id, message.pop_receipt)


async def test_a_fault_can_be_one_queues_alone_and_last_until_mended(
    service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    service.make("other")
    service.fail("receive", QueueUnavailable("down"), times=None, queue="orders")

    for _ in range(3):
        with pytest.raises(QueueUnavailable):
            await queue.receive(1, 600)
    assert list(await service.queue("other").receive(1, 600)) == []

    service.mend()
    assert list(await queue.receive(1, 600)) == []


async def test_a_slow_verb_takes_its_time_first(
    clock: ManualClock, service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    service.slow("send", 5)

    await clock.run(queue.send("x"))

    assert clock.monotonic() == 5
    assert service.peek_all("orders")[0].text == "x"


def test_a_fault_for_no_verb_is_a_mistake_of_the_test(service: MemoryQueueService) -> None:
    with pytest.raises(ValueError, match="no verb"):
        service.fail("recieve", QueueUnavailable("x"))


async def test_a_removed_queue_is_missing(
    service: MemoryQueueService, queue: MemoryQueueClient
) -> None:
    await queue.send("x")
    service.remove("orders")

    with pytest.raises(QueueMissing):
        await queue.receive(1, 600)
    await queue.create()
    assert list(await queue.receive(1, 600)) == []
    assert service.names() == ["orders"]


def test_a_bad_name_has_no_messages_to_look_at(service: MemoryQueueService) -> None:
    with pytest.raises(QueueRejected):
        service.store("Orders")


def test_many_messages_cost_no_scans() -> None:
    store = MessageStore(ManualClock())
    for number in range(30_000):
        store.put(str(number), None, None)

    began = time.perf_counter()
    for _ in range(100):
        for message in store.receive(32, 600):
            store.update(message.id, message.pop_receipt, 600, None)
    took = time.perf_counter() - began

    # Some 0.03 s; with one scan of all messages in each of the 3,300 calls, over five.
    assert took < 2.0
    assert len(store) == 30_000


def test_renewals_do_not_pile_up() -> None:
    store = MessageStore(ManualClock())
    receipt = store.put("x", None, None).pop_receipt
    (message,) = store

    for _ in range(10_000):
        receipt = store.update(message.id, receipt, 600, None).pop_receipt

    assert len(store._by_visibility) < 200


async def test_a_deleted_message_takes_no_memory_until_its_time_to_live_is_over(
    queue: MemoryQueueClient,
) -> None:
    tracemalloc.start()
    try:
        for number in range(1_000):
            await queue.send(f"{number:10000}")
            (message,) = await queue.receive(1, 600)
            await queue.delete(message.id, message.pop_receipt)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 2_000_000

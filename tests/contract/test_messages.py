"""What every queue service does with messages, receipts and time."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import LeaseLostError, QueueMissing, QueueRejected, QueueUnavailable
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient, QueueInspector, QueueService
from tests.contract.waiting import receive_soon, until

SLACK = timedelta(seconds=5)


async def test_a_sent_message_is_received_with_its_facts(queue: QueueClient) -> None:
    before = SystemClock().utcnow()
    sent = await queue.send("aGVsbG8=")

    (message,) = await queue.receive(1, 30)

    assert message.id == sent
    assert message.text == "aGVsbG8="
    assert message.dequeue_count == 1
    assert message.pop_receipt
    assert abs(message.inserted - before) < SLACK
    assert abs(message.expires - message.inserted - timedelta(days=7)) < SLACK
    assert abs(message.next_visible - before - timedelta(seconds=30)) < SLACK


async def test_an_empty_queue_gives_nothing(queue: QueueClient) -> None:
    assert list(await queue.receive(32, 30)) == []


async def test_a_received_message_is_hidden(queue: QueueClient) -> None:
    await queue.send("x")
    await queue.receive(1, 30)

    assert list(await queue.receive(1, 30)) == []


async def test_a_lapsed_lease_brings_the_message_back_with_a_higher_count(
    queue: QueueClient,
) -> None:
    await queue.send("x")
    (first,) = await queue.receive(1, 1)

    second = await receive_soon(queue)

    assert second.id == first.id
    assert (first.dequeue_count, second.dequeue_count) == (1, 2)
    assert second.pop_receipt != first.pop_receipt


async def test_whoever_takes_the_message_next_ends_the_receipt_before(queue: QueueClient) -> None:
    await queue.send("x")
    (first,) = await queue.receive(1, 1)
    second = await receive_soon(queue)

    with pytest.raises(LeaseLostError):
        await queue.update(first.id, first.pop_receipt, 30)
    with pytest.raises(LeaseLostError):
        await queue.delete(first.id, first.pop_receipt)
    await queue.delete(second.id, second.pop_receipt)


async def test_an_update_gives_a_new_receipt_and_ends_the_old(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 30)

    renewed = await queue.update(message.id, message.pop_receipt, 60)

    assert renewed.pop_receipt != message.pop_receipt
    assert renewed.next_visible - message.next_visible >= timedelta(seconds=29)
    with pytest.raises(LeaseLostError) as lost:
        await queue.update(message.id, message.pop_receipt, 60)
    assert lost.value.code == "PopReceiptMismatch"
    with pytest.raises(LeaseLostError):
        await queue.delete(message.id, message.pop_receipt)
    await queue.delete(message.id, renewed.pop_receipt)


async def test_an_update_to_zero_releases_the_message_at_once(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 300)

    released = await queue.update(message.id, message.pop_receipt, 0)

    assert message.next_visible - released.next_visible > timedelta(seconds=250)
    again = await receive_soon(queue)
    assert again.id == message.id
    assert again.dequeue_count == 2


async def test_an_update_does_not_count_as_a_delivery(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 30)
    renewed = await queue.update(message.id, message.pop_receipt, 30)
    await queue.update(message.id, renewed.pop_receipt, 0)

    assert (await receive_soon(queue)).dequeue_count == 2


async def test_an_update_without_a_text_keeps_it(queue: QueueClient) -> None:
    await queue.send("as it was")
    (message,) = await queue.receive(1, 30)

    await queue.update(message.id, message.pop_receipt, 0)

    assert (await receive_soon(queue)).text == "as it was"


@pytest.mark.parametrize("text", ["another", "", "<&> \r\n 😀"])
async def test_an_update_with_a_text_replaces_it(queue: QueueClient, text: str) -> None:
    await queue.send("as it was")
    (message,) = await queue.receive(1, 30)

    await queue.update(message.id, message.pop_receipt, 0, text)

    assert (await receive_soon(queue)).text == text


async def test_a_lapsed_lease_that_nobody_took_still_deletes(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 1)
    # Times are shown in whole seconds: this is surely past the lease.
    await until(message.next_visible + timedelta(seconds=1))

    await queue.delete(message.id, message.pop_receipt)

    assert list(await queue.receive(1, 30)) == []


async def test_deleting_twice_says_that_the_message_is_gone(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 30)
    await queue.delete(message.id, message.pop_receipt)

    with pytest.raises(LeaseLostError) as lost:
        await queue.delete(message.id, message.pop_receipt)

    assert (lost.value.status, lost.value.code) == (404, "MessageNotFound")
    with pytest.raises(LeaseLostError):
        await queue.update(message.id, message.pop_receipt, 30)


async def test_thirty_two_messages_come_at_once_and_no_more(queue: QueueClient) -> None:
    for number in range(33):
        await queue.send(str(number))

    batch = await queue.receive(32, 30)

    assert len(batch) == 32
    assert len(await queue.receive(32, 30)) == 1


@pytest.mark.parametrize("count", [0, 33])
async def test_a_batch_outside_one_to_thirty_two_is_refused(queue: QueueClient, count: int) -> None:
    with pytest.raises(QueueRejected) as refused:
        await queue.receive(count, 30)

    assert refused.value.status == 400


async def test_messages_come_in_the_order_of_their_sending(queue: QueueClient) -> None:
    for number in range(5):
        await queue.send(str(number))

    assert [message.text for message in await queue.receive(5, 30)] == list("01234")


@pytest.mark.parametrize("hidden_s", [0, 0.9, 7 * 86_400 + 1])
async def test_a_lease_under_a_second_or_over_a_week_is_refused(
    queue: QueueClient, hidden_s: float
) -> None:
    with pytest.raises(QueueRejected):
        await queue.receive(1, hidden_s)


async def test_parts_of_a_second_are_cut(queue: QueueClient) -> None:
    await queue.send("x")
    before = SystemClock().utcnow()

    (message,) = await queue.receive(1, 60.9)

    assert message.next_visible <= before + timedelta(seconds=61)


@pytest.mark.parametrize("hidden_s", [-1, 7 * 86_400 + 1])
async def test_an_update_outside_its_range_is_refused_and_keeps_the_receipt(
    queue: QueueClient, hidden_s: float
) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 30)

    with pytest.raises(QueueRejected):
        await queue.update(message.id, message.pop_receipt, hidden_s)

    await queue.delete(message.id, message.pop_receipt)


async def test_a_delayed_message_is_not_there_yet(queue: QueueClient) -> None:
    await queue.send("later", delay_s=1)

    assert list(await queue.receive(1, 30)) == []
    assert (await receive_soon(queue)).text == "later"


async def test_a_message_may_live_for_ever(queue: QueueClient) -> None:
    await queue.send("x", ttl_s=NEVER_EXPIRES_S)

    (message,) = await queue.receive(1, 30)

    assert message.expires.year == 9999


async def test_a_message_is_gone_after_its_time_to_live(queue: QueueClient) -> None:
    await queue.send("short", ttl_s=1)
    await queue.send("long")
    (short, _) = await queue.receive(2, 300)
    await until(short.expires + timedelta(seconds=1))

    with pytest.raises(LeaseLostError):
        await queue.update(short.id, short.pop_receipt, 0)

    assert list(await queue.receive(2, 30)) == []


@pytest.mark.parametrize(
    ("delay_s", "ttl_s"), [(None, 0), (None, -2), (5, 5), (6, 5), (-1, None), (604_801, None)]
)
async def test_times_that_cannot_be_are_refused(
    queue: QueueClient, delay_s: float | None, ttl_s: float | None
) -> None:
    with pytest.raises(QueueRejected):
        await queue.send("x", delay_s=delay_s, ttl_s=ttl_s)


async def test_a_missing_queue_is_named_as_such_by_every_verb(
    service: QueueService, queue_name: str
) -> None:
    missing = service.queue(queue_name)

    assert not await missing.exists()
    with pytest.raises(QueueMissing):
        await missing.receive(1, 30)
    with pytest.raises(QueueMissing):
        await missing.send("x")
    with pytest.raises(QueueMissing):
        await missing.update("5f7f4f30-0b30-4bd8-8b8a-3a4f7ef5f1b2", "AAAA", 30)
    with pytest.raises(QueueMissing):
        await missing.delete("5f7f4f30-0b30-4bd8-8b8a-3a4f7ef5f1b2", "AAAA")


async def test_creating_a_queue_again_is_no_error(service: QueueService, queue_name: str) -> None:
    queue = service.queue(queue_name)
    await queue.create()
    await queue.send("x")

    await queue.create()

    assert await queue.exists()
    assert len(await queue.receive(1, 30)) == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *((name, "OutOfRangeInput") for name in ("ab", "a" * 64)),
        *((name, "InvalidResourceName") for name in ("Orders", "a--b", "-ab", "ab-", "a_b", "a b")),
    ],
)
async def test_a_name_that_no_queue_can_have_is_refused(
    service: QueueService, name: str, code: str
) -> None:
    with pytest.raises(QueueRejected) as refused:
        await service.queue(name).create()

    assert (refused.value.status, refused.value.code) == (400, code)


async def test_equal_queues_have_equal_addresses(service: QueueService, queue_name: str) -> None:
    assert service.queue(queue_name).address == service.queue(queue_name).address
    assert service.queue(queue_name).address != service.queue(f"{queue_name}-poison").address
    assert service.queue(queue_name).name == queue_name


async def test_a_closed_service_is_unavailable(service: QueueService, queue: QueueClient) -> None:
    await service.close()

    with pytest.raises(QueueUnavailable):
        await queue.receive(1, 30)
    with pytest.raises(QueueUnavailable):
        await queue.exists()


async def test_looking_takes_nothing(service: QueueService, queue: QueueClient) -> None:
    inspector = cast("QueueInspector", queue)
    await queue.send("hidden")
    await queue.receive(1, 30)
    for number in range(3):
        await queue.send(str(number))

    seen = await inspector.peek(2)
    seen_again = await inspector.peek(32)

    assert [message.text for message in seen] == ["0", "1"]
    assert [(m.text, m.dequeue_count, m.pop_receipt) for m in seen_again] == [
        (str(number), 0, "") for number in range(3)
    ]
    assert await inspector.approximate_count() == 4
    assert len(await queue.receive(32, 30)) == 3


async def test_looking_at_a_missing_queue(service: QueueService, queue_name: str) -> None:
    inspector = cast("QueueInspector", service.queue(queue_name))

    with pytest.raises(QueueMissing):
        await inspector.peek(1)
    with pytest.raises(QueueMissing):
        await inspector.approximate_count()


@pytest.mark.parametrize("name", ["Orders", "ab"])
async def test_whether_a_queue_of_a_bad_name_exists_is_refused(
    service: QueueService, name: str
) -> None:
    with pytest.raises(QueueRejected):
        await service.queue(name).exists()

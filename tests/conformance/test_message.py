"""One message from its receipt to its end: renewals, settlement, and answers that are no errors."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import InvocationFinished, LeaseEnded, MessagePoisoned, SettlementFailed
from qtrigger.invocation import Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.conformance.answers import BUSY, GONE, name_of
from tests.unit.harness import PLAIN, Bench, fail, output

EVERY_SECOND = replace(PLAIN, max_polling_interval_s=1.0)


async def redelivered(bench: Bench, times: int) -> None:
    """Put a message that has been received that often before."""
    await bench.queue.create()
    await bench.queue.send("a")
    for _ in range(times):
        (message,) = await bench.queue.receive(1, 600.0)
        await bench.queue.update(message.id, message.pop_receipt, 0.0)


@pytest.mark.parametrize(("before", "runs"), [(3, 2), (4, 1), (5, 0), (90, 0)])
async def test_tries_before_this_host_count(before: int, runs: int) -> None:
    bench = Bench(fail)
    await redelivered(bench, before)
    await bench.start()

    await bench.clock.advance(10.0)

    assert len(bench.bodies) == runs
    assert bench.left("orders-poison") == ["a"]
    assert bench.probe.of(MessagePoisoned)[0].dequeue_count == max(5, before + 1)
    await bench.stop()


async def test_without_a_poison_queue_a_message_runs_whatever_its_count() -> None:
    bench = Bench(queue="orders-poison")
    await redelivered(bench, 90)
    await bench.start()

    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_an_undecodable_message_disturbs_none_of_its_batch_and_is_named() -> None:
    bench = Bench(options=QueueOptions())
    texts = [base64.b64encode(str(n).encode()).decode() for n in range(10)]
    await bench.start(*texts[:5], "AAAA!AAA", *texts[5:])
    bad_id = bench.service.peek_all("orders")[5].id

    await bench.clock.advance(1.0)

    assert bench.bodies == [str(n).encode() for n in range(10)]
    assert [told.message_id for told in bench.probe.of(MessagePoisoned)] == [bad_id]
    assert (bench.left(), bench.left("orders-poison")) == ([], ["AAAA!AAA"])
    await bench.stop()


@pytest.mark.parametrize("body", [b"", b"\xff\x00", b"\xc7\xc7\x00\x92", "é".encode()])
async def test_any_bytes_are_delivered_as_they_are(body: bytes) -> None:
    bench = Bench(options=QueueOptions())
    await bench.start(base64.b64encode(body).decode())

    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([body], [])
    await bench.stop()


@pytest.mark.parametrize("error", GONE, ids=name_of)
@pytest.mark.parametrize(("verb", "body"), [("delete", Bench.succeed), ("update", fail)])
async def test_a_settlement_of_a_message_that_is_gone_is_no_error(
    error: QueueError, verb: str, body: Callable[[TriggerMessage], object]
) -> None:
    bench = Bench(body)  # type: ignore[arg-type]  # either of two bodies
    bench.service.fail(verb, error)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.probe.of(SettlementFailed) == []
    first = bench.probe.of(InvocationFinished)[0]
    assert (first.disposition, first.settled) == ("dropped", True)
    assert bench.service.requests[verb] == 1
    await bench.stop()


@pytest.mark.parametrize("pause_s", [0.0, 45.0])
async def test_a_failure_is_released_for_the_visibility_timeout_with_its_text_unchanged(
    pause_s: float,
) -> None:
    bench = Bench(fail, options=replace(EVERY_SECOND, visibility_timeout_s=pause_s))
    await bench.start("a")

    await bench.clock.advance(pause_s + 10.0)

    assert bench.bodies == [b"a"] * (2 if pause_s else 5)
    await bench.stop()


async def test_a_release_through_throttling_is_tried_again_and_loses_no_try() -> None:
    bench = Bench(fail)
    bench.service.fail("update", BUSY, times=6)
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert [event.dequeue_count for event in bench.probe.of(InvocationFinished)] == [1, 2, 3, 4, 5]
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


async def test_a_right_that_is_missing_for_releases_leaves_the_message_to_its_lease() -> None:
    bench = Bench(fail, options=EVERY_SECOND)
    bench.service.fail("update", AccessDenied("the role X is missing", status=403), times=None)
    await bench.start("a")

    await bench.clock.advance(599.0)
    assert (len(bench.bodies), bench.left()) == (1, ["a"])
    await bench.clock.advance(2.0)

    assert len(bench.bodies) == 2
    assert "the role X is missing" in bench.probe.of(SettlementFailed)[0].message
    await bench.stop()


async def test_a_failure_without_a_poison_queue_is_left_alone_until_its_lease_ends() -> None:
    bench = Bench(fail, queue="orders-poison", options=EVERY_SECOND)
    await bench.start("a")

    await bench.clock.advance(599.5)
    assert (len(bench.bodies), bench.service.requests["update"]) == (1, 0)
    await bench.clock.advance(2.0)

    assert len(bench.bodies) == 2
    await bench.stop()


async def test_a_failure_without_a_poison_queue_waits_the_visibility_timeout_where_given() -> None:
    options = replace(EVERY_SECOND, visibility_timeout_s=20.0)
    bench = Bench(fail, queue="orders-poison", options=options)
    await bench.start("a")

    await bench.clock.advance(90.0)

    assert 4 <= len(bench.bodies) <= 5
    await bench.stop()


async def test_outputs_go_out_before_the_message_is_deleted() -> None:
    async def writes(_message: TriggerMessage) -> Outcome:
        items = (OutputItem(body=b"1"), OutputItem(body=b"2"))
        return Succeeded(outputs=(Output(binding="out", items=items),))

    bench = Bench(writes, outputs=(output("out", "receipts"),))
    await bench.start("a")
    await bench.clock.advance(1.0)

    assert bench.service.order("send", "delete")[1:] == [
        ("send", "receipts"),
        ("send", "receipts"),
        ("send", "receipts"),
        ("delete", "orders"),
    ]
    await bench.stop()


async def test_messages_of_a_batch_run_at_once_and_end_in_any_order() -> None:
    gates: dict[bytes, asyncio.Event] = {name: asyncio.Event() for name in (b"a", b"b", b"c")}

    async def waits(message: TriggerMessage) -> Outcome:
        await gates[message.body].wait()
        return Succeeded()

    bench = Bench(waits)
    await bench.start("a", "b", "c")
    await bench.clock.advance(0.0)
    assert bench.most_at_once == 3

    gates[b"c"].set()
    await bench.clock.advance(0.0)
    assert bench.left() == ["a", "b"]
    gates[b"a"].set()
    gates[b"b"].set()
    await bench.stop()
    assert bench.left() == []


async def test_a_settlement_is_tried_for_as_long_as_the_lease_lasts() -> None:
    bench = Bench(lease_s=10.0)
    bench.service.fail("delete", BUSY, times=None)
    await bench.start("a")
    await bench.clock.advance(8.5)
    bench.service.mend()

    await bench.clock.advance(100.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    assert bench.probe.of(SettlementFailed) == []
    assert bench.service.requests["delete"] <= 10
    await bench.stop()


async def test_a_settlement_that_never_succeeds_has_an_end_and_is_told() -> None:
    bench = Bench(lease_s=600.0)
    bench.service.fail("delete", BUSY, times=None)
    await bench.start("a")

    await bench.clock.advance(599.9)

    assert len(bench.probe.of(SettlementFailed)) == 1
    assert bench.service.requests["delete"] <= 75
    bench.service.mend()
    await bench.stop()


async def test_a_release_whose_answer_is_lost_is_a_release() -> None:
    bench = Bench(fail)
    lost = QueueUnavailable("no answer", code="BrokenOff")
    bench.service.fail("update", lost, carried_out=True)
    await bench.start("a")

    await bench.clock.advance(10.0)

    told = {each.dequeue_count: each.disposition for each in bench.probe.of(InvocationFinished)}
    assert told == {1: "retried", 2: "retried", 3: "retried", 4: "retried", 5: "poisoned"}
    assert bench.probe.of(LeaseEnded) == []
    assert (len(bench.bodies), bench.left("orders-poison")) == (5, ["a"])
    await bench.stop()

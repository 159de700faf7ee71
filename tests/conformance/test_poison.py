"""Where a message goes that will not succeed: copied first, as it stands, for ever."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, LeaseLostError, QueueUnavailable
from qtrigger.events import MessagePoisoned, QueueStateChanged, SettlementFailed
from qtrigger.invocation import ErrorDetail, Failed, Outcome, Rejected, TriggerMessage
from qtrigger.project.model import QueueOptions
from qtrigger.project.options import CircuitBreaker, OwnOptions
from tests.conformance.answers import BUSY
from tests.unit.harness import PLAIN, Bench, fail

ONCE = replace(PLAIN, max_dequeue_count=1)


async def test_the_copy_is_made_before_the_original_is_deleted() -> None:
    bench = Bench(fail, options=ONCE)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.service.order("send", "create", "delete")[2:] == [
        ("send", "orders-poison"),
        ("create", "orders-poison"),
        ("send", "orders-poison"),
        ("delete", "orders"),
    ]
    await bench.stop()


async def test_an_end_between_copy_and_delete_duplicates_and_never_loses() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.slow("delete", 100.0)
    await bench.start("a")

    await bench.clock.advance(1.0)
    bench.listener.stop_polling()
    bench.listener.cancel()
    await bench.clock.advance(1.0)

    assert (bench.left(), bench.left("orders-poison")) == (["a"], ["a"])


async def test_a_copy_that_is_refused_keeps_the_original_and_says_so() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.fail(
        "send", AccessDenied("may not add", status=403), queue="orders-poison", times=None
    )
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert (bench.left(), bench.probe.of(MessagePoisoned)) == (["a"], [])
    assert "may not add" in bench.probe.of(SettlementFailed)[0].message
    assert bench.service.requests["delete"] == 0
    await bench.stop()


@pytest.mark.parametrize("verb", ["send", "create"])
async def test_throttling_delays_the_move_and_repeats_nothing(verb: str) -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.fail(verb, BUSY, queue="orders-poison", times=7)
    await bench.start("a")

    await bench.clock.advance(100.0)

    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    assert len(bench.bodies) == 1
    await bench.stop()


async def test_a_copy_whose_answer_is_lost_is_made_twice_at_most() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.make("orders-poison")
    lost = QueueUnavailable("no answer", code="BrokenOff")
    bench.service.fail("send", lost, queue="orders-poison", carried_out=True)
    await bench.start("a")

    await bench.clock.advance(3000.0)

    assert (bench.left(), bench.left("orders-poison")) == ([], ["a", "a"])
    await bench.stop()


@pytest.mark.parametrize(
    ("outcome", "own", "limit"),
    [
        (Rejected(reason="no"), OwnOptions(), 5),
        (
            Failed(error=ErrorDetail(type="ValueError", message="no")),
            OwnOptions(breaker=CircuitBreaker(failures=10, distinct_messages=3, pause_s=1.0)),
            1,
        ),
    ],
    ids=["rejected", "under a breaker"],
)
async def test_what_was_copied_and_comes_back_is_deleted_and_not_run_again(
    outcome: Outcome, own: OwnOptions, limit: int
) -> None:
    async def body(_message: TriggerMessage) -> Outcome:
        return outcome

    bench = Bench(body, options=replace(PLAIN, max_dequeue_count=limit), own=own, lease_s=60.0)
    bench.service.fail("delete", BUSY, times=None)
    await bench.start("bad")
    await bench.clock.advance(59.0)
    assert bench.left("orders-poison") == ["bad"]
    await bench.clock.advance(10.0)
    bench.service.mend()
    await bench.clock.advance(120.0)

    assert (bench.left(), bench.left("orders-poison")) == ([], ["bad"])
    assert bench.bodies == [b"bad"]
    assert len(bench.probe.of(MessagePoisoned)) == 1
    await bench.stop()


async def test_an_original_taken_by_somebody_else_meanwhile_is_no_error() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.fail("delete", LeaseLostError("x", status=400, code="PopReceiptMismatch"))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.left("orders-poison") == ["a"]
    assert bench.probe.of(SettlementFailed) == []
    await bench.stop()


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b"x" * 49_152).decode(),
        "YW\nJj",
        " YWJj ",
        "",
        "not base64 at all",
        '{"a":1}',
        "x" * 65_536,
    ],
    ids=["largest", "wrapped", "padded", "empty", "prose", "json", "largest prose"],
)
async def test_the_copy_is_the_text_as_it_stood_on_the_wire(text: str) -> None:
    bench = Bench(fail, options=QueueOptions(max_dequeue_count=1))
    await bench.start(text)

    await bench.clock.advance(1.0)

    assert (bench.left(), bench.left("orders-poison")) == ([], [text])
    await bench.stop()


async def test_undecodable_messages_count_as_found() -> None:
    bench = Bench(options=QueueOptions(batch_size=4, new_batch_threshold=0))
    await bench.start(*["no base64!"] * 40)

    await bench.clock.advance(0.0)

    assert bench.clock.monotonic() == 0.0
    assert len(bench.left("orders-poison")) == 40
    await bench.stop()


async def test_an_undecodable_message_without_a_poison_queue_is_left_alone_and_told() -> None:
    bench = Bench(queue="orders-poison", options=QueueOptions(max_polling_interval_s=1.0))
    await bench.start("no base64!")

    await bench.clock.advance(599.0)

    assert (bench.bodies, bench.left()) == ([], ["no base64!"])
    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.poison_queue, told.reason) == ("", "undecodable")
    await bench.stop()


async def test_no_poison_queue_is_made_while_everything_succeeds() -> None:
    bench = Bench()
    await bench.start(*"abc")

    await bench.clock.advance(60.0)

    assert bench.service.names() == ["orders"]
    await bench.stop()


async def test_the_move_is_told_with_count_limit_and_queue() -> None:
    bench = Bench(fail)
    await bench.start("a")

    await bench.clock.advance(10.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.queue, told.poison_queue, told.max_dequeue_count) == (
        "orders",
        "orders-poison",
        5,
    )
    assert told.invocation_id
    assert bench.probe.of(QueueStateChanged) == []
    await bench.stop()


async def test_the_copy_begins_anew_and_never_expires() -> None:
    bench = Bench(fail)
    await bench.start("a")
    original = bench.service.peek_all("orders")[0].id

    await bench.clock.advance(10.0)

    (copy,) = bench.service.peek_all("orders-poison")
    assert copy.id != original
    assert (copy.dequeue_count, copy.expires.year) == (0, 9999)
    await bench.stop()

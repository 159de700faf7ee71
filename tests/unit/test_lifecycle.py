"""Every message reaches one named end, and outputs are written before it."""

from __future__ import annotations

import base64

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueMissing, QueueUnavailable
from qtrigger.events import (
    InvocationFinished,
    MessagePoisoned,
    SettlementFailed,
)
from qtrigger.invocation import (
    Failed,
    Interrupted,
    Outcome,
    Output,
    OutputItem,
    Postponed,
    Rejected,
    Succeeded,
    TriggerMessage,
)
from qtrigger.project.model import QueueOptions
from tests.unit.harness import Bench, Body, fail, output

BASE64 = QueueOptions()


def base64_text(body: bytes) -> str:
    return base64.b64encode(body).decode()


def writes(*bodies: bytes, to: str = "out") -> Body:
    async def body(_message: TriggerMessage) -> Outcome:
        items = tuple(OutputItem(body=each) for each in bodies)
        return Succeeded(outputs=(Output(binding=to, items=items),))

    return body


async def test_a_success_deletes_the_message() -> None:
    bench = Bench()
    await bench.start("a")

    await bench.clock.advance(1.0)

    (finished,) = bench.probe.of(InvocationFinished)
    assert (finished.disposition, finished.dequeue_count, finished.settled) == ("acked", 1, True)
    assert bench.left() == []
    await bench.stop()


async def test_a_failure_is_called_exactly_five_times_and_stands_byte_for_byte_in_poison() -> None:
    body = bytes(range(256))
    bench = Bench(fail, options=BASE64)
    await bench.start(base64_text(body))

    await bench.clock.advance(30.0)

    assert bench.bodies == [body] * 5
    assert bench.left("orders") == []
    (copy,) = bench.service.peek_all("orders-poison")
    assert base64.b64decode(copy.text) == body
    assert copy.expires.year == 9999
    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.reason, told.poison_queue, told.dequeue_count) == ("tries", "orders-poison", 5)
    await bench.stop()


async def test_a_failed_try_waits_the_visibility_timeout() -> None:
    bench = Bench(fail, options=QueueOptions(message_encoding="none", visibility_timeout_s=30.0))
    await bench.start("a")

    await bench.clock.advance(29.0)
    assert len(bench.bodies) == 1
    await bench.clock.advance(61.0)

    assert len(bench.bodies) >= 2
    assert bench.probe.of(InvocationFinished)[0].retry_after_s == 30.0
    await bench.stop()


@pytest.mark.parametrize("text", ['{"a": 1}', "b'eyJhIjoxfQ=='", "not base64!"])
async def test_a_text_that_is_not_base64_goes_to_poison_unchanged_and_never_runs(text: str) -> None:
    bench = Bench(options=BASE64)
    await bench.start(text, base64_text(b"good"))

    await bench.clock.advance(1.0)

    assert bench.bodies == [b"good"]
    assert bench.left("orders-poison") == [text]
    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.reason, told.dequeue_count) == ("undecodable", 1)
    assert "messageEncoding" in told.detail
    await bench.stop()


async def test_a_message_whose_tries_died_with_their_hosts_is_poisoned_without_a_run() -> None:
    bench = Bench()
    await bench.queue.create()
    await bench.queue.send("a")
    for _ in range(5):
        (message,) = await bench.queue.receive(1, 1.0)
        await bench.queue.update(message.id, message.pop_receipt, 0.0)
    await bench.start()

    await bench.clock.advance(1.0)

    assert bench.bodies == []
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


async def test_a_poison_queue_has_none_of_its_own_and_its_messages_always_run() -> None:
    bench = Bench(fail, queue="orders-poison")
    await bench.start("a")

    await bench.clock.advance(6 * 660.0 + 60.0)

    assert len(bench.bodies) == 7
    assert bench.service.names() == ["orders-poison"]
    assert {event.disposition for event in bench.probe.of(InvocationFinished)} == {"abandoned"}
    await bench.stop()


async def test_later_comes_back_after_its_delay_without_counting_as_a_failure() -> None:
    async def later(_message: TriggerMessage) -> Outcome:
        return Postponed(delay_s=90.0)

    bench = Bench(later)
    await bench.start("a")

    await bench.clock.advance(89.0)
    assert len(bench.bodies) == 1
    await bench.clock.advance(70.0)

    assert len(bench.bodies) == 2
    assert bench.probe.of(InvocationFinished)[0].disposition == "released"
    await bench.stop()


async def test_reject_goes_to_poison_on_its_first_try_with_its_reason() -> None:
    async def reject(_message: TriggerMessage) -> Outcome:
        return Rejected(reason="no such customer")

    bench = Bench(reject)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.reason, told.detail) == ("rejected", "no such customer")
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


async def test_an_interrupted_message_is_visible_again_at_once() -> None:
    async def interrupted(_message: TriggerMessage) -> Outcome:
        bench.listener.stop_polling()
        return Interrupted()

    bench = Bench(interrupted)
    await bench.start("a")

    await bench.stop()

    assert bench.service.counts("orders").visible == 1


async def test_outputs_are_written_in_order_before_the_message_is_deleted() -> None:
    bench = Bench(writes(b"1", b"2", b"3"), outputs=(output("out", "receipts"),))
    bench.service.fail("delete", QueueUnavailable("down"), times=None)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == ["1", "2", "3"]
    assert bench.left() == ["a"]
    bench.service.mend()
    await bench.stop()


async def test_an_output_that_cannot_be_written_fails_the_run() -> None:
    bench = Bench(writes(b"1"), outputs=(output("out", "receipts"),))
    bench.service.fail("send", AccessDenied("may not add", status=403), queue="receipts")
    await bench.start("a")

    await bench.clock.advance(1.0)

    first, second = bench.probe.of(InvocationFinished)
    assert isinstance(first.outcome, Failed)
    assert "output 'out': could not write to queue 'receipts'" in first.outcome.error.message
    assert second.disposition == "acked"
    await bench.stop()


@pytest.mark.parametrize(
    "item",
    [
        OutputItem(body=b"x", delay_s=float("nan")),
        OutputItem(body=b"x", delay_s=float("inf")),
        OutputItem(body=b"x", delay_s=-1.0),
        OutputItem(body=b"x", ttl_s=float("inf")),
        OutputItem(body=b"x", ttl_s=0.0),
    ],
    ids=str,
)
async def test_times_that_the_service_cannot_take_fail_the_run(item: OutputItem) -> None:
    async def body(_message: TriggerMessage) -> Outcome:
        return Succeeded(outputs=(Output(binding="out", items=(item,)),))

    bench = Bench(body, outputs=(output("out", "receipts"),))
    await bench.start("a")

    await bench.clock.advance(5.0)

    finished = bench.probe.of(InvocationFinished)
    assert isinstance(finished[0].outcome, Failed)
    assert "output 'out', item 0: its" in finished[0].outcome.error.message
    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    await bench.stop()


async def test_an_item_that_does_not_fit_leaves_nothing_half_written() -> None:
    bench = Bench(writes(b"fits", b"x" * 65_537), outputs=(output("out", "receipts"),))
    await bench.start("a")

    await bench.clock.advance(1.0)

    finished = bench.probe.of(InvocationFinished)
    assert len(finished) == 5
    assert isinstance(finished[0].outcome, Failed)
    assert "item 1" in finished[0].outcome.error.message
    assert "65,536" in finished[0].outcome.error.message
    assert bench.left("receipts") == []
    await bench.stop()


async def test_an_output_wakes_the_listener_of_its_queue_in_this_process() -> None:
    bench = Bench(writes(b"1"), outputs=(output("out", "receipts"),))
    woken: list[str] = []
    bench.assembly.wakeups.register(
        bench.service.queue("receipts").address, lambda: woken.append("receipts")
    )
    bench.assembly.wakeups.register(
        bench.service.queue("orders-poison").address, lambda: woken.append("poison")
    )
    await bench.start("a")
    await bench.clock.advance(1.0)
    bench.body = fail
    await bench.queue.send("b")
    await bench.clock.advance(10.0)

    assert woken == ["receipts", "poison"]
    await bench.stop()


async def test_a_passing_fault_does_not_lose_an_ack() -> None:
    bench = Bench()
    bench.service.fail("delete", QueueUnavailable("busy", status=503), times=5)
    await bench.start("a")

    await bench.clock.advance(30.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_a_delete_whose_answer_is_lost_is_a_success() -> None:
    bench = Bench()
    bench.service.fail("delete", QueueUnavailable("no answer"), carried_out=True)
    await bench.start("a")

    await bench.clock.advance(5.0)

    assert [event.disposition for event in bench.probe.of(InvocationFinished)] == ["acked"]
    assert bench.probe.of(SettlementFailed) == []
    await bench.stop()


@pytest.mark.parametrize("verb", ["update", "delete"])
async def test_a_settlement_that_is_refused_is_told_and_the_message_kept(verb: str) -> None:
    bench = Bench(fail if verb == "update" else Bench.succeed)
    bench.service.fail(verb, AccessDenied(f"may not {verb}", status=403), times=None)
    await bench.start("a")

    await bench.clock.advance(100.0)

    (told,) = bench.probe.of(SettlementFailed)
    assert f"may not {verb}" in told.message
    assert bench.left() == ["a"]
    assert bench.probe.of(InvocationFinished)[0].settled is False
    await bench.stop()


@pytest.mark.parametrize(
    ("error", "carried_out"),
    [(QueueUnavailable("500", status=500), False), (AccessDenied("no", status=403), False)],
)
async def test_a_poison_copy_whose_original_stays_is_not_made_twice(
    error: QueueError, carried_out: bool
) -> None:
    bench = Bench(fail, options=QueueOptions(message_encoding="none", max_dequeue_count=1))
    bench.service.fail("delete", error, times=None, carried_out=carried_out)
    await bench.start("a")

    await bench.clock.advance(3000.0)
    assert bench.left("orders-poison") == ["a"]
    bench.service.mend()
    await bench.clock.advance(700.0)

    assert bench.left("orders-poison") == ["a"]
    assert bench.left() == []
    await bench.stop()


async def test_a_poison_queue_that_is_being_deleted_delays_the_move_and_loses_nothing() -> None:
    bench = Bench(fail, options=QueueOptions(message_encoding="none", max_dequeue_count=1))
    deleting = QueueMissing("being deleted", status=409, code="QueueBeingDeleted")
    bench.service.fail("create", deleting, times=3, queue="orders-poison")
    await bench.start("a")

    await bench.clock.advance(0.1)
    assert bench.probe.of(MessagePoisoned) == []
    await bench.clock.advance(10.0)

    assert len(bench.probe.of(MessagePoisoned)) == 1
    assert (bench.left("orders-poison"), bench.left()) == (["a"], [])
    await bench.stop()


async def test_a_pause_longer_than_the_lease_still_leaves_a_try_in_time() -> None:
    bench = Bench(lease_s=60.0)
    bench.service.fail("delete", QueueUnavailable("busy", status=503, retry_after_s=86_400.0))
    await bench.start("a")

    await bench.clock.advance(59.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_a_poison_queue_is_made_when_it_is_first_needed() -> None:
    bench = Bench(fail)
    await bench.start("a")
    assert "orders-poison" not in bench.service.names()

    await bench.clock.advance(5.0)

    assert "orders-poison" in bench.service.names()
    await bench.stop()


@pytest.mark.parametrize("length", [56, 57])
async def test_a_name_too_long_for_a_poison_queue_has_none(length: int) -> None:
    name = "q" * length
    bench = Bench(fail, queue=name)
    await bench.start("a")

    await bench.clock.advance(5.0)

    expected = [f"{name}-poison", name] if length == 56 else [name]
    assert sorted(bench.service.names()) == sorted(expected)
    await bench.stop()


async def test_an_output_name_that_cannot_be_resolved_fails_the_run_and_names_the_expression() -> (
    None
):
    bench = Bench(
        writes(b"1"),
        options=QueueOptions(message_encoding="none", max_dequeue_count=1),
        outputs=(output("out", "{customer}-q"),),
    )
    texts = ['{"customer": "A_B"}', "[]", '{"customer": null}']
    await bench.start(*texts)

    await bench.clock.advance(1.0)

    for finished in bench.probe.of(InvocationFinished):
        assert isinstance(finished.outcome, Failed)
        assert "{customer}" in finished.outcome.error.message
    assert sorted(bench.left("orders-poison")) == sorted(texts)
    await bench.stop()

"""Functions that ask for their message later, or never again."""

from __future__ import annotations

from qtrigger.events import InvocationFinished, MessagePoisoned
from qtrigger.invocation import Outcome, Postponed, Rejected, TriggerMessage
from tests.unit.harness import Bench, fail


async def later(_message: TriggerMessage) -> Outcome:
    return Postponed(delay_s=600.0)


async def reject(_message: TriggerMessage) -> Outcome:
    return Rejected(reason="no such order")


async def test_a_postponed_message_is_hidden_for_its_delay_at_the_service() -> None:
    bench = Bench(later)
    await bench.start("x")

    await bench.probe.wait_for(InvocationFinished)
    (message,) = bench.service.peek_all("orders")
    hidden_s = (message.next_visible - bench.clock.utcnow()).total_seconds()
    await bench.stop()

    assert hidden_s == 600.0


async def test_a_postponed_message_comes_back_after_its_delay_and_not_before() -> None:
    bench = Bench(later)
    await bench.start("x")
    await bench.clock.advance(599.0)
    assert len(bench.invocations) == 1

    await bench.clock.advance(61.0)  # the longest pause between two polls

    assert len(bench.invocations) == 2
    await bench.stop()


async def test_being_postponed_costs_no_try() -> None:
    """Postponed twelve times, it has its five tries all the same."""
    bench = Bench(later)
    await bench.start("x")
    for count in range(2, 13):
        await bench.clock.advance(660.0)
        assert len(bench.invocations) == count
    bench.body = fail
    await bench.clock.advance(3600.0)
    await bench.stop()

    assert bench.left("orders-poison") == ["x"]
    assert len(bench.invocations) == 12 + 5
    last = bench.invocations[-1]
    assert last.messages[0].dequeue_count == last.max_dequeue_count == 17


async def test_a_new_process_knows_nothing_of_postponed_tries() -> None:
    first = Bench(later)
    await first.start("x")
    for _ in range(4):
        await first.clock.advance(660.0)
    assert len(first.invocations) == 5
    await first.stop()
    second = Bench(later, beside=first)

    await second.start()
    await second.clock.advance(660.0)
    await second.stop()

    assert second.invocations == []
    assert second.left("orders-poison") == ["x"]


async def test_a_rejected_message_is_poison_at_once_with_its_reason() -> None:
    bench = Bench(reject)
    await bench.start("x")
    (poisoned,) = await bench.probe.wait_for(MessagePoisoned)
    await bench.stop()

    assert (poisoned.reason, poisoned.detail) == ("rejected", "no such order")
    assert (poisoned.dequeue_count, len(bench.invocations)) == (1, 1)
    assert (bench.left(), bench.left("orders-poison")) == ([], ["x"])

"""The poll loop: when it asks, how much it takes, how long it waits."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueRejected, QueueUnavailable
from qtrigger.events import InvocationFinished, PollFinished, QueueStateChanged, SettlementFailed
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import Bench, fail


def options(**changes: float) -> QueueOptions:
    return QueueOptions(message_encoding="none", **changes)  # type: ignore[arg-type]  # numbers


class Gate:
    """A function body that waits until the test lets it go."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Event] = []

    async def __call__(self, _message: TriggerMessage) -> Outcome:
        event = asyncio.Event()
        self.waiting.append(event)
        await event.wait()
        return Succeeded()

    def let_go(self, count: int) -> None:
        for event in self.waiting[:count]:
            event.set()
        del self.waiting[:count]


async def poll_times(bench: Bench, until_s: float) -> list[float]:
    """The moments of the polls, by letting time pass in steps of a millisecond."""
    times: list[float] = []
    seen = 0
    while bench.clock.monotonic() < until_s:
        count = len(bench.probe.of(PollFinished))
        times.extend([round(bench.clock.monotonic(), 3)] * (count - seen))
        seen = count
        await bench.clock.advance(0.01)
    return times


async def test_an_empty_queue_is_polled_with_growing_waits() -> None:
    bench = Bench()
    await bench.start()

    times = await poll_times(bench, 2.5)

    assert times == pytest.approx([0.0, 0.1, 0.3, 0.6, 1.1, 2.0], abs=0.011)
    await bench.stop()


async def test_there_is_no_pause_between_polls_that_find_messages() -> None:
    bench = Bench(options=options(batch_size=2, new_batch_threshold=1))
    await bench.start(*"abcdef")

    await bench.clock.advance(0.0)

    assert bench.bodies == [b"a", b"b", b"c", b"d", b"e", b"f"]
    assert bench.clock.monotonic() == 0.0
    await bench.stop()


async def test_a_batch_asks_for_batch_size_and_the_lease() -> None:
    gate = Gate()
    bench = Bench(gate, options=options(batch_size=3, new_batch_threshold=0), lease_s=600.0)
    await bench.start(*"abcd")

    await bench.clock.advance(0.0)

    hidden = [m for m in bench.service.peek_all("orders") if m.next_visible > m.inserted]
    assert len(hidden) == 3
    assert {(m.next_visible - m.inserted).total_seconds() for m in hidden} == {600.0}
    gate.let_go(3)
    await bench.clock.advance(0.0)
    gate.let_go(1)
    await bench.stop()


async def test_the_next_batch_is_asked_for_at_the_threshold_and_not_before() -> None:
    gate = Gate()
    bench = Bench(gate, options=options(batch_size=4, new_batch_threshold=2))
    await bench.start(*"abcdefghijkl")
    await bench.clock.advance(0.0)
    assert bench.listener.running == 4

    gate.let_go(1)
    await bench.clock.advance(60.0)
    assert (bench.listener.running, len(bench.probe.of(PollFinished))) == (3, 1)

    gate.let_go(1)
    await bench.clock.advance(0.0)
    assert (bench.listener.running, len(bench.probe.of(PollFinished))) == (6, 2)

    for _ in range(4):
        gate.let_go(6)
        await bench.clock.advance(0.0)
    assert bench.most_at_once == 6
    assert bench.left() == []
    await bench.stop()


async def test_batch_size_one_and_threshold_zero_is_strictly_one_at_a_time() -> None:
    bench = Bench(options=options(batch_size=1, new_batch_threshold=0))
    await bench.start(*"abcde")

    await bench.clock.advance(1.0)

    assert bench.most_at_once == 1
    assert bench.bodies == [b"a", b"b", b"c", b"d", b"e"]
    await bench.stop()


async def test_a_delete_under_way_holds_no_slot() -> None:
    bench = Bench(options=options(batch_size=1, new_batch_threshold=0))
    bench.service.slow("delete", 5.0)
    await bench.start("a", "b")

    await bench.clock.advance(0.0)

    assert bench.bodies == [b"a", b"b"]
    assert bench.listener.unsettled == 1
    await bench.stop()


async def test_settlements_that_pile_up_stop_the_polling() -> None:
    bench = Bench(options=options(batch_size=1, new_batch_threshold=0))
    bench.service.slow("delete", 5.0, times=None)
    await bench.start(*"abcdef")

    await bench.clock.advance(4.9)

    assert len(bench.bodies) == 2
    bench.service.mend()
    await bench.clock.advance(1.0)
    assert len(bench.bodies) == 6
    await bench.stop()


async def test_a_wake_up_ends_the_back_off_wait() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(300.0)
    await bench.queue.send("a")

    bench.listener.wake()
    await bench.clock.advance(0.0)

    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_a_missing_queue_is_told_once_and_picked_up_when_created() -> None:
    bench = Bench(options=options(max_polling_interval_s=2.0))
    await bench.start("a")
    bench.service.remove("orders")

    await bench.clock.advance(60.0)
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == ["missing"]
    assert bench.service.requests["receive"] == 0

    await bench.queue.create()
    await bench.queue.send("b")
    await bench.clock.advance(2.0)
    assert bench.bodies == [b"b"]
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == ["missing", "ok"]
    await bench.stop()


async def test_a_queue_deleted_under_the_listener_is_picked_up_again() -> None:
    bench = Bench(options=options(max_polling_interval_s=2.0))
    await bench.start("a")
    await bench.clock.advance(10.0)

    bench.service.remove("orders")
    await bench.clock.advance(60.0)
    await bench.queue.create()
    await bench.queue.send("b")
    await bench.clock.advance(2.0)

    assert bench.bodies == [b"a", b"b"]
    await bench.stop()


async def test_existence_is_asked_until_known_and_again_after_an_error() -> None:
    bench = Bench(options=options(max_polling_interval_s=0.1))
    await bench.start()
    await bench.clock.advance(0.35)
    assert bench.service.requests["exists"] == 1

    bench.service.fail("receive", QueueUnavailable("busy", status=503, code="ServerBusy"), times=3)
    await bench.clock.advance(1.0)

    assert bench.service.requests["exists"] == 4
    await bench.stop()


@pytest.mark.parametrize(
    ("error", "states"),
    [
        (QueueUnavailable("no", status=500, code="InternalError"), ["unavailable", "failing"]),
        (QueueUnavailable("busy", status=503, code="ServerBusy"), ["failing"]),
        (AccessDenied("no right", status=403, code="AuthorizationFailure"), ["failing"]),
        (QueueRejected("disabled", status=409, code="QueueDisabled"), ["failing"]),
    ],
)
async def test_an_error_of_a_poll_is_told_once_for_each_change_and_never_ends_the_listener(
    error: QueueError, states: list[str]
) -> None:
    bench = Bench(options=options(max_polling_interval_s=2.0))
    bench.service.fail("receive", error, times=None)
    await bench.start("a")

    await bench.clock.advance(600.0)
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == states
    assert bench.service.requests["receive"] <= 310

    bench.service.mend()
    await bench.clock.advance(2.0)
    assert bench.bodies == [b"a"]
    assert bench.listener.state == "ok"
    await bench.stop()


async def test_the_services_wish_for_a_pause_is_granted() -> None:
    bench = Bench(options=options(max_polling_interval_s=2.0))
    bench.service.fail("receive", QueueUnavailable("busy", status=503, retry_after_s=30.0))
    await bench.start("a")

    await bench.clock.advance(29.9)
    assert bench.bodies == []
    await bench.clock.advance(0.2)

    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_stopping_lets_what_runs_finish_and_asks_for_no_more() -> None:
    gate = Gate()
    bench = Bench(gate, options=options(batch_size=2, new_batch_threshold=0))
    await bench.start("a", "b", "c")
    await bench.clock.advance(0.0)

    bench.listener.stop_polling()
    gate.let_go(2)
    await bench.stop()

    assert bench.bodies == [b"a", b"b"]
    assert bench.left() == ["c"]


async def test_messages_that_arrive_while_stopping_are_handed_back_at_once() -> None:
    bench = Bench()
    bench.service.slow("receive", 3.0)
    await bench.start("a", "b")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert bench.bodies == []
    assert bench.service.counts("orders").visible == 2


async def test_a_defect_in_a_messages_way_frees_its_slot_and_stops_its_renewals() -> None:
    async def broken(_message: TriggerMessage) -> Outcome:
        raise RuntimeError("a defect")

    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: told.append(context["message"])
    )
    bench = Bench(broken, options=options(batch_size=1, new_batch_threshold=0))
    await bench.start("a")

    await bench.clock.advance(599.0)
    assert (bench.listener.running, bench.service.counts("orders").visible) == (0, 0)
    assert len(told) == 1
    (left,) = bench.probe.of(SettlementFailed)
    assert "a defect of qtrigger: RuntimeError: a defect" in left.message
    await bench.clock.advance(61.0)

    assert bench.bodies == [b"a", b"a"]
    await bench.stop()


async def test_failed_messages_come_back_at_once_until_poison() -> None:
    bench = Bench(fail)
    await bench.start("a")

    await bench.clock.advance(5.0)

    finished = bench.probe.of(InvocationFinished)
    assert [event.dequeue_count for event in finished] == [1, 2, 3, 4, 5]
    assert bench.left() == []
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


async def test_a_stop_does_not_wait_for_a_question_that_takes_nothing() -> None:
    bench = Bench()
    bench.service.slow("exists", 30.0)
    await bench.start("a")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert bench.clock.monotonic() == 1.0
    assert bench.service.counts("orders").visible == 1
    assert bench.probe.of(QueueStateChanged) == []

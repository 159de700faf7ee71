"""What users ran into with functions that take their neighbours along: nobody pays for another."""

from __future__ import annotations

import pytest

from qtrigger.events import InvocationFinished, MessagePoisoned
from qtrigger.invocation import Interrupted, Outcome, Succeeded, TriggerMessage, WorkerLost
from tests.unit.harness import Bench

SUSPECT = WorkerLost(how="signal 9 (often: out of memory)", alone=False)
CULPRIT = WorkerLost(how="signal 9 (often: out of memory)", alone=True)
BY_NEIGHBOUR = Interrupted(by="neighbour")


def ends(**by_try: Outcome) -> Bench:
    """A function whose tries end like that, `t5` the fifth; the others succeed."""

    async def body(message: TriggerMessage) -> Outcome:
        return by_try.get(f"t{message.dequeue_count}", Succeeded())

    return Bench(body)


async def received(bench: Bench, times: int) -> None:
    """Put a message that was received and released so often, by others."""
    await bench.queue.create()
    await bench.queue.send("m")
    for _ in range(times):
        (message,) = await bench.queue.receive(1, 30.0)
        await bench.queue.update(message.id, message.pop_receipt, 0.0)


@pytest.mark.parametrize("outcome", [SUSPECT, BY_NEIGHBOUR], ids=["crash", "time-out"])
async def test_a_last_try_that_a_neighbour_ended_is_not_held_against_the_message(
    outcome: Outcome,
) -> None:
    bench = ends(t5=outcome)
    await received(bench, 4)
    await bench.start()

    await bench.clock.advance(10.0)

    first, second = bench.probe.of(InvocationFinished)
    assert (first.disposition, first.dequeue_count, first.max_dequeue_count) == ("released", 5, 5)
    assert (second.disposition, second.dequeue_count, second.max_dequeue_count) == ("acked", 6, 6)
    assert bench.probe.of(MessagePoisoned) == []


async def test_a_suspect_runs_alone_until_it_ends_in_another_way() -> None:
    bench = ends(t1=SUSPECT, t2=CULPRIT, t3=BY_NEIGHBOUR, t4=BY_NEIGHBOUR)
    await bench.start("m")

    await bench.clock.advance(10.0)

    assert [each.alone for each in bench.invocations] == [False, True, True, False, False]
    assert [each.max_dequeue_count for each in bench.invocations] == [5, 6, 6, 7, 8]


async def test_what_ends_its_worker_alone_pays_with_its_tries() -> None:
    bench = ends(t1=SUSPECT, **{f"t{number}": CULPRIT for number in range(2, 9)})
    await bench.start("m")

    await bench.clock.advance(10.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.dequeue_count, told.max_dequeue_count) == (6, 6)
    assert len(bench.invocations) == 6


async def test_excuses_have_an_end() -> None:
    bench = ends(**{f"t{number}": BY_NEIGHBOUR for number in range(1, 99)})
    await bench.start("m")

    await bench.clock.advance(60.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert len(bench.invocations) == 15
    assert told.detail.startswith("its 15 tries are used up")


async def test_what_was_interrupted_is_asked_for_again_at_once() -> None:
    """The back-off has grown while the function ran; the message is not to wait for it."""

    async def body(message: TriggerMessage) -> Outcome:
        if message.dequeue_count > 1:
            return Succeeded()
        await bench.clock.sleep(300.0)
        return SUSPECT

    bench = Bench(body)
    await bench.start("m")

    await bench.clock.advance(300.5)

    assert [event.disposition for event in bench.probe.of(InvocationFinished)] == [
        "released", "acked"
    ]  # fmt: skip

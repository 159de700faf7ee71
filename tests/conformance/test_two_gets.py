"""When a second request for messages goes beside the first, and when it does not.

The service takes 10 ms for each request here, as the real one does from nearby.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import QueueStateChanged
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import PLAIN, Bench, Body, succeed

REQUEST_S = 0.01


async def begun(messages: int, body: Body = succeed, options: QueueOptions = PLAIN) -> Bench:
    bench = Bench(body, options=options)
    await bench.start(*map(str, range(messages)))
    for verb in ("receive", "delete", "update"):
        bench.service.slow(verb, REQUEST_S, times=None)
    return bench


def most_under_way(times: list[float]) -> int:
    """How many requests that began then, and take 10 ms each, were under way at once."""
    return max(sum(each <= at < each + REQUEST_S - 1e-6 for each in times) for at in times)


def taken_before(bench: Bench) -> int:
    """How many of the messages that are left have been received at least once."""
    return sum(each.dequeue_count > 0 for each in bench.service.peek_all("orders"))


async def test_a_full_queue_is_asked_by_two_requests_at_once_and_never_by_more() -> None:
    bench = await begun(1_200)

    await bench.clock.advance(0.6)

    assert bench.left() == []
    # One batch of 16 in 10 ms would take 0.75 s.
    assert most_under_way(bench.service.times("receive")) == 2
    assert bench.most_at_once <= PLAIN.concurrency
    await bench.stop()


async def test_a_batch_and_what_goes_beside_it_never_exceed_the_room() -> None:
    async def short(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(0.004)
        return Succeeded()

    bench = await begun(600, short)
    taken = list[int]()

    while bench.left():
        await bench.clock.advance(0.001)
        taken.append(bench.listener.running)

    assert max(taken) == bench.most_at_once == PLAIN.concurrency
    await bench.stop()


@pytest.mark.parametrize("run_s", [0.05, 1.0])
async def test_runs_that_take_longer_than_requests_get_whole_batches_one_by_one(
    run_s: float,
) -> None:
    async def slow(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(run_s)
        return Succeeded()

    bench = await begun(320, slow)
    await bench.clock.advance(run_s * 6)

    times = bench.service.times("receive")
    found = len(bench.invocations)
    assert most_under_way(times[1:]) == 1
    assert found <= 16 * len(times) <= found + 16
    await bench.stop()


async def test_a_batch_of_one_is_never_two() -> None:
    bench = await begun(100, options=replace(PLAIN, batch_size=1, new_batch_threshold=0))

    await bench.clock.advance(3.0)

    assert bench.left() == []
    assert most_under_way(bench.service.times("receive")) == 1
    assert bench.most_at_once == 1
    await bench.stop()


async def test_an_answer_that_is_not_full_ends_it() -> None:
    bench = await begun(20)

    await bench.clock.advance(0.3)

    # The batch, then the rest and nothing beside it; from there on the waits of an empty queue.
    times = bench.service.times("receive")
    assert bench.left() == []
    assert len(times) <= 6
    assert most_under_way(times[2:]) == 1
    await bench.stop()


async def test_a_stop_hands_both_answers_back() -> None:
    bench = await begun(200)
    await bench.clock.advance(0.065)
    assert most_under_way(bench.service.times("receive")) == 2

    await bench.stop()

    done = {body.decode() for body in bench.bodies}
    assert sorted(bench.left()) == sorted({str(each) for each in range(200)} - done)
    assert bench.service.counts("orders").invisible == 0
    assert bench.listener.stranded == 0


@pytest.mark.parametrize("moment_ms", range(40, 60))
async def test_a_batch_that_fails_beside_one_that_fills_the_room_waits_for_room(
    moment_ms: int,
) -> None:
    """One request fails, and soon after that runs take a minute."""
    taking_s = 0.0

    async def work(_message: TriggerMessage) -> Outcome:
        if taking_s:
            await bench.clock.sleep(taking_s)
        return Succeeded()

    bench = await begun(600, work)
    await bench.clock.advance(moment_ms / 1000)
    bench.service.mend()
    bench.service.fail("receive", QueueUnavailable("reset"), times=1)
    for verb in ("receive", "delete", "update"):
        bench.service.slow(verb, REQUEST_S, times=None)
    await bench.clock.advance(0.015)
    taking_s = 60.0
    await bench.clock.advance(10.0)

    assert bench.most_at_once <= PLAIN.concurrency
    taking_s = 0.0
    await bench.stop()


async def test_a_pause_ends_it() -> None:
    bench = await begun(600)
    await bench.clock.advance(0.065)

    bench.listener.pause("hand")
    asked = len(bench.service.times("receive"))  # a batch may be among them, and one beside it
    await bench.clock.advance(1.0)

    assert len(bench.service.times("receive")) == asked
    bench.listener.resume("hand")
    await bench.clock.advance(1.0)
    assert bench.left() == []
    await bench.stop()


async def test_a_refusal_of_both_is_told_once() -> None:
    bench = await begun(600)
    await bench.clock.advance(0.065)

    bench.service.mend()
    bench.service.fail("receive", AccessDenied("no", status=403, code="Denied"), times=None)
    bench.service.slow("delete", REQUEST_S, times=None)
    await bench.clock.advance(1.0)

    (told,) = bench.probe.of(QueueStateChanged)
    assert told.state == "failing"
    await bench.stop()


async def test_nothing_is_asked_for_between_batches_that_have_their_room_already() -> None:
    async def held(_message: TriggerMessage) -> Outcome:
        await let_go.wait()
        return Succeeded()

    let_go = asyncio.Event()
    let_go.set()
    bench = await begun(600, held)
    await bench.clock.advance(0.065)
    # The next batch fails at once; the runs of the one before it end after that.
    bench.service.mend()
    bench.service.fail("receive", QueueUnavailable("busy"))
    bench.service.slow("receive", REQUEST_S, times=None)
    await bench.clock.advance(0.008)
    failed = len(bench.service.times("receive"))
    let_go.clear()

    await bench.clock.advance(0.05)
    assert len(bench.service.times("receive")) == failed

    await bench.clock.advance(5.0)
    assert len(bench.service.times("receive")) > failed
    assert bench.most_at_once <= PLAIN.concurrency
    let_go.set()
    await bench.stop()


async def test_a_listener_that_is_given_up_while_it_ends_gives_up_both_requests() -> None:
    bench = await begun(200)
    await bench.clock.advance(0.055)
    bench.service.mend()
    bench.service.slow("receive", REQUEST_S)
    bench.service.slow("receive", 100.0, times=None)
    await bench.clock.advance(0.008)
    bench.listener.stop_polling()
    await bench.clock.advance(0.1)
    taken = taken_before(bench)

    await bench.give_up()
    await bench.clock.advance(200.0)

    assert taken_before(bench) == taken
    assert bench.listener.unsettled == 0


@pytest.mark.parametrize("moment_ms", range(40, 60))
async def test_a_defect_in_both_requests_ends_the_listener_and_begins_no_more_of_them(
    moment_ms: int,
) -> None:
    async def short(message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(0.001 * (int(message.body) % 4))
        return Succeeded()

    bench = await begun(600, short)
    await bench.clock.advance(moment_ms / 1000)
    before = len(bench.service.times("receive"))

    bench.service.mend()
    bench.service.fail("receive", cast("QueueError", RuntimeError("a defect")), times=None)
    await bench.clock.advance(10.0)

    # The batch, one beside it, and one more where an answer from before was full.
    assert len(bench.service.times("receive")) - before <= 3
    with pytest.raises(RuntimeError, match="a defect"):
        await bench.stop()

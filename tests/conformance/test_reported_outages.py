"""What users ran into when a queue cannot be reached, or lies idle: under virtual time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import InvocationFinished, QueueStateChanged
from qtrigger.telemetry.lines import line_of
from tests.conformance.answers import LASTING, PASSING, name_of
from tests.unit.harness import PLAIN, Bench, definition

OFTEN = replace(PLAIN, max_polling_interval_s=2.0)
CLOSED = QueueUnavailable("refused", code="CannotConnect")
SILENT = QueueUnavailable("no answer", code="TimedOut")
NAMELESS = QueueUnavailable("no such name", code="NameNotKnown")


def states(bench: Bench) -> list[str]:
    return [event.state for event in bench.probe.of(QueueStateChanged)]


def away(bench: Bench, error: QueueError, times: int | None = None) -> None:
    for verb in ("exists", "receive"):
        bench.service.fail(verb, error, times=times)


@pytest.mark.parametrize("interval_s", [2.0, 60.0])
@pytest.mark.parametrize("error", [CLOSED, SILENT, NAMELESS], ids=name_of)
async def test_a_service_that_is_away_at_the_start_is_served_an_interval_after_it_is_there(
    error: QueueError, interval_s: float
) -> None:
    bench = Bench(options=replace(PLAIN, max_polling_interval_s=interval_s))
    away(bench, error)
    await bench.start("a")
    await bench.clock.advance(90.0)
    assert (bench.bodies, bench.listener.good_poll_age_s) == ([], None)

    bench.service.mend()
    await bench.clock.advance(interval_s)

    assert (bench.bodies, bench.listener.state) == ([b"a"], "ok")
    await bench.stop()


@pytest.mark.parametrize("error", [CLOSED, NAMELESS], ids=name_of)
async def test_an_hour_without_the_service_costs_a_poll_for_each_interval_and_no_more(
    error: QueueError,
) -> None:
    """The back-off's twelve, and then one a minute."""
    bench = Bench()
    away(bench, error)
    await bench.start()

    await bench.clock.advance(3600.0)

    asked = bench.service.requests["exists"] + bench.service.requests["receive"]
    assert 55 <= asked <= 60 + 12
    await bench.stop()


async def test_wake_ups_while_the_service_is_away_cost_one_poll_a_second_at_most() -> None:
    bench = Bench()
    away(bench, CLOSED)
    await bench.start()

    for _ in range(1200):
        bench.listener.wake()
        await bench.clock.advance(0.05)

    assert bench.service.requests["exists"] <= 60 + 12
    bench.listener.stop_polling()


async def test_an_outage_of_minutes_is_unavailable_then_failing_then_ok_and_no_other_line() -> None:
    bench = Bench()
    await bench.start("a")
    await bench.clock.advance(600.0)
    away(bench, CLOSED)
    await bench.clock.advance(150.0)
    assert (bench.listener.state, states(bench)) == ("unavailable", ["unavailable"])

    await bench.clock.advance(3600.0)
    assert (bench.listener.state, states(bench)) == ("failing", ["unavailable", "failing"])
    bench.service.mend()
    await bench.queue.send("b")
    await bench.clock.advance(60.0)

    assert states(bench) == ["unavailable", "failing", "ok"]
    assert bench.bodies == [b"a", b"b"]
    levels = [line_of(event).level for event in bench.probe.of(QueueStateChanged)]
    assert levels == [logging.WARNING, logging.ERROR, logging.INFO]
    await bench.stop()


async def test_the_age_of_the_last_good_poll_grows_while_polls_fail_and_begins_anew() -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    await bench.clock.advance(9.1)
    away(bench, CLOSED)
    await bench.clock.advance(100.0)

    age_s = bench.listener.good_poll_age_s
    assert age_s is not None
    assert 100.0 <= age_s <= 102.1
    bench.service.mend()
    await bench.clock.advance(2.0)
    assert (bench.listener.good_poll_age_s or 0.0) <= 2.0
    await bench.stop()


async def test_a_missing_queue_is_a_good_poll() -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    bench.service.remove("orders")

    await bench.clock.advance(3600.0)

    assert (bench.listener.state, states(bench)) == ("missing", ["missing"])
    assert (bench.listener.good_poll_age_s or 0.0) <= 2.0
    await bench.stop()


async def test_a_poll_now_and_then_that_fails_is_no_storm_of_lines() -> None:
    random = Random(3)
    bench = Bench(options=OFTEN)
    await bench.start()
    for _ in range(1800):
        bench.service.mend()
        if random.random() < 0.05:
            bench.service.fail("receive", SILENT)
        await bench.clock.advance(2.0)

    told = states(bench)
    assert all(a != b for a, b in pairwise(told)), told
    # Ninety polls failed in the hour; each line but the first is half a minute from the one before.
    assert len(told) <= 2 * 70
    faults = [e for e in bench.probe.of(QueueStateChanged) if e.state == "unavailable"]
    assert len(faults) < 80
    bench.listener.stop_polling()


async def test_an_outage_that_shows_in_several_ways_is_no_line_for_each_poll() -> None:
    """A network that goes away refuses, is silent and breaks off by turns."""
    bench = Bench(options=OFTEN)
    for _ in range(200):
        away(bench, CLOSED, times=1)
        away(bench, SILENT, times=1)
    await bench.start()

    await bench.clock.advance(300.0)

    assert states(bench) == ["unavailable", "failing"]
    bench.listener.stop_polling()


async def test_a_fault_that_comes_back_soon_is_told_when_it_lasts() -> None:
    bench = Bench(options=replace(PLAIN, max_polling_interval_s=12.0))
    await bench.start()
    await bench.clock.advance(60.0)
    bench.service.fail("receive", CLOSED)
    await bench.clock.advance(26.0)
    assert states(bench) == ["unavailable", "ok"]
    away(bench, CLOSED)
    await bench.clock.advance(13.0)
    assert (states(bench), bench.listener.state) == (["unavailable", "ok"], "unavailable")

    await bench.clock.advance(14.0)

    assert states(bench) == ["unavailable", "ok", "unavailable"]
    bench.listener.stop_polling()


@pytest.mark.parametrize("error", PASSING + LASTING, ids=name_of)
async def test_no_answer_to_a_poll_costs_a_message_a_try(error: QueueError) -> None:
    bench = Bench(options=OFTEN)
    away(bench, error, times=3)
    await bench.start(*"abc")

    await bench.clock.advance(60.0)

    runs = bench.probe.of(InvocationFinished)
    assert [run.dequeue_count for run in runs] == [1, 1, 1]
    await bench.stop()


async def test_two_hundred_idle_queues_cost_a_request_each_for_an_interval() -> None:
    bench = Bench(random=Random(1))
    listeners = []
    for number in range(200):
        name = f"queue-{number}"
        bench.service.make(name)
        listeners.append(bench.assembly.listener(definition(f"f{number}", name)))
    polling = [asyncio.ensure_future(listener.run()) for listener in listeners]
    await bench.clock.advance(180.0)
    before = bench.service.requests.total()

    await bench.clock.advance(300.0)

    assert bench.service.requests.total() - before <= 200 * 5
    for listener in listeners:
        listener.stop_polling()
    await asyncio.wait(polling)


async def test_idle_functions_write_no_line_at_the_default_level() -> None:
    bench = Bench(options=OFTEN)
    others = [bench.assembly.listener(definition(name, name)) for name in ("one", "two")]
    for name in ("one", "two"):
        bench.service.make(name)
    polling = [asyncio.ensure_future(listener.run()) for listener in others]
    await bench.start()

    await bench.clock.advance(60.0)

    assert bench.service.requests["receive"] > 50
    assert [e for e in bench.probe.events if line_of(e).level >= logging.INFO] == []
    for listener in others:
        listener.stop_polling()
    await asyncio.wait(polling)
    await bench.stop()


async def test_a_batch_of_one_is_strictly_one_at_a_time_without_a_threshold_given() -> None:
    """`newBatchThreshold` is half of the batch, cut to a whole number: none."""
    bench = Bench(options=replace(OFTEN, batch_size=1, new_batch_threshold=1 // 2))
    await bench.start(*"abcdef")

    await bench.clock.advance(60.0)

    assert (bench.most_at_once, len(bench.bodies)) == (1, 6)
    await bench.stop()


async def test_a_queue_deleted_and_made_again_is_a_line_at_each_change_and_picked_up() -> None:
    bench = Bench(options=OFTEN)
    await bench.start("a")
    await bench.clock.advance(10.0)
    bench.service.remove("orders")
    await bench.clock.advance(60.0)
    assert bench.service.requests["exists"] + bench.service.requests["receive"] <= 45

    bench.service.make("orders")
    await bench.queue.send("b")
    await bench.clock.advance(2.0)

    assert (states(bench), bench.bodies) == (["missing", "ok"], [b"a", b"b"])
    await bench.stop()


async def test_one_listener_that_is_refused_leaves_the_others_alone() -> None:
    bench = Bench(options=OFTEN)
    other = bench.assembly.listener(definition("other", "other-queue"))
    bench.service.make("other-queue")
    denied = AccessDenied("no", status=403, code="AuthenticationFailed")
    bench.service.fail("receive", denied, queue="other-queue", times=None)
    polling = asyncio.ensure_future(other.run())
    await bench.start("a")

    await bench.clock.advance(30.0)

    assert (other.state, bench.listener.state, bench.bodies) == ("failing", "ok", [b"a"])
    other.stop_polling()
    await polling
    await bench.stop()

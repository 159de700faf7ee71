"""An account that answers busy: told once for a spell, counted, and never in the way of work."""

from __future__ import annotations

import logging
from dataclasses import replace
from random import Random

import pytest

from qtrigger.errors import QueueError, QueueUnavailable
from qtrigger.events import (
    InvocationFinished,
    QueueStateChanged,
    ThrottlingBegan,
    ThrottlingEnded,
)
from qtrigger.telemetry.lines import line_of
from qtrigger.throttling import Throttling
from tests.conformance.answers import BUSY, name_of
from tests.unit.harness import PLAIN, Bench

OFTEN = replace(PLAIN, max_polling_interval_s=2.0)
BUSY_ANSWERS: list[QueueError] = [
    BUSY,
    QueueUnavailable("late", status=500, code="OperationTimedOut"),
    QueueUnavailable("limit", status=429),
]
OTHERS: list[QueueError] = [
    QueueUnavailable("broken", status=500, code="InternalError"),
    QueueUnavailable("refused", code="CannotConnect"),
    QueueUnavailable("no answer", code="TimedOut"),
]


def limits(bench: Bench) -> Throttling:
    (known,) = bench.assembly.throttling
    return known


def lines(bench: Bench) -> list[str]:
    return [line_of(event).event for event in bench.probe.events if line_of(event).level >= 20]


@pytest.mark.parametrize("error", BUSY_ANSWERS, ids=name_of)
async def test_a_spell_is_told_at_its_beginning_and_its_end_and_by_no_state_of_a_queue(
    error: QueueError,
) -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    await bench.clock.advance(10.0)
    bench.service.fail("receive", error, times=3)

    await bench.clock.advance(120.0)

    (began,) = bench.probe.of(ThrottlingBegan)
    (ended,) = bench.probe.of(ThrottlingEnded)
    assert (began.account, ended.account, began.message) == ("memory", "memory", str(error))
    assert ended.busy == limits(bench).busy == 3
    assert ended.lasted_s == pytest.approx(4.0)
    assert bench.probe.of(QueueStateChanged) == []
    assert [line_of(each).level for each in (began, ended)] == [logging.WARNING, logging.INFO]
    assert f"it put off 3 of {ended.requests} requests within 4 s" in line_of(ended).text
    await bench.stop()


@pytest.mark.parametrize("error", OTHERS, ids=name_of)
async def test_an_outage_is_no_spell(error: QueueError) -> None:
    bench = Bench(options=OFTEN)
    bench.service.fail("receive", error, times=3)
    await bench.start()

    await bench.clock.advance(120.0)

    assert bench.probe.of(ThrottlingBegan) == []
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == ["unavailable", "ok"]
    await bench.stop()


@pytest.mark.parametrize("seed", range(10))
async def test_a_minute_of_one_busy_answer_in_five_is_two_lines_while_messages_flow(
    seed: int,
) -> None:
    """At five messages a second; every one is processed, and runs once."""
    random = Random(seed)
    bench = Bench(options=OFTEN)
    await bench.start()
    await bench.clock.advance(1.0)
    sent = 0
    while bench.clock.monotonic() < 61.0:
        bench.service.mend()
        for verb in ("receive", "delete", "exists"):
            if random.random() < 0.2:
                bench.service.fail(verb, BUSY)
        await bench.queue.send(str(sent))
        sent += 1
        bench.listener.wake()
        await bench.clock.advance(0.2)
    bench.service.mend()

    await bench.clock.advance(120.0)

    assert len(bench.probe.of(InvocationFinished)) == len(set(bench.bodies)) == sent
    told = [name for name in lines(bench) if name != "invocation.finished"]
    assert told == ["account.throttled", "account.recovered"]
    (ended,) = bench.probe.of(ThrottlingEnded)
    assert limits(bench).spells == 1
    assert ended.busy == limits(bench).busy > 50
    assert 50.0 < ended.lasted_s < 63.0
    await bench.stop()


async def test_a_busy_account_that_is_hardly_asked_does_not_come_and_go() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(600.0)
    for _ in range(5):
        bench.service.fail("receive", BUSY)
        await bench.clock.advance(240.0)
    assert (limits(bench).spells, limits(bench).active) == (1, True)

    await bench.clock.advance(900.0)

    assert len(bench.probe.of(ThrottlingEnded)) == 1
    await bench.stop()


async def test_a_spell_after_the_end_of_another_is_told_again_with_counts_of_its_own() -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    for times in (2, 5):
        bench.service.fail("receive", BUSY, times=times)
        await bench.clock.advance(120.0)

    assert [ended.busy for ended in bench.probe.of(ThrottlingEnded)] == [2, 5]
    assert len(bench.probe.of(ThrottlingBegan)) == 2
    assert (limits(bench).busy, limits(bench).spells) == (7, 2)
    await bench.stop()


async def test_an_answer_of_another_kind_counts_as_quiet_and_silence_does_not() -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    bench.service.fail("receive", BUSY)
    await bench.clock.advance(0.05)
    bench.service.fail("exists", QueueUnavailable("gone", code="CannotConnect"), times=60)
    bench.service.fail("exists", QueueUnavailable("bad", status=500), times=60)
    await bench.clock.advance(115.0)
    assert limits(bench).active

    await bench.clock.advance(60.0)

    assert not limits(bench).active
    bench.listener.stop_polling()


async def test_a_busy_answer_delays_a_poll_no_longer_than_an_empty_one_or_its_own_wish() -> None:
    bench = Bench(options=OFTEN)
    bench.service.fail("receive", BUSY, times=4)
    wish = QueueUnavailable("busy", status=503, code="ServerBusy", retry_after_s=7.0)
    bench.service.fail("receive", wish)
    await bench.start("a")

    await bench.clock.advance(9.0)

    assert bench.service.times("receive")[:6] == pytest.approx([0, 0.1, 0.3, 0.6, 1.1, 8.1])
    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_a_listener_that_is_put_off_for_long_is_failing_and_says_so_once() -> None:
    bench = Bench(options=OFTEN)
    await bench.start()
    await bench.clock.advance(10.0)
    bench.service.fail("receive", BUSY, times=None)
    await bench.clock.advance(25.0)
    assert (bench.listener.state, bench.probe.of(QueueStateChanged)) == ("unavailable", [])

    await bench.clock.advance(600.0)

    assert bench.listener.state == "failing"
    (told,) = bench.probe.of(QueueStateChanged)
    assert "No poll succeeded for 3" in told.hint
    bench.service.mend()
    await bench.clock.advance(2.1)
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == ["failing", "ok"]
    await bench.stop()


async def test_every_request_of_an_account_is_counted_whatever_it_was_for() -> None:
    bench = Bench()
    await bench.start("a", "b")
    by_the_test = bench.service.requests["create"] + bench.service.requests["send"]

    await bench.clock.advance(60.0)

    assert limits(bench).requests == bench.service.requests.total() - by_the_test
    assert limits(bench).busy == 0
    await bench.stop()

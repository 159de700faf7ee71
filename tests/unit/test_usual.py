"""A run is noticed when it takes a minute longer than the longest one before it."""

from __future__ import annotations

from qtrigger.events import StillRunning
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.testing.clock import ManualClock
from qtrigger.usual import UsualTime
from tests.unit.harness import Bench


async def test_the_longest_success_sets_the_measure() -> None:
    clock = ManualClock()
    usual = UsualTime(clock)
    told: list[tuple[float, float, str]] = []
    for duration_s in (3.0, 40.0, 5.0):
        usual.succeeded(duration_s)

    with usual.watching(lambda *late: told.append(late), "run"):
        await clock.advance(99.0)
        assert told == []
        await clock.advance(500.0)

    assert told == [(100.0, 40.0, "")]


async def test_a_run_that_ends_in_time_is_not_noticed() -> None:
    clock = ManualClock()
    usual = UsualTime(clock)
    told: list[tuple[float, float, str]] = []

    with usual.watching(lambda *late: told.append(late), "run"):
        await clock.advance(59.0)
    await clock.advance(500.0)

    assert told == []


async def test_it_is_told_with_where_its_code_stands() -> None:
    clock = ManualClock()
    told: list[tuple[float, float, str]] = []

    async def where(invocation_id: str) -> str:
        await clock.sleep(1.0)
        return f"stack of {invocation_id}"

    with UsualTime(clock, where=where).watching(lambda *late: told.append(late), "run"):
        await clock.advance(60.9)
        assert told == []
        await clock.advance(0.1)

    assert told == [(60.0, 0.0, "stack of run")]


async def test_a_run_that_ends_while_it_is_asked_about_is_not_told() -> None:
    clock = ManualClock()
    told: list[tuple[float, float, str]] = []

    async def where(_invocation_id: str) -> str:
        await clock.sleep(1.0)
        return ""

    with UsualTime(clock, where=where).watching(lambda *late: told.append(late), "run"):
        await clock.advance(60.5)
    await clock.advance(10.0)

    assert told == []


async def test_a_message_whose_run_hangs_is_told_once() -> None:
    async def body(message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(1000.0 if message.body == b"hangs" else 2.0)
        return Succeeded()

    bench = Bench(body)
    await bench.start("quick")
    await bench.clock.advance(10.0)
    await bench.queue.send("hangs")
    await bench.clock.advance(500.0)

    (event,) = bench.probe.of(StillRunning)
    assert (event.function, event.for_s, event.usual_s) == ("charge", 62.0, 2.0)
    assert event.invocation_id == bench.invocations[1].id
    await bench.clock.advance(1000.0)

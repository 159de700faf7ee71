"""Time-outs of runs: when the process is asked, what its answers mean, what silence means."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from qtrigger.invocation import (
    Interrupted,
    Invocation,
    Outcome,
    Succeeded,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.testing.clock import ManualClock, settle
from qtrigger.workers.python.wire import WireError
from qtrigger.workers.underway import Open, Underway

NOW = datetime(2026, 12, 1, tzinfo=UTC)
OK = [{"end": "ok"}]
CANCELLED = [{"end": "cancelled"}]


@dataclass
class Bench:
    clock: ManualClock = field(default_factory=ManualClock)
    asked: list[tuple[int, float]] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    gave_up: int = 0

    def __post_init__(self) -> None:
        self.underway = Underway(
            self.clock,
            ask=lambda *about: self.asked.append(about),
            cancel=self.cancelled.append,
            give_up=self.give_up,
        )

    def give_up(self) -> None:
        self.gave_up += 1

    def begin(self, timeout_s: float | None = None) -> Open:
        message = TriggerMessage(
            id="m",
            body=b"",
            dequeue_count=1,
            inserted=NOW,
            expires=NOW,
            next_visible=NOW,
            pop_receipt="",
        )
        return self.underway.begin(
            Invocation(
                id="i",
                function="f",
                messages=(message,),
                max_dequeue_count=5,
                timeout_s=timeout_s,
            )
        )


@pytest.fixture
async def bench() -> Bench:
    return Bench()


def outcome(run: Open) -> Outcome:
    (only,) = run.future.result().outcomes
    return only


async def test_a_run_that_answers_in_time_is_never_asked_about(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)
    bench.underway.answer(run.number, OK, b"", 1.5)

    await bench.clock.advance(60)

    assert outcome(run) == Succeeded()
    assert run.future.result().duration_s == 1.5
    assert (bench.asked, bench.gave_up, len(bench.underway)) == ([], 0, 0)
    assert bench.underway.completed == 1


async def test_each_run_is_asked_about_at_its_own_time_whatever_began_or_ended_before_it(
    bench: Bench,
) -> None:
    ends, long = bench.begin(timeout_s=10), bench.begin(timeout_s=60)
    await bench.clock.advance(5)
    bench.underway.answer(ends.number, OK, b"", 5)
    short, later = bench.begin(timeout_s=2), bench.begin(timeout_s=10)

    await bench.clock.advance(1.9)
    assert bench.asked == []
    await bench.clock.advance(0.1)
    assert bench.asked == [(short.number, 2)]
    bench.underway.answer(short.number, CANCELLED, b"", 2)
    await bench.clock.advance(7.9)
    assert len(bench.asked) == 1
    await bench.clock.advance(0.1)
    assert bench.asked[1:] == [(later.number, 10)]
    bench.underway.answer(later.number, CANCELLED, b"", 10)
    await bench.clock.advance(45)

    assert bench.asked[2:] == [(long.number, 60)]


async def test_without_a_limit_a_run_may_take_for_ever(bench: Bench) -> None:
    bench.begin(timeout_s=None)

    await bench.clock.advance(86400)

    assert bench.asked == []


async def test_a_run_that_the_process_cancels_has_timed_out(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)

    await bench.clock.advance(10)
    assert bench.asked == [(run.number, 10)]
    bench.underway.answer(run.number, CANCELLED, b"", 10.1)

    assert outcome(run) == TimedOut(after_s=10)
    assert bench.gave_up == 0


async def test_a_run_that_ends_well_just_in_time_has_not_timed_out(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)
    await bench.clock.advance(10)

    bench.underway.answer(run.number, OK, b"", 9.9)

    assert outcome(run) == Succeeded()


async def test_a_run_that_had_to_wait_gets_the_time_it_has_left(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)
    await bench.clock.advance(10)

    bench.underway.left(run.number, 7)
    await bench.clock.advance(6.9)
    assert len(bench.asked) == 1
    await bench.clock.advance(0.1)

    assert bench.asked == [(run.number, 10)] * 2
    assert bench.gave_up == 0


async def test_a_deaf_run_is_given_up_at_once(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)
    await bench.clock.advance(10)

    bench.underway.deaf(run.number)

    assert bench.gave_up == 1
    assert not run.future.done()
    bench.underway.close_all(how="signal 15 (SIGTERM)", ours=True)
    assert outcome(run) == TimedOut(after_s=10)


async def test_a_run_that_nobody_says_anything_about_is_given_up(bench: Bench) -> None:
    bench.begin(timeout_s=10)

    await bench.clock.advance(10.9)
    assert bench.gave_up == 0
    await bench.clock.advance(0.1)

    assert bench.gave_up == 1


async def test_answers_about_runs_that_are_over_are_ignored(bench: Bench) -> None:
    bench.underway.left(99, 1.0)
    bench.underway.deaf(99)

    assert bench.gave_up == 0


async def test_a_run_that_wrote_nothing_is_answered_by_its_number_alone(bench: Bench) -> None:
    run = bench.begin(timeout_s=10)

    bench.underway.succeed(run.number, 1.5)
    await bench.clock.advance(60)

    assert (outcome(run), run.future.result().duration_s) == (Succeeded(), 1.5)
    assert (bench.asked, bench.underway.completed, len(bench.underway)) == ([], 1, 0)


@pytest.mark.parametrize("ends", [[], [{"end": "ok"}] * 2])
async def test_an_answer_with_an_end_too_few_or_too_many_is_none(
    bench: Bench, ends: list[dict[str, str]]
) -> None:
    run = bench.begin()

    with pytest.raises(WireError, match=rf"a result has {len(ends)} ends for 1 messages"):
        bench.underway.answer(run.number, ends, b"", 1)

    assert len(bench.underway) == 1
    bench.underway.close_all(how="it broke the protocol", ours=False)
    assert outcome(run) == WorkerLost(how="it broke the protocol", alone=True)


async def test_the_end_of_the_process_loses_what_is_open(bench: Bench) -> None:
    runs = [bench.begin(), bench.begin(timeout_s=10)]

    lost = bench.underway.close_all(how="exit code 3", ours=False)

    assert lost == 2
    assert {outcome(run) for run in runs} == {WorkerLost(how="exit code 3", alone=False)}
    await bench.clock.advance(60)
    assert bench.asked == []


async def test_a_single_run_was_alone(bench: Bench) -> None:
    run = bench.begin()

    bench.underway.close_all(how="exit code 3", ours=False)

    assert outcome(run) == WorkerLost(how="exit code 3", alone=True)


async def test_when_we_end_the_process_nothing_is_lost(bench: Bench) -> None:
    run = bench.begin()

    assert bench.underway.close_all(how="signal 15 (SIGTERM)", ours=True) == 0
    assert outcome(run) == Interrupted()


async def test_what_an_end_of_ours_interrupts_says_why(bench: Bench) -> None:
    late, neighbour = bench.begin(timeout_s=1), bench.begin()
    await bench.clock.advance(1)
    bench.underway.deaf(late.number)

    bench.underway.close_all(how="", ours=True, by="neighbour")

    assert (outcome(late), outcome(neighbour)) == (
        TimedOut(after_s=1), Interrupted(by="neighbour")
    )  # fmt: skip


async def test_who_comes_over_its_time_beside_one_given_up_has_not_timed_out(
    bench: Bench,
) -> None:
    late, waits_for_it, ends = (bench.begin(timeout_s=limit_s) for limit_s in (1, 2, 3))
    await bench.clock.advance(1)
    bench.underway.deaf(late.number)
    await bench.clock.advance(1)
    bench.underway.deaf(waits_for_it.number)
    await bench.clock.advance(1)

    bench.underway.answer(ends.number, CANCELLED, b"", 3)
    bench.underway.close_all(how="", ours=True, by="neighbour")

    assert outcome(late) == TimedOut(after_s=1)
    assert {outcome(run) for run in (waits_for_it, ends)} == {Interrupted(by="neighbour")}


async def test_a_late_answer_leaves_the_time_out_to_the_next_that_was_given_up(
    bench: Bench,
) -> None:
    first, second = bench.begin(timeout_s=1), bench.begin(timeout_s=1)
    await bench.clock.advance(1)
    for run in (first, second):
        bench.underway.deaf(run.number)

    bench.underway.answer(first.number, OK, b"", 1)
    bench.underway.close_all(how="", ours=True, by="neighbour")

    assert (outcome(first), outcome(second)) == (Succeeded(), TimedOut(after_s=1))


async def test_quiet_is_when_only_given_up_runs_are_left(bench: Bench) -> None:
    late, neighbour = bench.begin(timeout_s=1), bench.begin()
    await bench.clock.advance(1)
    bench.underway.deaf(late.number)
    waiting = asyncio.create_task(bench.underway.wait_quiet(30))
    await bench.clock.advance(5)
    assert not waiting.done()

    bench.underway.answer(neighbour.number, OK, b"", 5)

    assert await bench.clock.run(waiting) is True
    assert await bench.clock.run(bench.underway.wait_quiet(0)) is True


async def test_several_may_wait_for_quiet(bench: Bench) -> None:
    bench.begin()
    waiting = [asyncio.create_task(bench.underway.wait_quiet(30)) for _ in range(2)]
    await settle()

    bench.underway.close_all(how="", ours=True)
    await settle()

    assert [one.done() for one in waiting] == [True, True]


async def test_the_wait_for_quiet_has_an_end(bench: Bench) -> None:
    bench.begin()

    assert await bench.clock.run(bench.underway.wait_quiet(30)) is False


async def test_all_may_be_cancelled_and_waited_for(bench: Bench) -> None:
    runs = [bench.begin(), bench.begin()]
    cancelling = asyncio.create_task(bench.underway.cancel_all(1))
    await settle()

    assert bench.cancelled == [run.number for run in runs]
    for run in runs:
        bench.underway.answer(run.number, CANCELLED, b"", 0.1)

    assert await bench.clock.run(cancelling) is True
    assert bench.clock.monotonic() == 0
    assert {outcome(run) for run in runs} == {Interrupted()}


async def test_those_that_cannot_be_cancelled_are_not_waited_for(bench: Bench) -> None:
    plain, other = bench.begin(), bench.begin()
    cancelling = asyncio.create_task(bench.underway.cancel_all(1))
    await settle()

    bench.underway.uncancelled(plain.number)
    bench.underway.answer(other.number, CANCELLED, b"", 0.1)
    bench.underway.uncancelled(99)

    assert await bench.clock.run(cancelling) is False
    assert bench.clock.monotonic() == 0
    assert bench.gave_up == 0


async def test_a_cancellation_that_nothing_answers_has_an_end(bench: Bench) -> None:
    bench.begin()

    assert await bench.clock.run(bench.underway.cancel_all(1)) is False
    assert bench.clock.monotonic() == 1


async def test_an_answer_that_nobody_waits_for_any_more_is_dropped(bench: Bench) -> None:
    run = bench.begin()
    run.future.cancel()

    bench.underway.answer(run.number, OK, b"", 1)

    assert len(bench.underway) == 0

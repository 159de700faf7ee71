"""Which generation of workers a run goes to, and when one that was succeeded ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from qtrigger.invocation import Interrupted, Invocation, Outcome, Ran, Succeeded
from qtrigger.testing.clock import ManualClock
from qtrigger.workers.succession import Runner, Succession
from qtrigger.workers.worker import FunctionSpec, Loaded
from tests.unit.workers.test_pool import MESSAGE


class Crew:
    """Workers whose runs end when the test says so."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.stopped = asyncio.Event()
        self.runs = 0
        self.unable: Callable[[AbstractSet[str]], None] = lambda _unable: None

    @property
    def running(self) -> int:
        return self.runs

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        return Loaded()

    async def invoke(self, invocation: Invocation) -> Ran:
        self.runs += 1
        ends = [asyncio.ensure_future(each.wait()) for each in (self.ended, self.stopped)]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        outcome: Outcome = Succeeded() if self.ended.is_set() else Interrupted()
        return Ran(outcomes=(outcome,), duration_s=0.0)

    async def stop(self, grace_s: float) -> None:
        self.stopped.set()

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        self.unable = unable

    async def where(self, invocation_id: str) -> str:
        return invocation_id if self.runs else ""

    def show_stacks(self) -> None:
        """Nothing to show."""


def run(runner: Runner | Succession) -> asyncio.Task[Ran]:
    return asyncio.create_task(_ran(runner))


async def _ran(runner: Runner | Succession) -> Ran:
    return await runner.invoke(
        Invocation(id="i1", function="charge", messages=(MESSAGE,), max_dequeue_count=5)
    )


async def test_a_run_goes_to_the_newest_and_the_one_before_ends_with_its_last_run() -> None:
    clock, old, new = ManualClock(), Crew(), Crew()
    succession = Succession(old, clock)
    first = run(succession)
    await clock.advance(0.0)

    succession.succeed(new, [], up_to_s=30.0)
    second = run(succession)
    await clock.advance(1.0)

    assert (old.runs, new.runs, succession.running, succession.running_before) == (1, 1, 2, 1)
    assert not old.stopped.is_set()
    assert await succession.where("x") == "x"
    old.ended.set()
    await clock.advance(0.0)
    assert old.stopped.is_set()
    assert list(succession.leaving) == []
    assert first.done()
    assert not second.done()
    await clock.run(succession.stop(0.0))
    assert (await second).outcomes == (Interrupted(),)


async def test_what_does_not_end_in_time_is_interrupted_as_at_a_stop() -> None:
    clock, old = ManualClock(), Crew()
    succession = Succession(old, clock)
    first = run(succession)
    await clock.advance(0.0)

    succession.succeed(Crew(), [], up_to_s=30.0)
    await clock.advance(29.0)
    assert not first.done()
    await clock.advance(2.0)

    assert (await first).outcomes == (Interrupted(),)
    assert list(succession.leaving) == []


async def test_a_runner_that_stays_is_served_by_the_workers_that_it_stayed_with() -> None:
    clock, old, new = ManualClock(), Crew(), Crew()
    succession = Succession(old, clock)
    runner, quiet = Runner(succession), asyncio.Event()

    async def tie() -> None:
        await quiet.wait()

    assert runner.stay()
    succession.succeed(new, [tie], up_to_s=30.0)
    assert not runner.stay()
    late = run(runner)
    await clock.advance(1.0)
    assert (old.runs, new.runs) == (1, 0)
    old.ended.set()
    await clock.advance(1.0)
    assert late.done()
    assert not old.stopped.is_set()

    quiet.set()
    runner.follow()
    next_one = run(runner)
    await clock.advance(0.0)
    assert old.stopped.is_set()
    assert new.runs == 1
    await clock.run(succession.stop(0.0))
    await next_one


async def test_only_the_newest_workers_say_what_they_are_unable_to_run() -> None:
    clock, old, new = ManualClock(), Crew(), Crew()
    succession = Succession(old, clock)
    told: list[AbstractSet[str]] = []
    succession.watch(told.append)
    hold = run(succession)
    await clock.advance(0.0)
    succession.succeed(new, [], up_to_s=30.0)

    old.unable({"charge"})
    new.unable({"refund"})

    assert told == [{"refund"}]
    await clock.run(succession.stop(0.0))
    await hold


async def test_a_stop_waits_for_nothing_that_the_generations_before_were_waiting_for() -> None:
    """A message that cannot be handed back must not hold up the end for its shutdownTimeout."""
    clock, old, new = ManualClock(), Crew(), Crew()
    succession = Succession(old, clock)

    async def tie() -> None:
        await asyncio.Event().wait()

    succession.succeed(new, [tie], up_to_s=30.0)
    await clock.advance(1.0)

    began = clock.monotonic()
    await clock.run(succession.stop(0.0))

    assert old.stopped.is_set()
    assert new.stopped.is_set()
    assert clock.monotonic() - began < 1.0
    assert succession.leaving == []

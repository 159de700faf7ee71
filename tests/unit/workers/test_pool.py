"""Routing, replacement and back-off, with workers and a clock under the test's hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qtrigger.errors import WorkerStartError
from qtrigger.events import FunctionLoadFailed, WorkerEnded, WorkerStarted
from qtrigger.invocation import (
    Interrupted,
    Invocation,
    Ran,
    Succeeded,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.testing.clock import ManualClock, settle
from qtrigger.testing.probe import Probe
from qtrigger.workers.pool import WorkerPool
from qtrigger.workers.pooled import LoadCrash
from qtrigger.workers.worker import FunctionSpec, Loaded, LoadFailure
from tests.unit.workers.fakes import Makes

BROKEN = LoadFailure(message="KeyError: 'NOPE'", place="broken/__init__.py:2", hint="set it")

NOW = datetime(2026, 12, 1, tzinfo=UTC)
MESSAGE = TriggerMessage(
    id="m",
    body=b"",
    dequeue_count=1,
    inserted=NOW,
    expires=NOW,
    next_visible=NOW,
    pop_receipt="",
)


def crash(*, again: bool = True) -> LoadCrash:
    return LoadCrash("broken", LoadFailure(message="exit code 4"), again=again)


def refuses() -> WorkerStartError:
    return WorkerStartError("no python")


def spec(name: str) -> FunctionSpec:
    return FunctionSpec(
        name=name,
        directory=Path("/f") / name,
        script_file=Path("/f") / name / "__init__.py",
        entry_point="main",
        bindings=(),
        concurrency=1,
    )


class Bench:
    """A pool, its clock, its events and its workers."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.probe = Probe()
        self.makes = Makes()
        self.pool = self.pool_of(1)
        self.tasks: list[asyncio.Task[Ran]] = []

    def pool_of(self, size: int, *plan: WorkerStartError | Loaded) -> WorkerPool:
        self.makes = Makes(*plan)
        self.pool = WorkerPool(size=size, make=self.makes, clock=self.clock, events=self.probe)
        return self.pool

    async def start(self) -> Loaded:
        return await self.clock.run(self.pool.start([spec("good"), spec("broken")]))

    async def invoke(
        self, name: str, function: str = "good", *, alone: bool = False
    ) -> asyncio.Task[Ran]:
        invocation = Invocation(
            id=name, function=function, messages=(MESSAGE,), max_dequeue_count=5, alone=alone
        )
        task = asyncio.create_task(self.pool.invoke(invocation))
        self.tasks.append(task)
        await settle()
        return task

    async def stop(self) -> None:
        await self.clock.run(self.pool.stop(0.0))

    def delays(self) -> list[float]:
        return [event.next_start_s for event in self.probe.of(WorkerEnded)]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.stop()
    for task in made.tasks:
        task.cancel()


async def test_all_workers_are_started_and_told(bench: Bench) -> None:
    bench.pool_of(3)

    await bench.start()

    assert bench.pool.ready == 3
    started = bench.probe.of(WorkerStarted)
    assert [(event.worker, event.pid) for event in started] == [(1, 101), (2, 102), (3, 103)]


async def test_an_invocation_goes_to_the_least_busy_worker(bench: Bench) -> None:
    bench.pool_of(2)
    await bench.start()
    one, two = bench.makes.made

    await bench.invoke("a")
    await bench.invoke("b")
    await bench.invoke("c")
    one.finish("a")
    await bench.invoke("d")

    assert (list(one.open), list(two.open)) == (["c", "d"], ["b"])
    assert bench.pool.running == 3


async def test_what_failed_to_load_is_told_once_and_answered(bench: Bench) -> None:
    failed = Loaded(failures={"broken": BROKEN})
    bench.pool_of(2, failed, failed)

    assert await bench.start() == failed

    (event,) = bench.probe.of(FunctionLoadFailed)
    assert (event.function, event.place) == ("broken", BROKEN.place)
    assert (event.message, event.hint) == (BROKEN.message, BROKEN.hint)


async def test_no_worker_at_all_is_a_start_error(bench: Bench) -> None:
    bench.pool_of(2, refuses(), refuses())

    with pytest.raises(WorkerStartError, match="no python"):
        await bench.start()

    assert bench.pool.ready == 0


async def test_a_pool_starts_with_the_workers_that_come_up_and_tries_the_others_again(
    bench: Bench,
) -> None:
    bench.pool_of(2, refuses())
    await bench.start()
    assert bench.pool.ready == 1

    await bench.clock.advance(0.1)

    assert bench.pool.ready == 2


async def test_a_function_that_crashes_its_worker_is_left_out_after_four_tries(
    bench: Bench,
) -> None:
    bench.pool_of(1, crash(), crash(), crash(), crash())

    loaded = await bench.start()

    assert loaded.failures == {"broken": LoadFailure(message="exit code 4")}
    assert [worker.functions for worker in bench.makes.made] == [["good", "broken"]] * 4 + [
        ["good"]
    ]
    assert bench.clock.monotonic() == pytest.approx(0.1 + 0.2 + 0.4)


async def test_a_function_that_crashes_three_times_and_then_loads_is_fine(bench: Bench) -> None:
    bench.pool_of(1, crash(), crash(), crash())

    assert (await bench.start()).failures == {}


async def test_an_import_that_hangs_is_not_tried_again(bench: Bench) -> None:
    bench.pool_of(1, crash(again=False))

    assert list((await bench.start()).failures) == ["broken"]
    assert len(bench.makes.made) == 2


async def test_a_worker_that_got_something_done_is_replaced_at_once(bench: Bench) -> None:
    await bench.start()
    (first,) = bench.makes.made
    await bench.invoke("a")
    first.finish("a")

    first.crash()
    await settle()

    assert bench.pool.ready == 1
    (event,) = bench.probe.of(WorkerEnded)
    assert (event.how, event.expected, event.lost, event.next_start_s) == (
        "exit code 3", False, 0, 0.0
    )  # fmt: skip


async def test_workers_that_get_nothing_done_come_back_ever_more_slowly(bench: Bench) -> None:
    await bench.start()

    for _ in range(11):
        bench.makes.made[-1].crash()
        await bench.clock.advance(31.0)

    assert bench.delays() == pytest.approx(
        [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    )


async def test_one_success_ends_the_slowness(bench: Bench) -> None:
    await bench.start()
    for _ in range(3):
        bench.makes.made[-1].crash()
        await bench.clock.advance(1.0)
    await bench.invoke("a")
    bench.makes.made[-1].finish("a")

    bench.makes.made[-1].crash()
    await settle()
    bench.makes.made[-1].crash()
    await settle()

    assert bench.delays()[-2:] == pytest.approx([0.0, 0.1])


async def test_a_replacement_that_cannot_start_is_tried_again(bench: Bench) -> None:
    bench.pool_of(1, Loaded(), refuses(), crash())
    await bench.start()

    bench.makes.made[0].crash()
    await bench.clock.advance(0.1 + 0.2 + 0.4)

    assert bench.pool.ready == 1
    assert [event.how for event in bench.probe.of(WorkerEnded)] == [
        "exit code 3", "no python", "broken: exit code 4"
    ]  # fmt: skip
    assert bench.makes.made[-1].functions == ["good", "broken"]


async def test_an_invocation_waits_for_the_next_worker(bench: Bench) -> None:
    await bench.start()
    bench.makes.made[0].crash()
    run = await bench.invoke("a")
    assert not run.done()

    await bench.clock.advance(0.1)
    bench.makes.made[-1].finish("a")

    assert (await run).outcomes == (Succeeded(),)


async def test_a_waiting_invocation_may_be_cancelled(bench: Bench) -> None:
    await bench.start()
    bench.makes.made[0].crash()
    run = await bench.invoke("a")

    run.cancel()
    await bench.clock.advance(1.0)

    assert run.cancelled()
    assert bench.makes.made[-1].open == {}
    assert bench.pool.running == 0


async def test_a_retiring_worker_is_replaced_while_its_last_runs_go_on(bench: Bench) -> None:
    await bench.start()
    old = bench.makes.made[0]
    await bench.invoke("a")

    old.retire()
    await settle()
    await bench.invoke("b")

    assert (list(old.open), list(bench.makes.made[1].open)) == (["a"], ["b"])
    assert bench.probe.of(WorkerEnded) == []
    old.end("signal 15 (SIGTERM)")
    await settle()
    (event,) = bench.probe.of(WorkerEnded)
    assert (event.pid, event.expected, event.retired) == (old.pid, True, True)


async def test_a_function_that_no_worker_loads_any_more_is_told_and_handed_back_at_once(
    bench: Bench,
) -> None:
    """Its host is to ask for no more of its messages; what comes all the same is not kept."""
    failed = Loaded(failures={"broken": BROKEN})
    bench.pool_of(2, Loaded(), Loaded(), failed, failed)
    await bench.start()
    told: list[set[str]] = []
    bench.pool.watch(lambda unable: told.append(set(unable)))
    bench.makes.made[0].crash()
    await bench.clock.advance(0.1)
    able = await bench.invoke("a", "broken")
    assert (told, list(bench.makes.made[1].open)) == ([], ["a"])

    bench.makes.made[1].crash()
    await bench.clock.advance(0.1)
    late = await bench.invoke("b", "broken")
    await bench.invoke("c", "good")

    assert told == [{"broken"}]
    assert await late == Ran(outcomes=(Interrupted(by="load"),), duration_s=0.0)
    assert able.done()
    assert len(bench.probe.of(FunctionLoadFailed)) == 1


async def test_what_waits_for_a_worker_is_handed_back_when_that_cannot_load_its_function(
    bench: Bench,
) -> None:
    bench.pool_of(1, Loaded(), Loaded(failures={"broken": BROKEN}))
    await bench.start()
    bench.makes.made[0].crash()
    waits = await bench.invoke("a", "broken")
    assert not waits.done()

    await bench.clock.advance(0.1)

    assert (await waits).outcomes == (Interrupted(by="load"),)


async def test_a_function_that_loads_again_is_told(bench: Bench) -> None:
    bench.pool_of(1, Loaded(), Loaded(failures={"broken": BROKEN}), Loaded())
    await bench.start()
    bench.makes.made[-1].retire()
    await settle()
    told: list[set[str]] = []
    bench.pool.watch(lambda unable: told.append(set(unable)))

    bench.makes.made[-1].retire()
    await settle()
    await bench.invoke("a", "broken")

    assert told == [{"broken"}, set()]
    assert list(bench.makes.made[-1].open) == ["a"]


async def test_while_no_worker_is_up_an_invocation_waits_for_longer(bench: Bench) -> None:
    bench.pool_of(1, Loaded(), *[refuses() for _ in range(12)])
    await bench.start()
    bench.makes.made[0].crash()

    run = await bench.invoke("a")
    await bench.clock.advance(61.0)
    assert (bench.pool.ready, run.done()) == (0, False)
    await bench.clock.advance(120.0)
    bench.makes.made[-1].finish("a")

    assert (await run).outcomes == (Succeeded(),)


async def test_an_import_that_crashes_every_later_worker_is_left_out_of_them(
    bench: Bench,
) -> None:
    bench.pool_of(1, Loaded(), *[crash() for _ in range(100)])
    await bench.start()

    bench.makes.made[0].crash()
    await bench.clock.advance(0.1 + 0.2 + 0.4 + 0.8 + 1.6)
    bench.makes.made[-1].retire()
    await settle()

    loads = [worker.functions for worker in bench.makes.made]
    assert loads == [["good", "broken"]] * 5 + [["good"]] * 2
    assert bench.pool.ready == 1
    (event,) = bench.probe.of(FunctionLoadFailed)
    assert (event.function, event.message) == ("broken", "exit code 4")


async def test_a_failure_to_load_that_comes_back_is_told_again(bench: Bench) -> None:
    failed = Loaded(failures={"broken": BROKEN})
    bench.pool_of(1, failed, failed, Loaded(), failed)
    await bench.start()

    for _ in range(3):
        bench.makes.made[-1].retire()
        await settle()

    assert [event.function for event in bench.probe.of(FunctionLoadFailed)] == ["broken"] * 2


async def test_what_must_run_alone_runs_in_a_spare_worker_one_after_the_other(
    bench: Bench,
) -> None:
    await bench.start()
    usual = bench.makes.made[0]
    await bench.invoke("a")
    suspects = [await bench.invoke(name, alone=True) for name in ("b", "c")]
    spare = bench.makes.made[1]
    await bench.invoke("d")
    assert (list(usual.open), list(spare.open)) == (["a", "d"], ["b"])

    spare.finish("b")
    await settle()
    assert list(spare.open) == ["c"]
    spare.finish("c")
    await settle()

    assert [task.result().outcomes for task in suspects] == [(Succeeded(),)] * 2
    assert (spare.how, len(bench.makes.made)) == ("exit code 0", 2)


async def test_when_one_of_the_suspects_ends_its_worker_the_others_run_as_usual(
    bench: Bench,
) -> None:
    await bench.start()
    usual = bench.makes.made[0]
    culprit = await bench.invoke("a", alone=True)
    for name in ("b", "c"):
        await bench.invoke(name, alone=True)

    bench.makes.made[1].crash()
    await bench.clock.advance(60.0)

    assert culprit.result().outcomes == (WorkerLost(how="exit code 3", alone=True),)
    assert list(usual.open) == ["b", "c"]
    assert len(bench.makes.made) == 2


async def test_a_suspect_that_gives_up_waiting_leaves_its_turn_to_the_next(bench: Bench) -> None:
    await bench.start()
    await bench.invoke("a", alone=True)
    waits, next_one = [await bench.invoke(name, alone=True) for name in ("b", "c")]

    waits.cancel()
    bench.makes.made[1].finish("a")
    await settle()

    assert list(bench.makes.made[1].open) == ["c"]
    assert not next_one.done()


async def test_a_suspect_that_is_given_up_as_its_turn_comes_leaves_no_spare_worker(
    bench: Bench,
) -> None:
    await bench.start()
    first, second = [await bench.invoke(name, alone=True) for name in ("a", "b")]
    spare = bench.makes.made[1]

    spare.finish("a")
    await asyncio.sleep(0)  # the turn is the second's, which has not noticed yet
    assert first.done()
    second.cancel()
    await settle()

    assert second.cancelled()
    assert (spare.how, len(bench.makes.made)) == ("exit code 0", 2)


async def test_a_suspect_whose_turn_comes_with_the_stop_starts_no_worker(bench: Bench) -> None:
    await bench.start()
    first, second = [await bench.invoke(name, alone=True) for name in ("a", "b")]

    bench.makes.made[1].finish("a")
    await asyncio.sleep(0)  # as above
    assert first.done()
    await bench.pool.stop(0.0)

    assert (await second).outcomes == (Interrupted(),)
    assert len(bench.makes.made) == 2


async def test_a_spare_worker_that_does_not_come_up_is_tried_again(bench: Bench) -> None:
    bench.pool_of(1, Loaded(), refuses())
    await bench.start()

    await bench.invoke("a", alone=True)
    await bench.clock.advance(0.1)

    assert list(bench.makes.made[2].open) == ["a"]
    assert bench.delays() == pytest.approx([0.1])


async def test_a_stop_interrupts_suspects_and_ends_the_spare_worker(bench: Bench) -> None:
    await bench.start()
    suspects = [await bench.invoke(name, alone=True) for name in ("a", "b")]

    await bench.stop()
    suspects.append(await bench.invoke("c", alone=True))

    assert [(await task).outcomes for task in suspects] == [(Interrupted(),)] * 3
    assert [worker.how for worker in bench.makes.made] == ["exit code 0"] * 2


async def test_a_stop_interrupts_what_runs_and_what_comes(bench: Bench) -> None:
    await bench.start()
    old = bench.makes.made[0]
    retiring = await bench.invoke("a")
    old.retire()
    await settle()
    running = await bench.invoke("b")

    await bench.stop()
    late = await bench.invoke("c")

    assert [(await run).outcomes for run in (retiring, running)] == [(Interrupted(),)] * 2
    assert (await late).outcomes == (Interrupted(),)
    assert [event.expected for event in bench.probe.of(WorkerEnded)] == [True, True]
    assert bench.pool.ready == 0


async def test_a_stop_waits_for_a_crashed_worker_that_is_still_ending(bench: Bench) -> None:
    await bench.start()
    bench.makes.made[0].fail()
    await settle()

    await bench.stop()

    (event,) = bench.probe.of(WorkerEnded)
    assert (event.how, event.pid) == ("exit code 0", 101)
    assert len(bench.makes.made) == 1


async def test_a_stop_that_goes_wrong_in_one_worker_ends_the_others_and_is_told(
    bench: Bench,
) -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what["message"]))
    bench.pool_of(2)
    await bench.start()
    bench.makes.made[0].defect = RuntimeError("a defect")

    await bench.stop()

    assert bench.makes.made[1].ended.is_set()
    assert told == ["stop of worker 1: a defect"]


async def test_a_stop_while_no_worker_is_up_answers_those_that_wait(bench: Bench) -> None:
    await bench.start()
    bench.makes.made[0].crash()
    run = await bench.invoke("a")

    await bench.stop()

    assert (await run).outcomes == (Interrupted(),)
    assert len(bench.makes.made) == 1


async def test_a_start_that_is_cancelled_leaves_no_worker(bench: Bench) -> None:
    bench.pool_of(2, Loaded(), crash())
    start = asyncio.create_task(bench.pool.start([spec("broken")]))
    await settle()

    start.cancel()
    await asyncio.wait([start])

    assert start.cancelled()
    assert [worker.ended.is_set() for worker in bench.makes.made] == [True, False]

"""The pool with real worker processes: nothing is lost beside a crash, nothing is left over."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import replace

import pytest

from qtrigger.clock import SystemClock
from qtrigger.events import UserLog, WorkerEnded, WorkerStarted
from qtrigger.invocation import Interrupted, Succeeded, TimedOut, WorkerLost
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.pool import WorkerPool
from tests.integration.workers.support import (
    RETURN,
    TRIGGER,
    Workshop,
    invocation,
    outcome,
    returned,
    write_function,
)

CODE = """
    import asyncio, os

    async def main(msg: str):
        if msg == "crash":
            os._exit(3)
        if msg == "wait":
            print("waiting", flush=True)
            await asyncio.Event().wait()
"""


def pool_of(workshop: Workshop, size: int) -> WorkerPool:
    return WorkerPool(size=size, make=workshop.make, clock=SystemClock(), events=workshop.probe)


async def test_work_goes_on_beside_and_after_a_crash(workshop: Workshop) -> None:
    pool = pool_of(workshop, 2)
    await pool.start([write_function(workshop.root, "works", CODE)])
    for _ in range(2):
        await pool.invoke(invocation("works"))

    crash = asyncio.create_task(pool.invoke(invocation("works", "crash")))
    others = [asyncio.create_task(pool.invoke(invocation("works"))) for _ in range(40)]

    assert isinstance(outcome(await crash), WorkerLost)
    kinds = [type(outcome(ran)) for ran in await asyncio.gather(*others)]
    assert set(kinds) <= {Succeeded, WorkerLost}
    await workshop.probe.wait_for(WorkerStarted, count=3)
    assert outcome(await pool.invoke(invocation("works"))) == Succeeded()
    await pool.stop(0.0)


async def test_the_one_of_six_that_kills_its_worker_is_found_and_its_neighbours_finish(
    workshop: Workshop,
) -> None:
    code = """
        import asyncio, os, signal

        async def main(msg: str):
            print("running", flush=True)
            if msg == "kills":
                await asyncio.sleep(0.1)
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(0.3)
    """
    pool = pool_of(workshop, 1)
    await pool.start([write_function(workshop.root, "works", code)])
    bodies = ["fine", "kills", "fine", "fine", "fine", "fine"]
    first = await asyncio.gather(*(pool.invoke(invocation("works", body)) for body in bodies))
    assert {getattr(outcome(ran), "alone", None) for ran in first} == {False}

    alone = (replace(invocation("works", body), alone=True) for body in bodies)
    second = await asyncio.gather(*(pool.invoke(each) for each in alone))

    kinds = [type(outcome(ran)) for ran in second]
    assert kinds == [Succeeded, WorkerLost, *[Succeeded] * 4]
    lost = outcome(second[1])
    assert isinstance(lost, WorkerLost)
    assert lost.alone
    await pool.stop(0.0)
    assert all(not worker.running for worker in workshop.made)


async def test_one_that_hangs_with_a_lock_times_out_alone_and_all_workers_go_on(
    workshop: Workshop,
) -> None:
    code = """
        import os, threading, time
        lock = threading.Lock()

        def main(msg: str) -> str:
            if msg == "hangs":
                lock.acquire()
                print("hangs", flush=True)
                threading.Event().wait()
            with lock:
                pass
            time.sleep(0.05)
            return str(os.getpid())
    """
    workshop.env = {"PYTHON_THREADPOOL_THREAD_COUNT": "4"}
    workshop.deadlines = Deadlines(retire_s=0.5)
    pool = pool_of(workshop, 4)
    await pool.start([write_function(workshop.root, "locks", code, bindings=(TRIGGER, RETURN))])
    hangs = asyncio.create_task(pool.invoke(invocation("locks", "hangs", timeout_s=0.5)))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "hangs")

    ran = await asyncio.gather(
        *(pool.invoke(invocation("locks", timeout_s=0.5)) for _ in range(40))
    )

    assert outcome(await hangs) == TimedOut(after_s=0.5)
    kinds = Counter(type(outcome(each)) for each in ran)
    assert set(kinds) == {Succeeded, Interrupted}
    assert kinds[Interrupted] <= 10
    await workshop.probe.wait_for(WorkerStarted, count=5)
    ran = await asyncio.gather(*(pool.invoke(invocation("locks")) for _ in range(16)))
    assert Counter(Counter(returned(each)[0] for each in ran).values()) == {4: 4}
    await pool.stop(0.0)


async def test_a_stopped_pool_leaves_no_process(workshop: Workshop) -> None:
    pool = pool_of(workshop, 3)
    await pool.start([write_function(workshop.root, "works", CODE)])
    runs = [asyncio.create_task(pool.invoke(invocation("works", "wait"))) for _ in range(6)]
    await workshop.probe.wait_for(UserLog, count=6, where=lambda e: e.message == "waiting")
    pids = [event.pid for event in workshop.probe.of(WorkerStarted)]

    await pool.stop(0.05)

    assert {outcome(run.result()) for run in runs} == {Interrupted()}
    assert len(workshop.probe.of(WorkerEnded)) == 3
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_stop_just_after_a_crash_waits_for_the_end_of_both(workshop: Workshop) -> None:
    # What holds the pipes open makes the end of the process take its time.
    code = """
        import os, subprocess

        def main(msg: str):
            subprocess.Popen(["sleep", "2"], start_new_session=True)
            os._exit(3)
    """
    pool = pool_of(workshop, 1)
    await pool.start([write_function(workshop.root, "crash", code)])
    (worker,) = workshop.made
    run = asyncio.create_task(pool.invoke(invocation("crash")))
    await worker.wait_unavailable()

    await pool.stop(0.0)

    assert isinstance(outcome(await run), WorkerLost)
    assert [event.how for event in workshop.probe.of(WorkerEnded)] == ["exit code 3"]


async def test_a_crash_at_import_stops_that_function_alone(workshop: Workshop) -> None:
    good = write_function(workshop.root, "good", CODE)
    bad = write_function(workshop.root, "bad", "import ctypes; ctypes.string_at(0)")
    pool = pool_of(workshop, 1)

    loaded = await pool.start([bad, good])

    assert list(loaded.failures) == ["bad"]
    assert "signal 11 (SIGSEGV)" in loaded.failures["bad"].message
    assert outcome(await pool.invoke(invocation("good"))) == Succeeded()
    await pool.stop(1.0)


async def test_an_import_that_recovers_on_the_fourth_try_is_loaded(workshop: Workshop) -> None:
    code = """
        import os
        with open("tries", "a") as file:
            file.write("x")
        if os.path.getsize("tries") < 4:
            os._exit(1)

        def main(msg: str): pass
    """
    pool = pool_of(workshop, 1)

    loaded = await pool.start([write_function(workshop.root, "flaky", code)])

    assert loaded.failures == {}
    await pool.stop(1.0)

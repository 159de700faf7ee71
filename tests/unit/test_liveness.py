"""What stands still is told once, by its process id, and what computes is left alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from qtrigger.events import WorkerAnswers, WorkerSilent
from qtrigger.liveness import Liveness
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe
from qtrigger.workers.pulse import Pulse


class Worker:
    """Answers while it is not `still`."""

    def __init__(self, clock: ManualClock, pid: int = 7) -> None:
        self.pid = pid
        self.still = False
        self.spent = 1.0
        self.asked = 0
        self._pulse = Pulse(clock, self._on_question)
        self._open: list[int] = []

    @property
    def silent_s(self) -> float:
        return self._pulse.silent_s

    def ask(self) -> None:
        self._pulse.ask()
        self.go_on(self.still)

    def go_on(self, still: bool = False) -> None:
        self.still = still
        while self._open and not still:
            self._pulse.answered(self._open.pop())

    def _on_question(self, number: int) -> None:
        self.asked += 1
        self._open.append(number)


@dataclass
class Listener:
    function: str = "charge"
    due_at: float = math.inf


class Scene:
    """Two looks a second; a worker may be silent for one."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.probe = Probe()
        self.worker = Worker(self.clock)
        self.workers = [self.worker]
        self.listener = Listener()
        self.looks = 0
        self.liveness = Liveness(
            listeners=lambda: [self.listener],
            workers=lambda: self.workers,
            spent_s=lambda pid: next(each.spent for each in self.workers if each.pid == pid),
            clock=self.clock,
            sink=self.probe,
            looked=self.looked,
            every_s=0.5,
            silent_s=1.0,
        )

    def looked(self) -> None:
        self.looks += 1

    async def still_for(self, seconds: float) -> None:
        self.worker.still = True
        await self.clock.advance(seconds)


async def test_who_answers_is_asked_at_each_look_and_nothing_is_told() -> None:
    scene = Scene()

    await scene.clock.advance(10.0)

    assert (scene.looks, scene.worker.asked) == (20, 20)
    assert (list(scene.liveness.problems), scene.probe.events) == ([], [])


async def test_a_worker_that_stands_still_is_told_once_and_asked_no_more() -> None:
    scene = Scene()
    await scene.clock.advance(2.0)
    asked = scene.worker.asked

    await scene.still_for(10.0)

    (silent,) = scene.probe.of(WorkerSilent)
    assert (silent.pid, list(scene.liveness.silent)) == (7, [7])
    assert 1.0 <= silent.for_s <= 1.5
    assert scene.worker.asked == asked + 1
    (problem,) = scene.liveness.problems
    assert problem.startswith("worker 7 has not answered for ")


async def test_one_that_goes_on_is_told_with_how_long_it_stood_still() -> None:
    scene = Scene()
    await scene.clock.advance(2.0)
    await scene.still_for(10.0)

    scene.worker.go_on()
    await scene.clock.advance(0.5)

    (answers,) = scene.probe.of(WorkerAnswers)
    assert 9.5 <= answers.after_s <= 10.5
    assert list(scene.liveness.problems) == []


async def test_one_that_computes_and_cannot_answer_does_not_stand_still() -> None:
    scene = Scene()
    await scene.clock.advance(2.0)
    scene.worker.still = True
    for _ in range(20):
        scene.worker.spent += 0.4
        await scene.clock.advance(0.5)

    assert list(scene.liveness.problems) == []


async def test_one_that_has_ended_is_forgotten() -> None:
    scene = Scene()
    await scene.still_for(10.0)
    assert scene.liveness.silent

    scene.workers = [Worker(scene.clock, pid=8)]
    await scene.clock.advance(0.5)

    assert list(scene.liveness.problems) == []


async def test_a_listener_that_is_late_is_named() -> None:
    scene = Scene()
    scene.listener.due_at = 3.0

    await scene.clock.advance(3.5)
    assert list(scene.liveness.problems) == []
    await scene.clock.advance(3.5)

    assert list(scene.liveness.problems) == ["the listener of charge is 4 s late"]


async def test_a_closed_one_looks_no_more() -> None:
    scene = Scene()
    scene.liveness.close()

    await scene.clock.advance(10.0)

    assert scene.looks == 0

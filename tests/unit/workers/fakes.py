"""A worker under the test's hand, for the pool and its seats."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from qtrigger.errors import WorkerStartError
from qtrigger.invocation import (
    Interrupted,
    Invocation,
    Outcome,
    Ran,
    Succeeded,
    WorkerLost,
)
from qtrigger.workers.pooled import LoadCrash
from qtrigger.workers.worker import FunctionSpec, Loaded


@dataclass(eq=False)
class FakeWorker:
    """Starts as `plan` says; runs end when the test says `finish`.

    A LoadCrash comes only with the function that is to crash it.
    """

    pid: int
    plan: WorkerStartError | Loaded
    functions: list[str] = field(default_factory=list)
    accepting: bool = False
    expected: bool = False
    retired: bool = False
    completed: int = 0
    lost: int = 0
    how: str = ""
    defect: Exception | None = None
    stacks_shown: int = 0
    silent_s: float = 0.0

    def __post_init__(self) -> None:
        self.open: dict[str, asyncio.Future[Ran]] = {}
        self.unavailable = asyncio.Event()
        self.ended = asyncio.Event()

    @property
    def running(self) -> int:
        return len(self.open)

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        self.functions = [function.name for function in functions]
        plan = self.plan
        if isinstance(plan, LoadCrash) and plan.function not in self.functions:
            plan = Loaded()
        if isinstance(plan, WorkerStartError):
            raise plan
        self.accepting = True
        return plan

    async def invoke(self, invocation: Invocation) -> Ran:
        future = self.open[invocation.id] = asyncio.get_running_loop().create_future()
        ran: Ran = await future
        return ran

    async def stop(self, grace_s: float) -> None:
        if self.defect is not None:
            raise self.defect
        self.expected = True
        for name in list(self.open):
            self._answer(name, Interrupted())
        self.end("exit code 0")

    def ask(self) -> None:
        pass

    async def where(self, invocation_id: str) -> str:
        return f"{self.pid}" if invocation_id in self.open else ""

    def show_stacks(self) -> None:
        self.stacks_shown += 1

    async def wait_unavailable(self) -> None:
        await self.unavailable.wait()

    async def wait_ended(self) -> None:
        await self.ended.wait()

    def finish(self, name: str) -> None:
        self.completed += 1
        self._answer(name, Succeeded())

    def _answer(self, name: str, outcome: Outcome) -> None:
        self.open.pop(name).set_result(Ran(outcomes=(outcome,), duration_s=0.0))

    def retire(self) -> None:
        self.expected = self.retired = True
        self.fail()

    def fail(self) -> None:
        """Begin to end: no more invocations, and not over yet."""
        self.accepting = False
        self.unavailable.set()

    def end(self, how: str) -> None:
        self.how = how
        self.accepting = False
        self.unavailable.set()
        self.ended.set()

    def crash(self) -> None:
        self.lost = len(self.open)
        alone = self.lost == 1
        for name in list(self.open):
            self._answer(name, WorkerLost(how="exit code 3", alone=alone))
        self.end("exit code 3")


class Makes:
    """Makes fake workers, one after the other as planned, good ones when the plan is used up."""

    def __init__(self, *plan: WorkerStartError | Loaded) -> None:
        self._plan = list(plan)
        self._pids = count(101)
        self.made: list[FakeWorker] = []

    def __call__(self) -> FakeWorker:
        plan = self._plan.pop(0) if self._plan else Loaded()
        worker = FakeWorker(pid=next(self._pids), plan=plan)
        self.made.append(worker)
        return worker

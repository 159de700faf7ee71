"""One place in a pool, and the succession of workers in it.

Owns bringing a worker up, noticing its end, and how soon the next one follows. It routes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from qtrigger.background import begin, tell_defect
from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import EventSink, WorkerEnded, WorkerStarted
from qtrigger.workers.loads import Crashers, LoadNews
from qtrigger.workers.pooled import LoadCrash, PooledWorker
from qtrigger.workers.worker import FunctionSpec, Loaded

FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 30.0


class Seat:
    """Keeps one worker there from `run` until `stop`.

    `worker` is the one that takes invocations, if any; `first` is what the first one has loaded,
    or its WorkerStartError. `on_change` is called whenever a worker begins to take invocations, and
    when it takes no more.
    """

    def __init__(
        self,
        number: int,
        *,
        make: Callable[[], PooledWorker],
        functions: Sequence[FunctionSpec],
        clock: Clock,
        events: EventSink,
        news: LoadNews,
        on_change: Callable[[], None],
    ) -> None:
        self.number = number
        self.worker: PooledWorker | None = None
        self.loaded = Loaded()
        self.first: asyncio.Future[Loaded] = asyncio.get_running_loop().create_future()
        self._make = make
        self._functions = functions
        self._clock = clock
        self._events = events
        self._news = news
        self._on_change = on_change
        self._crashers = Crashers()
        self._delay_s = 0.0
        self._leaving: dict[PooledWorker, asyncio.Task[None]] = {}
        self._keeper = asyncio.create_task(self._keep(), name=f"keeper of worker {number}")
        self._keeper.add_done_callback(self._on_keeper_done)

    @property
    def takes_invocations(self) -> bool:
        """Whether there is a worker that takes invocations now."""
        return self.worker is not None and self.worker.accepting

    def can_run(self, function: str) -> bool:
        """Whether its worker takes invocations of this function now."""
        return self.takes_invocations and function not in self.loaded.failures

    async def where(self, invocation_id: str) -> str:
        """See `Workers`; a worker that is leaving may have the run."""
        for worker in (self.worker, *self._leaving):
            if worker is not None and (stack := await worker.where(invocation_id)):
                return stack
        return ""

    def show_stacks(self) -> None:
        """Have its workers say where their code stands, those too that are leaving."""
        for worker in (self.worker, *self._leaving):
            if worker is not None:
                worker.show_stacks()

    async def stop(self, grace_s: float) -> None:
        """End the succession and its workers; see `Worker.stop`. Never raises for their fate."""
        self._keeper.cancel()
        await asyncio.wait([self._keeper])
        if self.worker is not None:
            self._see_off(self.worker)
        await asyncio.gather(
            *(self._end(worker, ended, grace_s) for worker, ended in self._leaving.items())
        )

    async def _end(self, worker: PooledWorker, ended: asyncio.Task[None], grace_s: float) -> None:
        stop = begin(worker.stop(grace_s), name=f"stop of worker {self.number}")
        await asyncio.gather(stop, return_exceptions=True)
        if stop.cancelled() or stop.exception() is not None:
            # Whether it will ever have ended, nobody knows.
            ended.cancel()
        await asyncio.wait([ended])

    async def _keep(self) -> None:
        while True:
            worker = await self._next_worker()
            if worker is None:
                continue
            self.worker = worker
            if not self.first.done():
                self.first.set_result(self.loaded)
            self._on_change()
            await worker.wait_unavailable()
            self._see_off(worker)
            self._on_change()
            if worker.expected:
                # It retires and leaves when its last runs are over; the next one starts now.
                self._delay_s = 0.0
            else:
                # Not awaited itself: a stop cancels the keeper, and must not cancel that with it.
                await asyncio.wait([self._leaving[worker]])

    def _on_keeper_done(self, keeper: asyncio.Task[None]) -> None:
        """A bug of ours must not look like a worker that never becomes ready."""
        error = None if keeper.cancelled() else keeper.exception()
        if error is not None and not self.first.done():
            self.first.set_exception(error)
        else:
            tell_defect(keeper)

    async def _next_worker(self) -> PooledWorker | None:
        if self._delay_s:
            await self._clock.sleep(self._delay_s)
        try:
            return await self._bring_up()
        except WorkerStartError as error:
            if not self.first.done():
                self.first.set_exception(error)
            self._lengthen_delay()
            self._ended(pid=0, how=str(error), expected=False, lost=0)
            return None

    async def _bring_up(self) -> PooledWorker:
        """Start a worker, without the functions that are known to crash it."""
        while True:
            worker = self._make()
            began = self._clock.monotonic()
            try:
                loaded = await worker.start(self._crashers.others(self._functions))
            except LoadCrash as crash:
                tries = self._crashers.note(crash)
                if self.first.done():
                    raise
                # The start of the pool waits for this one.
                await self._clock.sleep(FIRST_DELAY_S * 2 ** (tries - 1) if tries else 0.0)
                continue
            self.loaded = self._crashers.came_up(loaded)
            self._news.tell(self.loaded)
            took_s = self._clock.monotonic() - began
            self._events.emit(WorkerStarted(worker=self.number, pid=worker.pid, took_s=took_s))
            return worker

    def _see_off(self, worker: PooledWorker) -> None:
        self.worker = None
        ended = begin(self._wait_for_end(worker), name=f"end of worker {self.number}")
        self._leaving[worker] = ended
        ended.add_done_callback(lambda _task: self._leaving.pop(worker))

    async def _wait_for_end(self, worker: PooledWorker) -> None:
        await worker.wait_ended()
        if not worker.expected:
            if worker.completed:
                self._delay_s = 0.0
            else:
                self._lengthen_delay()
        self._ended(
            pid=worker.pid,
            how=worker.how,
            expected=worker.expected,
            lost=worker.lost,
            retired=worker.retired,
        )

    def _ended(
        self, *, pid: int, how: str, expected: bool, lost: int, retired: bool = False
    ) -> None:
        self._events.emit(
            WorkerEnded(
                worker=self.number,
                pid=pid,
                how=how,
                expected=expected,
                lost=lost,
                retired=retired,
                next_start_s=0.0 if expected else self._delay_s,
            )
        )

    def _lengthen_delay(self) -> None:
        self._delay_s = min(max(self._delay_s * 2, FIRST_DELAY_S), LONGEST_DELAY_S)

"""Several workers as one.

Owns which worker gets an invocation, and the wait while there is none. It does not know the
language: it is given a function that makes workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import EventSink
from qtrigger.invocation import Interrupted, Invocation, Ran
from qtrigger.workers import answers
from qtrigger.workers.loads import LoadNews
from qtrigger.workers.pooled import PooledWorker
from qtrigger.workers.seat import Seat
from qtrigger.workers.worker import FunctionSpec, Loaded

# How long an invocation waits for a worker that can run it, beside others that are up and cannot.
UNABLE_S = 60.0


class WorkerPool:
    """A `Worker` made of `size` others, which are replaced when they end.

    `make` gives a new worker that was not started. Events WorkerStarted, WorkerEnded and
    FunctionLoadFailed go to `events`.
    """

    def __init__(
        self, *, size: int, make: Callable[[], PooledWorker], clock: Clock, events: EventSink
    ) -> None:
        self._size = size
        self._make = make
        self._clock = clock
        self._events = events
        self._seats: list[Seat] = []
        self._stopping = False
        self._changed = asyncio.Event()
        self._running = 0

    @property
    def running(self) -> int:
        """See `Worker`; invocations that wait for a worker are counted."""
        return self._running

    @property
    def ready(self) -> int:
        """How many workers take invocations now."""
        return sum(1 for seat in self._seats if seat.worker is not None and seat.worker.accepting)

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """Start the workers side by side and wait for the first try of each.

        What has failed to load is what the first of them says. Raises WorkerStartError when none
        comes up; when some do, the others are tried again later.
        """
        news = LoadNews(self._events)
        self._seats = [
            Seat(
                number,
                make=self._make,
                functions=functions,
                clock=self._clock,
                events=self._events,
                news=news,
                on_ready=self._changed.set,
            )
            for number in range(1, self._size + 1)
        ]
        try:
            firsts = await asyncio.gather(
                *(seat.first for seat in self._seats), return_exceptions=True
            )
        except asyncio.CancelledError:
            await self.stop(0.0)
            raise
        for loaded in firsts:
            if isinstance(loaded, Loaded):
                return loaded
        await self.stop(0.0)
        for error in firsts:
            if isinstance(error, BaseException):
                raise error
        raise WorkerStartError("a pool needs at least one worker")

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`. Waits for a worker when there is none; ends with `stop` at the latest.

        Where the workers that are up cannot run the function, it is Interrupted after 60 s.
        """
        self._running += 1
        try:
            worker = await self._worker_for(invocation.function)
            if worker is not None:
                return await worker.invoke(invocation)
            return answers.every(invocation, Interrupted(), 0.0)
        finally:
            self._running -= 1

    async def stop(self, grace_s: float) -> None:
        """See `Worker`."""
        self._stopping = True
        self._changed.set()
        await asyncio.gather(*(seat.stop(grace_s) for seat in self._seats))

    async def _worker_for(self, function: str) -> PooledWorker | None:
        """None at a stop, or when the function cannot run."""
        up_to = self._clock.monotonic() + UNABLE_S
        while not self._stopping:
            worker = self._least_busy(function)
            if worker is not None:
                return worker
            left_s = up_to - self._clock.monotonic()
            if left_s <= 0 and self.ready:
                return None
            self._changed.clear()
            if left_s > 0:
                await self._clock.wait(self._changed, left_s)
            else:
                # Nothing is up. To hand the message back would cost it a try each time it comes
                # again; here it waits at no cost.
                await self._changed.wait()
        return None

    def _least_busy(self, function: str) -> PooledWorker | None:
        best: PooledWorker | None = None
        for seat in self._seats:
            worker = seat.worker
            if worker is None or not seat.can_run(function):
                continue
            if best is None or worker.running < best.running:
                best = worker
        return best

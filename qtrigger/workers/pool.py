"""Several workers as one.

Owns which worker gets an invocation, the wait while there is none, and the spare worker for those
that must run alone. It does not know the language: it is given a function that makes workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import EventSink
from qtrigger.invocation import Interrupted, Invocation, Ran, WorkerLost
from qtrigger.lane import Lane
from qtrigger.workers import answers
from qtrigger.workers.loads import LoadNews
from qtrigger.workers.pooled import PooledWorker
from qtrigger.workers.seat import Seat
from qtrigger.workers.worker import FunctionSpec, Loaded


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
        self._news = LoadNews(events)
        self._functions: Sequence[FunctionSpec] = ()
        self._seats: list[Seat] = []
        self._lane = Lane(self._end_spare)
        self._spare: Seat | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._changed = asyncio.Event()
        self._running = 0
        self._unable: AbstractSet[str] = frozenset()
        self._tell_unable: Callable[[AbstractSet[str]], None] = lambda _unable: None

    @property
    def running(self) -> int:
        """See `Worker`; invocations that wait for a worker are counted."""
        return self._running

    @property
    def ready(self) -> int:
        """How many workers take invocations now."""
        return sum(seat.takes_invocations for seat in self._seats)

    @property
    def processes(self) -> Sequence[PooledWorker]:
        """The workers that take invocations now, the spare one among them."""
        seats = (*self._seats, *([self._spare] if self._spare is not None else []))
        return [seat.worker for seat in seats if seat.worker is not None and seat.takes_invocations]

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        """See `Workers`."""
        self._tell_unable = unable
        if self._unable:
            unable(self._unable)

    async def where(self, invocation_id: str) -> str:
        """See `Workers`."""
        for seat in self._seats:
            if stack := await seat.where(invocation_id):
                return stack
        return ""

    def show_stacks(self) -> None:
        """See `Workers`."""
        for seat in (*self._seats, self._spare):
            if seat is not None:
                seat.show_stacks()

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """Start the workers side by side and wait for the first try of each.

        What has failed to load is what the first of them says. Raises WorkerStartError when none
        comes up; when some do, the others are tried again later.
        """
        self._functions = functions
        self._seats = [self._seat(number) for number in range(1, self._size + 1)]
        try:
            firsts = await asyncio.gather(
                *(seat.first for seat in self._seats), return_exceptions=True
            )
        except asyncio.CancelledError:
            await self.stop(0.0)
            raise
        for loaded in firsts:
            if isinstance(loaded, Loaded):
                at_once = {name: each * self._size for name, each in loaded.at_once.items()}
                return replace(loaded, at_once=at_once)
        await self.stop(0.0)
        for error in firsts:
            if isinstance(error, BaseException):
                raise error
        raise WorkerStartError("a pool needs at least one worker")

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`. Waits for a worker when there is none; ends with `stop` at the latest.

        Where none of the workers that are up can run the function, it is Interrupted. What must run
        alone gets its turn in a spare worker, which is there while anything waits for it.
        """
        self._running += 1
        try:
            if invocation.alone and not self._stopping and await self._lane.enter():
                return await self._invoke_apart(invocation)
            return await self._invoke(invocation, self._seats)
        finally:
            self._running -= 1

    async def stop(self, grace_s: float) -> None:
        """See `Worker`."""
        self._stopping = True
        self._changed.set()
        self._lane.excuse()
        self._end_spare(grace_s)
        await asyncio.gather(*(seat.stop(grace_s) for seat in self._seats), *self._leaving)

    def _seat(self, number: int) -> Seat:
        return Seat(
            number,
            make=self._make,
            functions=self._functions,
            clock=self._clock,
            events=self._events,
            news=self._news,
            on_change=self._on_change,
        )

    def _on_change(self) -> None:
        """The workers that take invocations are others than before."""
        self._changed.set()
        loaded = [seat.loaded for seat in self._seats if seat.takes_invocations]
        if not loaded:
            return  # a waiting invocation costs nothing, and the next worker may load them all
        unable = frozenset.intersection(*(frozenset(each.failures) for each in loaded))
        if unable != self._unable:
            self._unable = unable
            self._tell_unable(unable)

    async def _invoke_apart(self, invocation: Invocation) -> Ran:
        try:
            if self._stopping:  # its turn has come with the stop
                return await self._invoke(invocation, ())
            if self._spare is None:
                self._spare = self._seat(self._size + 1)
                self._spare.first.add_done_callback(_retrieve)
            ran = await self._invoke(invocation, [self._spare])
            if any(isinstance(outcome, WorkerLost) for outcome in ran.outcomes):
                # This one ends workers; the others that wait were its neighbours, most likely.
                self._lane.excuse()
            return ran
        finally:
            self._lane.leave()

    def _end_spare(self, grace_s: float = 0.0) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            ending = begin(spare.stop(grace_s), name="end of the spare worker")
            self._leaving.add(ending)
            ending.add_done_callback(self._leaving.discard)

    async def _invoke(self, invocation: Invocation, seats: Sequence[Seat]) -> Ran:
        worker = None if self._stopping else _least_busy(invocation.function, seats)
        if worker is None:
            worker = await self._worker_for(invocation.function, seats)
        if worker is not None:
            return await worker.invoke(invocation)
        by = "stop" if self._stopping else "load"
        return answers.every(invocation, Interrupted(by=by), 0.0)

    async def _worker_for(self, function: str, seats: Sequence[Seat]) -> PooledWorker | None:
        """None at a stop, or when the workers that are up cannot run the function."""
        while not self._stopping:
            worker = _least_busy(function, seats)
            if worker is not None:
                return worker
            if any(seat.takes_invocations for seat in seats):
                return None
            # Nothing is up. To hand the message back would cost it a try each time it comes
            # again; here it waits at no cost.
            self._changed.clear()
            await self._changed.wait()
        return None


def _least_busy(function: str, seats: Sequence[Seat]) -> PooledWorker | None:
    best: PooledWorker | None = None
    for seat in seats:
        worker = seat.worker
        if worker is None or not seat.can_run(function):
            continue
        if best is None or worker.running < best.running:
            best = worker
    return best


def _retrieve(first: asyncio.Future[Loaded]) -> None:
    """Nobody waits for a spare worker's first start; that it failed was told as an event."""
    if not first.cancelled():
        first.exception()

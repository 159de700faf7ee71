"""One generation of workers after another, behind what looks like one.

Owns which generation a run goes to, and the end of those that were succeeded: each goes once it has
nothing left to do. It starts no workers, and knows neither files nor queues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.invocation import Invocation, Ran
from qtrigger.workers.worker import FunctionSpec, Loaded, Workers

Tie = Callable[[], Awaitable[None]]
"""Waits until something needs a generation no more."""


class Generation:
    """Workers that hold the same code, and how many runs they were given and have not ended."""

    __slots__ = ("quiet", "running", "workers")

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.running = 0
        self.quiet = asyncio.Event()
        self.quiet.set()

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`."""
        if not self.running:
            self.quiet.clear()
        self.running += 1
        try:
            return await self.workers.invoke(invocation)
        finally:
            self.running -= 1
            if not self.running:
                self.quiet.set()


class Runner:
    """Where the runs of one listener go: to the newest generation, unless it is to stay."""

    __slots__ = ("_moved_on", "_stays", "_succession")

    def __init__(self, succession: Succession) -> None:
        self._succession = succession
        self._stays: Generation | None = None
        self._moved_on = asyncio.Event()

    def invoke(self, invocation: Invocation) -> Coroutine[Any, Any, Ran]:
        """See `Worker`; which generation it is, is settled now."""
        return (self._stays or self._succession.newest).invoke(invocation)

    def stay(self) -> bool:
        """Stay with the generation that is the newest now, also when that one is succeeded.

        Says whether that is so; it is not when it stays with an older one already.
        """
        if self._stays is None:
            self._stays = self._succession.newest
            self._moved_on.clear()
        return self._stays is self._succession.newest

    def follow(self) -> None:
        """Go to the newest generation from here on."""
        self._stays = None
        self._moved_on.set()

    async def moved_on(self) -> None:
        """Wait until it follows again."""
        await self._moved_on.wait()


class Succession:
    """`Workers` that can be succeeded by others while they run.

    `first` are those to begin with, not started.
    """

    def __init__(self, first: Workers, clock: Clock) -> None:
        self.newest = Generation(first)
        self._clock = clock
        self._leaving: dict[Generation, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()
        self._unable: Callable[[AbstractSet[str]], None] = lambda _unable: None

    @property
    def running(self) -> int:
        """See `Worker`."""
        return self.newest.running + self.running_before

    @property
    def running_before(self) -> int:
        """How many runs go on in generations that were succeeded."""
        return sum(generation.running for generation in self._leaving)

    @property
    def leaving(self) -> Sequence[asyncio.Task[None]]:
        """The generations that were succeeded and have not ended, as tasks that end with them."""
        return list(self._leaving.values())

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """See `Worker`."""
        return await self.newest.workers.start(functions)

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`; the newest generation gets it."""
        return await self.newest.invoke(invocation)

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        """See `Workers`; it is told of the newest generation alone."""
        self._unable = unable
        self._watch(self.newest)

    async def where(self, invocation_id: str) -> str:
        """See `Workers`; runs in every generation are found."""
        for generation in (self.newest, *self._leaving):
            if stack := await generation.workers.where(invocation_id):
                return stack
        return ""

    def show_stacks(self) -> None:
        """See `Workers`."""
        for generation in (self.newest, *self._leaving):
            generation.workers.show_stacks()

    def succeed(self, workers: Workers, ties: Sequence[Tie], *, up_to_s: float) -> None:
        """Let `workers`, which have loaded, have what comes from here on.

        Those before them finish what they run, and stay until each of `ties` has returned; what
        still runs after `up_to_s` seconds is interrupted, as at a stop.
        """
        before, self.newest = self.newest, Generation(workers)
        leaving = begin(self._leave(before, ties, up_to_s), name="workers that were succeeded")
        self._leaving[before] = leaving
        leaving.add_done_callback(lambda _task: self._leaving.pop(before))
        self._watch(self.newest)

    async def stop(self, grace_s: float) -> None:
        """See `Worker`; all generations end."""
        workers = [each.workers for each in (self.newest, *self._leaving)]
        await asyncio.gather(*(each.stop(grace_s) for each in workers))
        self._stopped.set()
        if self._leaving:
            await asyncio.wait(self.leaving)

    async def _leave(self, before: Generation, ties: Sequence[Tie], up_to_s: float) -> None:
        needless = asyncio.ensure_future(_needless(before, ties))
        # Then nothing runs there any more, and who waits for messages does so without us.
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            async with self._clock.timeout(up_to_s):
                await asyncio.wait({needless, stopped}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            pass
        finally:
            stopped.cancel()
            if not needless.done():
                needless.cancel()
        await before.workers.stop(0.0)
        if needless.done() and not needless.cancelled():
            needless.result()

    def _watch(self, generation: Generation) -> None:
        def unable(functions: AbstractSet[str]) -> None:
            if generation is self.newest:
                self._unable(functions)

        generation.workers.watch(unable)


async def _needless(generation: Generation, ties: Sequence[Tie]) -> None:
    """Wait until a generation that was succeeded is needed no more."""
    await asyncio.gather(*(tie() for tie in ties))
    await generation.quiet.wait()

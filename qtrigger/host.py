"""One generation: the listeners and the workers of one loaded project.

Owns building them, and the stop ladder. Knows no signals, no files and no terminal; two hosts
can run side by side in one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from random import Random

from qtrigger.assembly import Assembly, function_spec, within
from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.events import EventSink, FunctionResumed, FunctionState, HostReady, HostStopping
from qtrigger.hidden import tell_hidden
from qtrigger.idle import IdleWatch
from qtrigger.listener import UNLOADED, Listener
from qtrigger.notices import Notices, OpenTellers
from qtrigger.pauses import Pause, Pauses
from qtrigger.pausing import Pausing
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.services import QueueServices
from qtrigger.throttling import Throttling
from qtrigger.tries import TriesOfAll
from qtrigger.workers.worker import Loaded, LoadFailure, Workers

# After the functions were interrupted, their messages are released; the service gets this long.
RELEASE_TIMEOUT_S = 5.0


class Host:
    """Runs one project's functions until told to stop.

    `workers` is any `Workers`; the pool is one. `random` seeds the back-off of the listeners,
    and `tries` is what hosts before it in this process remember of messages. `pauses` says which
    functions are paused by hand; None for none ever.
    """

    def __init__(
        self,
        project: Project,
        *,
        services: QueueServices,
        workers: Workers,
        clock: Clock,
        sink: EventSink,
        random: Random,
        tries: TriesOfAll | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        self.project = project
        self.listeners: tuple[Listener, ...] = ()
        self.failures: Mapping[str, LoadFailure] = {}
        self._at_once: Mapping[str, int] = {}
        self._services = services
        self._workers = workers
        self._clock = clock
        self._sink = sink
        self._idle = IdleWatch(clock)
        self._notices = Notices(clock=clock, sink=sink)
        self._pausing = (
            Pausing(pauses, clock=clock, sink=sink, changed=self._idle.note) if pauses else None
        )
        self._polling: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()
        self._assembly = Assembly(
            project.host,
            services=services,
            run=workers.invoke,
            clock=clock,
            sink=sink,
            random=random,
            changed=self._idle.note,
            tries=tries,
        )

    @property
    def running(self) -> int:
        """Messages in processing."""
        return sum(listener.running for listener in self.listeners)

    def pause_of(self, function: str) -> Pause | None:
        """The pause under which a function is held."""
        return self._pausing.of(function) if self._pausing is not None else None

    @property
    def throttling(self) -> Sequence[Throttling]:
        """What is known of the limits of each account that was asked."""
        return tuple(self._assembly.throttling)

    async def start(
        self,
        *,
        workers: int,
        interpreter: str,
        began_at: float,
        open_tellers: OpenTellers | None = None,
    ) -> None:
        """Bring the workers up, load the functions and begin to poll for those that can run.

        `began_at` is when somebody asked for this generation, on the monotonic clock;
        `open_tellers` makes those who are told of poisoned messages.
        Raises WorkerStartError when no worker can be had. Nothing is polled before every
        function is known to load: a function that cannot run is not polled at all.
        """
        try:
            loaded = await self._load()
            self.failures, self._at_once = loaded.failures, loaded.at_once
            self.listeners = tuple(
                self._assembly.listener(
                    each, self._notices.of(each, open_tellers), self._workers.where
                )
                for each in self._runnable()
            )
        except BaseException:
            await self._close()
            raise
        self._workers.watch(self._on_unable)
        if self._pausing is not None:
            self._pausing.begin(self.listeners)
        self._polling = {_start_polling(listener) for listener in self.listeners}
        self._sink.emit(
            HostReady(
                functions=self._states(),
                workers=workers,
                interpreter=interpreter,
                after_s=self._clock.monotonic() - began_at,
            )
        )

    def tell_hidden(self) -> None:
        """Say, soon, what is hidden from the listeners; for the first start of a process.

        At a reload it would be what the host before this one still works on.
        """
        self._looking = {
            begin(
                tell_hidden(listener, self.project.host.lease_s, self._sink),
                name=f"look for what is hidden from {listener.function}",
            )
            for listener in self.listeners
        }

    def show_stacks(self) -> None:
        """Have the workers say where their code stands."""
        self._workers.show_stacks()

    async def failed(self) -> None:
        """Wait for a listener to end by a defect of ours, and raise it; else wait for ever."""
        while self._polling:
            done, _ = await asyncio.wait(self._polling, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                self._polling.discard(task)
                task.result()
        await asyncio.Event().wait()

    async def idle(self, for_s: float) -> None:
        """Wait until there has been nothing to do for `for_s` seconds."""
        await self._idle.wait(self.listeners, for_s)

    async def stop(self, reason: str, *, up_to_s: float, at_once: asyncio.Event) -> int:
        """Walk down the stop ladder and return how many messages could not be handed back.

        No more polls; what runs may finish for `up_to_s` seconds, or until `at_once` is set,
        with leases renewing; then the rest is interrupted and released with visibility 0.
        """
        began = self._clock.monotonic()
        self._sink.emit(HostStopping(reason=reason, running=self.running, up_to_s=up_to_s))
        if self._pausing is not None:
            self._pausing.stop()
        for listener in self.listeners:
            listener.stop_polling()
        try:
            await self._drained(up_to_s, at_once)
        finally:
            try:
                await self._close()
            finally:
                left_s = up_to_s - (self._clock.monotonic() - began)
                await self._notices.stop(0.0 if at_once.is_set() else left_s)
        return sum(listener.stranded for listener in self.listeners)

    async def _close(self) -> None:
        """Interrupt what runs, hand it back, and end; each step whatever became of the others."""
        never = asyncio.Event()
        try:
            await self._workers.stop(0.0)
        finally:
            try:
                await self._drained(RELEASE_TIMEOUT_S, never)
                for listener in self.listeners:
                    listener.cancel()
                for task in self._polling | self._looking:
                    task.cancel()
                await self._drained(RELEASE_TIMEOUT_S, never)
            finally:
                await self._services.close()

    async def _drained(self, up_to_s: float, at_once: asyncio.Event) -> None:
        """Wait until every listener is done, the time is up, or `at_once` is set."""
        finished = asyncio.ensure_future(self._finished())
        forced = asyncio.ensure_future(at_once.wait())
        try:
            async with self._clock.timeout(up_to_s):
                await asyncio.wait({finished, forced}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            pass
        finally:
            finished.cancel()
            forced.cancel()

    async def _finished(self) -> None:
        """Wait until nothing polls any more, then for every message's end."""
        if polling := {task for task in self._polling if not task.done()}:
            await asyncio.wait(polling)
        for listener in self.listeners:
            await listener.settled()

    def _on_unable(self, unable: AbstractSet[str]) -> None:
        """Ask for no message of a function that no worker can load any more."""
        for listener in self.listeners:
            if listener.function in unable:
                listener.pause(UNLOADED)
            elif listener.resume(UNLOADED):
                held = tuple(listener.paused)
                self._sink.emit(FunctionResumed(function=listener.function, held=held))
        self._idle.note()

    async def _load(self) -> Loaded:
        specs = [
            function_spec(function) for function in self.project.functions if not function.disabled
        ]
        return await self._workers.start(specs) if specs else Loaded()

    def _runnable(self) -> Sequence[FunctionDefinition]:
        return [
            within(function, self._at_once.get(function.name))
            for function in self.project.functions
            if not function.disabled and function.name not in self.failures
        ]

    def _concurrency(self, function: FunctionDefinition) -> int:
        """The most messages in processing at once."""
        room = within(function, self._at_once.get(function.name)).options.concurrency
        limits = (function.own.max_concurrent, self.project.host.max_concurrent)
        return min([room, *(each for each in limits if each is not None)])

    def _states(self) -> Sequence[FunctionState]:
        known = [self._state(function) for function in self.project.functions]
        broken = [
            FunctionState(name=name, queue="", connection="", state="failed", why="see above")
            for name in self.project.failed
        ]
        foreign = [
            FunctionState(
                name=name,
                queue="",
                connection="",
                state="not run here",
                why=f"its trigger is of type {kind}",
            )
            for name, kind in self.project.not_run.items()
        ]
        return sorted([*known, *broken, *foreign], key=lambda state: state.name.lower())

    def _state(self, function: FunctionDefinition) -> FunctionState:
        state, why = "ready", ""
        if function.disabled:
            state, why = "disabled", function.disabled
        elif function.name in self.failures:
            state, why = "failed", "see above"
        elif self._pausing is not None and (pause := self._pausing.of(function.name)):
            state, why = "paused", pause.in_words()
        return FunctionState(
            name=function.name,
            queue=function.trigger.queue,
            connection=function.trigger.connection,
            state=state,
            why=why,
            concurrency=self._concurrency(function),
        )


def _start_polling(listener: Listener) -> asyncio.Task[None]:
    task = asyncio.ensure_future(listener.run())
    task.set_name(f"listener {listener.function}")
    return task

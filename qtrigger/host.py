"""One generation: the listeners and the workers of one loaded project.

Owns building them, and the stop ladder. Knows no signals, no files and no terminal; two hosts
can run side by side in one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from random import Random

from qtrigger.assembly import Assembly, function_spec
from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.events import EventSink, FunctionResumed, FunctionState, HostReady, HostStopping
from qtrigger.function_states import states
from qtrigger.hidden import tell_hidden
from qtrigger.idle import IdleWatch
from qtrigger.invocation import TriggerMessage
from qtrigger.listener import DRAINED, Listener
from qtrigger.notices import Notices, OpenTellers
from qtrigger.pauses import Pause, Pauses
from qtrigger.pausing import Pausing
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.client import QueueClient
from qtrigger.queues.services import QueueServices
from qtrigger.retrying import Run
from qtrigger.roster import Roster
from qtrigger.throttling import Throttling
from qtrigger.tracing import Tracing
from qtrigger.traffic import TrafficOfAll
from qtrigger.tries import TriesOfAll
from qtrigger.tryout import TriedOut, try_out
from qtrigger.workers.succession import Succession
from qtrigger.workers.worker import Loaded, LoadFailure, Workers

# After the functions were interrupted, their messages are released; the service gets this long.
RELEASE_TIMEOUT_S = 5.0


class Host:
    """Runs one project's functions until told to stop.

    `workers` is any `Workers`; the pool is one. `random` seeds the back-off of the listeners,
    and `tries` is what hosts before it in this process remember of messages, `traffic` what they
    have counted of requests. `pauses` says which functions are paused by hand; None for none ever.
    `tracing` follows each run, where there is one.
    """

    def __init__(  # noqa: PLR0913 - each is a seam of its own
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
        traffic: TrafficOfAll | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self.project = project
        self.failures: Mapping[str, LoadFailure] = {}
        self._at_once: Mapping[str, int] = {}
        self._broken: frozenset[str] = frozenset()
        self._broken_by_files: frozenset[str] = frozenset()
        self._services = services
        self._workers = Succession(workers, clock)
        self._open_tellers: OpenTellers | None = None
        self._clock = clock
        self._sink = sink
        self._idle = IdleWatch(clock)
        self._notices = Notices(clock=clock, sink=sink)
        self._pausing = (
            Pausing(pauses, clock=clock, sink=sink, changed=self._idle.note) if pauses else None
        )
        self._draining = False
        self._looking: set[asyncio.Task[None]] = set()
        self._assembly = Assembly(
            project.host,
            services=services,
            run=self._workers.invoke,
            clock=clock,
            sink=sink,
            random=random,
            changed=self._idle.note,
            tries=tries,
            traffic=traffic,
            tracing=tracing,
        )
        self._roster = Roster(self._listener, self._workers, forget=self._assembly.forget)

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Those of the project's functions that could be loaded, be it before the last renewal."""
        return self._roster.listeners

    @property
    def broken(self) -> frozenset[str]:
        """The functions that cannot run, by their own files or by what workers say."""
        return self._broken

    @property
    def leaving(self) -> Sequence[asyncio.Task[None]]:
        """The workers that renewals have replaced and that still run something, as tasks."""
        return self._workers.leaving

    @property
    def running_before(self) -> int:
        """Messages that are run by workers which renewals have replaced."""
        return self._workers.running_before

    @property
    def running(self) -> int:
        """Messages in processing."""
        return sum(listener.running for listener in self._roster.all)

    def pause_of(self, function: str) -> Pause | None:
        """The pause under which a function is held."""
        return self._pausing.of(function) if self._pausing is not None else None

    def poison_queue_of(self, function: str) -> QueueClient | None:
        """Where a function's poisoned messages go, None where there is no such place."""
        for each in self.project.functions:
            if each.name == function and each.poison_queue:
                return self._assembly.queue_of(each, each.poison_queue)
        return None

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
        """Load, poll, and say that it is ready; see `load` and `poll`.

        `began_at` is when somebody asked for this generation, on the monotonic clock.
        """
        await self.load(open_tellers)
        self.poll()
        self.tell_ready(workers=workers, interpreter=interpreter, began_at=began_at)

    async def load(self, open_tellers: OpenTellers | None = None) -> None:
        """Bring the workers up and load the functions; nothing is polled before `poll`.

        `open_tellers` makes those who are told of poisoned messages. Raises WorkerStartError when
        no worker can be had.
        """
        self._open_tellers = open_tellers
        try:
            self._loaded(await self._load())
            self._roster.add(self._runnable(), self._at_once)
        except BaseException:
            await self.close()
            raise

    def poll(self) -> None:
        """Begin to poll for the functions that can run; one that cannot is not polled at all."""
        self._workers.watch(self._on_unable)
        if self._pausing is not None:
            self._pausing.begin(self.listeners)
        self._keep_drained()
        self._roster.poll(self.listeners)

    @property
    def states(self) -> Sequence[FunctionState]:
        """All functions of the project, those included that are not polled."""
        return states(
            self.project, broken=self._broken, at_once=self._at_once, pause_of=self.pause_of
        )

    def tell_ready(self, *, workers: int, interpreter: str, began_at: float) -> None:
        """Say what there is, and how long it took."""
        self._sink.emit(
            HostReady(
                functions=self.states,
                workers=workers,
                interpreter=interpreter,
                after_s=self._clock.monotonic() - began_at,
            )
        )

    def renew(
        self, project: Project, workers: Workers | None, loaded: Loaded, *, up_to_s: float
    ) -> None:
        """Go on with that project, whose host.json and connections are those of the one before.

        `workers` have `loaded` its functions; None where it has none that could be loaded, and then
        those before them stay. Listeners whose functions are as before go on as they are. What runs
        may finish for `up_to_s` seconds on the code before. Nothing is waited for.
        """
        self.project = project
        self._loaded(loaded)
        enabled = [each for each in project.functions if not each.disabled]
        ties = self._roster.renew(enabled, self._broken, self._at_once)
        if workers is not None:
            self._workers.succeed(workers, ties, up_to_s=up_to_s)
        if self._pausing is not None:
            self._pausing.follow(self.listeners)
        self._keep_drained()

    @property
    def draining(self) -> bool:
        """Whether no messages are asked for, since somebody drains this host."""
        return self._draining

    def drain(self) -> None:
        """Ask for no more messages; what runs goes on. Unlike a stop it can be taken back."""
        self._draining = True
        self._keep_drained()

    def end_drain(self) -> None:
        """Ask for messages again."""
        self._draining = False
        for listener in self.listeners:
            listener.resume(DRAINED)
        self._idle.note()

    async def try_out(self, function: FunctionDefinition, message: TriggerMessage) -> TriedOut:
        """Run a function once on that message, which stands on no queue, and write its outputs."""
        return await try_out(
            function,
            message,
            worker=self._workers,
            outputs=self._assembly.outputs(function),
            timeout_s=self.project.host.function_timeout_s,
            write=True,
        )

    def _keep_drained(self) -> None:
        for listener in self.listeners:
            if self._draining:
                listener.pause(DRAINED)
        self._idle.note()

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
        while polling := self._roster.polling:
            done, _ = await asyncio.wait(polling, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                polling.discard(task)
                task.result()
        await asyncio.Event().wait()

    async def idle(self, for_s: float) -> None:
        """Wait until there has been nothing to do for `for_s` seconds."""
        await self._idle.wait(self._roster.all, for_s)

    async def stop(self, reason: str, *, up_to_s: float, at_once: asyncio.Event) -> int:
        """Walk down the stop ladder and return how many messages could not be handed back.

        No more polls; what runs may finish for `up_to_s` seconds, or until `at_once` is set,
        with leases renewing; then the rest is interrupted and released with visibility 0.
        """
        began = self._clock.monotonic()
        self._sink.emit(HostStopping(reason=reason, running=self.running, up_to_s=up_to_s))
        if self._pausing is not None:
            self._pausing.stop()
        for listener in self._roster.all:
            listener.stop_polling()
        try:
            await self._drained(up_to_s, at_once)
        finally:
            try:
                await self.close()
            finally:
                left_s = up_to_s - (self._clock.monotonic() - began)
                await self._notices.stop(0.0 if at_once.is_set() else left_s)
        return self._roster.stranded

    async def close(self) -> None:
        """Interrupt what runs, hand it back, and end; each step whatever became of the others."""
        never = asyncio.Event()
        try:
            await self._workers.stop(0.0)
        finally:
            try:
                await self._drained(RELEASE_TIMEOUT_S, never)
                for listener in self._roster.all:
                    listener.cancel()
                for task in self._roster.polling | self._looking:
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
        if polling := {task for task in self._roster.polling if not task.done()}:
            await asyncio.wait(polling)
        for listener in self._roster.all:
            await listener.settled()

    def _on_unable(self, unable: AbstractSet[str]) -> None:
        """Ask for no message of a function that no worker can load any more."""
        for listener in self._roster.unable(unable | self._broken_by_files):
            held = tuple(listener.paused)
            self._sink.emit(FunctionResumed(function=listener.function, held=held))
        self._idle.note()

    def _listener(self, function: FunctionDefinition, run: Run) -> Listener:
        notify = self._notices.of(function, self._open_tellers)
        return self._assembly.listener(function, notify, self._workers.where, run)

    def _loaded(self, loaded: Loaded) -> None:
        self.failures, self._at_once = loaded.failures, loaded.at_once
        # Of a script that cannot be imported nobody knows what it declares: all that was there.
        known = {each.function for each in self.listeners} | self._broken
        unread = known if self.project.unread else set()
        self._broken_by_files = frozenset({*self.project.failed, *unread})
        self._broken = self._broken_by_files | self.failures.keys()

    async def _load(self) -> Loaded:
        specs = [
            function_spec(function) for function in self.project.functions if not function.disabled
        ]
        return await self._workers.start(specs) if specs else Loaded()

    def _runnable(self) -> Sequence[FunctionDefinition]:
        return [
            function
            for function in self.project.functions
            if not function.disabled and function.name not in self.failures
        ]

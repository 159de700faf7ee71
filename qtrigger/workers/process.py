"""A worker that runs Python functions in a process of its own.

Owns the life of one such process: start, handshake, runs, end. No invocation is answered while its
code may still run: what is interrupted or timed out, and cannot be cancelled, is answered when the
process has ended, so that a message never becomes visible beside its own old run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.invocation import Interrupted, Invocation, Ran
from qtrigger.workers import answers
from qtrigger.workers.attached import Attached
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.handshake import Handshake
from qtrigger.workers.indexed import Indexed
from qtrigger.workers.pooled import LoadCrash
from qtrigger.workers.pulse import Pulse
from qtrigger.workers.python.wire import Header
from qtrigger.workers.stands import Stands
from qtrigger.workers.underway import Underway
from qtrigger.workers.usertext import UserText
from qtrigger.workers.worker import FunctionSpec, Loaded

_SIGNS = ("left", "deaf", "uncancelled", "checkpoint", "stands")


class PythonWorker:
    """A `Worker`: one child process under the given interpreter, started once.

    `env` is its whole environment but for what the programming model adds, `root` its folder.
    """

    def __init__(
        self,
        *,
        interpreter: Path,
        root: Path,
        env: Mapping[str, str],
        clock: Clock,
        events: EventSink,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._interpreter = interpreter
        self._root = root
        self._env = env
        self._clock = clock
        self._deadlines = deadlines or Deadlines()
        self._underway = Underway(clock, ask=self._ask, cancel=self._cancel, give_up=self._retire)
        self._accepting = False
        self._ours = False  # we are ending it, or have …
        self._by = "stop"  # … because of this; see `Interrupted`
        self._text = UserText(clock, events, note_after_s=self._deadlines.load_note_s)
        self._child = Attached(
            clock, self._deadlines, on_line=self._text.on_line, on_frame=self._on_frame
        )
        self._stands = Stands(clock, lambda number: self._child.send({"t": "where", "id": number}))
        self._pulse = Pulse(clock, lambda number: self._child.send({"t": "ping", "id": number}))
        self._unavailable = asyncio.Event()
        self._ended = asyncio.Event()
        self._greeted = False
        self._handshake: Handshake | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._retirement: asyncio.Task[None] | None = None
        self.lost = 0

    @property
    def running(self) -> int:
        """See `Worker`; those whose caller has given up are counted until they really end."""
        return len(self._underway)

    @property
    def pid(self) -> int:
        """The process id, 0 before the start."""
        return self._child.pid

    @property
    def silent_s(self) -> float:
        """See `PooledWorker`."""
        return self._pulse.silent_s

    def ask(self) -> None:
        """See `PooledWorker`."""
        self._pulse.ask()

    @property
    def how(self) -> str:
        """How it ended, in words."""
        return self._child.how

    @property
    def accepting(self) -> bool:
        """Whether it takes invocations."""
        return self._accepting

    @property
    def expected(self) -> bool:
        """Whether we ended the process, or are about to."""
        return self._ours or self._retirement is not None

    @property
    def retired(self) -> bool:
        """See `PooledWorker`."""
        return self._retirement is not None

    @property
    def completed(self) -> int:
        """How many invocations it has answered itself."""
        return self._underway.completed

    async def launch(self) -> None:
        """Start the process and wait for nothing; `index` or `start` goes on from there.

        So whoever has other things to do first can do them while it comes up. What it has to run
        need not be known yet. Raises WorkerStartError when there is nothing to start.
        """
        # Made before the process: its first frame may be here before we are back.
        self._handshake = self._new_handshake()
        await self._child.start(interpreter=self._interpreter, root=self._root, env=self._env)
        self._watcher = begin(self._watch(), name=f"watch over worker process {self.pid}")

    def warm(self) -> None:
        """Have the process, which was launched, import what takes long in `azure.functions`."""
        self._child.send({"t": "warm", "root": str(self._root)})

    async def index(self, script: Path) -> Indexed:
        """Come up and say what the script declares; `start` then goes on with what it imported.

        Raises WorkerStartError when the process does not come up. When the script itself brings
        it down, that is the failure of all its functions.
        """
        came_up = False
        try:
            handshake = await self._come_up()
            self._child.send(answers.index_request(self._root, script))
            found = await handshake.indexed(script, self._deadlines.load_s)
            came_up = True
            return answers.indexed(found)
        except LoadCrash as crash:
            return Indexed(failure=crash.failure)
        finally:
            self._handshake = None
            self._text.loaded()
            if not came_up:
                await self._end()

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """See `Worker`. Raises LoadCrash when importing one function ended the process."""
        try:
            handshake = await self._come_up()
            handshake.asks_for(functions)
            self._child.send(answers.load_request(self._root, functions))
            ready = await handshake.ready(self._deadlines.load_s)
            self._accepting = True
            return answers.loaded(ready)
        finally:
            self._handshake = None
            self._text.loaded()
            if not self._accepting:
                await self._end()

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`."""
        if not self._accepting:
            return answers.every(invocation, Interrupted(), 0.0)
        run = self._underway.begin(invocation)
        self._child.invoke(*answers.invoke_request(run.number, invocation))
        try:
            return await run.future
        except asyncio.CancelledError:
            self._cancel(run.number)
            raise

    async def stop(self, grace_s: float) -> None:
        """See `Worker`."""
        self._close_to_new()
        if not self._child.started:
            return
        if not (quiet := await self._underway.wait_quiet(grace_s)):
            # Async code can close what it has open; a signal would give it no chance to.
            quiet = await self._underway.cancel_all(self._deadlines.leave_s / 2)
        # One that has not come up would have to do that first, only to hear that it may leave.
        if quiet and self._greeted and not self._child.broken:
            self._ours = True
            self._child.send({"t": "stop"})
            await self._child.wait_exit(self._deadlines.leave_s)
        await self._end()
        if self._retirement is not None:
            await asyncio.wait([self._retirement])

    def show_stacks(self) -> None:
        """See `PooledWorker`; a process that is not up yet would end by the signal."""
        if self._accepting or self._retirement is not None:
            self._child.show_stacks()

    async def where(self, invocation_id: str) -> str:
        """See `Workers`."""
        number = self._underway.number_of(invocation_id)
        return "" if number is None else await self._stands.ask(number)

    async def wait_unavailable(self) -> None:
        """See `PooledWorker`."""
        await self._unavailable.wait()

    async def wait_ended(self) -> None:
        """See `PooledWorker`."""
        await self._ended.wait()

    def _new_handshake(self) -> Handshake:
        return Handshake(self._interpreter, self._clock, self._text, root=self._root)

    async def _come_up(self) -> Handshake:
        """The handshake with a process that has said hello, be it just now or long ago."""
        if not self._child.started:
            await self.launch()
        handshake = self._handshake or self._new_handshake()
        self._handshake = handshake
        if not self._greeted:
            await handshake.hello(self._deadlines.start_s)
            self._greeted = True
        elif self._ended.is_set():
            handshake.ended(self.how)
        return handshake

    async def _watch(self) -> None:
        """Wait for the end of the process, for whatever reason, and answer what is open."""
        try:
            await self._child.wait_over()
            self._close_to_new()
            await self._child.end()
        finally:
            # Also after a defect of ours: nobody may wait for a worker that nobody watches.
            self._close_to_new()
            self._child.close()
            self.lost = self._underway.close_all(how=self.how, ours=self._ours, by=self._by)
            self._ended.set()
            if self._handshake is not None:
                self._handshake.ended(self.how)
            self._text.loaded()  # it imports nothing any more

    async def _end(self, by: str = "stop") -> None:
        """End the process for certain, and wait until everything is answered."""
        self._close_to_new()  # whoever comes first has ended it, which may be the process itself
        if not self._ours and not self._child.broken:
            self._ours, self._by = True, by
        if not self._ended.is_set():
            await self._child.end()
        if self._watcher is not None:
            # Not awaited itself: whoever gives up waiting must not cancel it.
            await asyncio.wait([self._watcher])

    def _close_to_new(self) -> None:
        self._accepting = False
        self._unavailable.set()

    def _retire(self) -> None:
        """A run cannot be ended: end the process once its neighbours are done."""
        self._close_to_new()
        if self._retirement is None:
            name = f"retirement of worker process {self.pid}"
            self._retirement = begin(self._retire_in_time(), name=name)

    async def _retire_in_time(self) -> None:
        await self._underway.wait_quiet(self._deadlines.retire_s)
        await self._end(by="neighbour")

    def _ask(self, number: int, limit_s: float) -> None:
        self._child.send({"t": "overdue", "id": number, "limit": limit_s})

    def _cancel(self, number: int) -> None:
        self._child.send({"t": "cancel", "id": number})

    def _on_frame(self, header: Header, blob: bytes) -> None:
        kind = header["t"]
        if kind == "result":
            self._underway.answer(header["id"], header["ends"], blob, header.get("took", 0.0))
        elif kind == "succeeded":
            for number, took_us in header["runs"]:
                self._underway.succeed(number, took_us / 1e6)
        elif kind == "log":
            self._text.on_log(header)
        elif kind in _SIGNS:
            self._on_sign(kind, header, blob)
        elif kind == "pong":
            self._pulse.answered(header["id"])
        elif kind == "loading":
            self._text.on_loading(header["function"], header["script"], self.pid)
        elif self._handshake is not None:
            self._handshake.on_frame(header)

    def _on_sign(self, kind: str, header: Header, blob: bytes) -> None:
        """A run that has not ended says something."""
        number = header["id"]
        if kind == "left":
            self._underway.left(number, header["left"])
        elif kind == "deaf":
            self._underway.deaf(number)
        elif kind == "uncancelled":
            self._underway.uncancelled(number)
        elif kind == "stands":
            self._stands.answered(number, header["stack"])
        else:
            self._underway.checkpoint(number, blob)

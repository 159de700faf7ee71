"""A worker that runs Python functions in a process of its own.

Owns the life of one such process: start, handshake, runs, end. No invocation is answered while its
code may still run: what is interrupted or timed out, and cannot be cancelled, is answered when the
process has ended, so that a message never becomes visible beside its own old run.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import EventSink
from qtrigger.invocation import Interrupted, Invocation, Ran
from qtrigger.workers import answers
from qtrigger.workers.link import Link
from qtrigger.workers.pooled import LoadCrash, crash_at
from qtrigger.workers.python.wire import VERSION, Header
from qtrigger.workers.spawn import Process, spawn
from qtrigger.workers.underway import Underway
from qtrigger.workers.usertext import UserText
from qtrigger.workers.worker import FunctionSpec, Loaded

ENTRY = Path(__file__).with_name("python") / "__main__.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long each step may take, in seconds.

    `retire_s` is what the neighbours of a run that cannot be ended get to finish; `leave_s` what
    an idle process gets to end by itself; `last_frames_s` how long the second of the two signs of
    its end, exit and closed connection, may lag behind the first.
    """

    start_s: float = 60.0
    load_s: float = 120.0
    load_note_s: float = 5.0
    retire_s: float = 30.0
    leave_s: float = 2.0
    last_frames_s: float = 1.0


class PythonWorker:
    """A `Worker`: one child process under the given interpreter.

    `env` is its whole environment but for what the programming model adds; `root` its working
    directory. It is started once; a new process is a new object.
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
        self._underway = Underway(clock, ask=self._ask, give_up=self._retire)
        self._accepting = False
        self._ours = False  # we are ending it, or have
        self._text = UserText(clock, events, note_after_s=self._deadlines.load_note_s)
        self._broke = ""  # how it ended when it is not for the process itself to say
        self._broken = asyncio.Event()
        self._closed = asyncio.Event()
        self._unavailable = asyncio.Event()
        self._ended = asyncio.Event()
        self._functions: Sequence[FunctionSpec] = ()
        self._process: Process | None = None
        self._link: Link | None = None
        self._stage: asyncio.Future[Header] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._retirement: asyncio.Task[None] | None = None
        self.how = "not started"
        self.lost = 0

    @property
    def running(self) -> int:
        """See `Worker`; those whose caller has given up are counted until they really end."""
        return len(self._underway)

    @property
    def pid(self) -> int:
        """The process id, 0 before the start."""
        return self._process.pid if self._process is not None else 0

    @property
    def accepting(self) -> bool:
        """Whether it takes invocations."""
        return self._accepting

    @property
    def expected(self) -> bool:
        """Whether we ended the process, or are about to."""
        return self._ours or self._retirement is not None

    @property
    def completed(self) -> int:
        """How many invocations it has answered itself."""
        return self._underway.completed

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """See `Worker`. Raises LoadCrash when importing one function ended the process."""
        self._functions = functions
        # Before the process exists: its first frame may be here before we are back.
        self._stage = asyncio.get_running_loop().create_future()
        try:
            await self._spawn()
            hello = await self._next("hello", self._deadlines.start_s)
            if hello["version"] != VERSION:
                raise WorkerStartError(
                    f"the worker process speaks version {hello['version']} of the protocol, "
                    f"not {VERSION}"
                )
            self._stage = asyncio.get_running_loop().create_future()
            self._send(answers.load_request(self._root, functions))
            ready = await self._next("ready", self._deadlines.load_s)
            self._accepting = True
            return answers.loaded(ready)
        finally:
            self._stage = None
            self._text.loaded()
            if not self._accepting:
                await self._end()

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`."""
        if not self._accepting:
            return answers.every(invocation, Interrupted(), 0.0)
        run = self._underway.begin(invocation)
        self._send(*answers.invoke_request(run.number, invocation))
        try:
            return await run.future
        except asyncio.CancelledError:
            self._send({"t": "cancel", "id": run.number})
            raise

    async def stop(self, grace_s: float) -> None:
        """See `Worker`."""
        self._close_to_new()
        if self._process is None:
            return
        if await self._underway.wait_quiet(grace_s) and not self._ended.is_set():
            self._ours = True
            self._send({"t": "stop"})
            await self._process.wait(self._deadlines.leave_s)
        await self._end()

    async def wait_unavailable(self) -> None:
        """Wait until it takes no more invocations: it has ended, or is about to."""
        await self._unavailable.wait()

    async def wait_ended(self) -> None:
        """Wait until the process has ended and everything is answered."""
        await self._ended.wait()

    # --- start and end --------------------------------------------------------------------------

    async def _spawn(self) -> None:
        ours, childs = socket.socketpair()
        ours.settimeout(0.0)
        process = Process(self._clock, self._text.on_line, self._broken.set)
        command = [str(self._interpreter), "-X", "utf8", "-u", str(ENTRY), str(childs.fileno())]
        env = {
            **self._env,
            "FUNCTIONS_WORKER_RUNTIME": "python",
            "AzureWebJobsScriptRoot": str(self._root),
            "PYTHONUNBUFFERED": "1",
        }
        try:
            await spawn(command, cwd=self._root, env=env, pass_fd=childs.fileno(), process=process)
        except BaseException:
            ours.close()
            raise
        finally:
            childs.close()
        self._process = process
        _, self._link = await asyncio.get_running_loop().create_connection(
            lambda: Link(self._on_frame, self._on_closed), sock=ours
        )
        self._watcher = asyncio.create_task(self._watch(), name=f"worker process {self.pid}")

    async def _next(self, kind: str, within_s: float) -> Header:
        """The next frame of the handshake."""
        assert self._stage is not None
        if self._ended.is_set() and not self._stage.done():
            raise self._start_error(f"it ended with {self.how}")
        try:
            async with self._clock.timeout(within_s):
                header = await self._stage
        except TimeoutError:
            raise self._start_error(f"no {kind} within {within_s:g} s", again=False) from None
        if header["t"] != kind:
            raise WorkerStartError(f"the worker process sent {header['t']} in place of {kind}")
        return header

    def _start_error(self, what: str, *, again: bool = True) -> WorkerStartError:
        what += self._text.last_words
        if self._text.importing:
            message = f"the worker process failed while importing it: {what}"
            function = next(each for each in self._functions if each.name == self._text.importing)
            return LoadCrash(function.name, crash_at(function, self._root, message), again=again)
        return WorkerStartError(f"{self._interpreter}: the worker process: {what}")

    async def _watch(self) -> None:
        """Wait for the end of the process, for whatever reason, and answer what is open."""
        assert self._process is not None
        assert self._link is not None
        await self._broken.wait()
        lag_s = self._deadlines.last_frames_s
        if self._process.has_exited:
            # What it wrote before its end is still on its way.
            await self._clock.wait(self._closed, lag_s)
        elif not self._broke and not await self._process.wait(lag_s):
            self._broke = "it closed its connection"
        self.how = self._broke or self._process.how
        self._close_to_new()
        await self._process.end()
        self._link.close()
        self.lost = self._underway.close_all(how=self.how, ours=self._ours)
        self._ended.set()
        if self._stage is not None and not self._stage.done():
            self._stage.set_exception(self._start_error(f"it ended with {self.how}"))

    async def _end(self) -> None:
        """End the process for certain, and wait until everything is answered."""
        self._close_to_new()
        self._ours = True
        if self._process is not None:
            await self._process.end()
        if self._watcher is not None:
            await self._watcher

    def _close_to_new(self) -> None:
        self._accepting = False
        self._unavailable.set()

    def _retire(self) -> None:
        """A run cannot be ended: end the process once its neighbours are done."""
        self._close_to_new()
        if self._retirement is None:
            self._retirement = asyncio.create_task(
                self._retire_in_time(), name=f"retirement of worker process {self.pid}"
            )

    async def _retire_in_time(self) -> None:
        await self._underway.wait_quiet(self._deadlines.retire_s)
        await self._end()

    # --- frames ---------------------------------------------------------------------------------

    def _send(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        if self._link is not None:
            self._link.send(header, blob)

    def _ask(self, number: int, limit_s: float) -> None:
        self._send({"t": "overdue", "id": number, "limit": limit_s})

    def _on_frame(self, header: Header, blob: bytes) -> None:
        kind = header["t"]
        if kind == "result":
            self._underway.answer(header["id"], header["ends"], blob, header.get("took", 0.0))
        elif kind == "log":
            self._text.on_log(header)
        elif kind == "left":
            self._underway.left(header["id"], header["left"])
        elif kind == "deaf":
            self._underway.deaf(header["id"])
        elif kind == "loading":
            self._text.on_loading(header["function"])
        elif self._stage is not None and not self._stage.done():
            self._stage.set_result(header)

    def _on_closed(self, broke: str) -> None:
        self._broke = broke
        self._closed.set()
        self._broken.set()

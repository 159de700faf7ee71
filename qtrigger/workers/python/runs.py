"""The runs under way in a worker process.

Owns where a run runs (event loop or thread), its answer, and the host's questions about one that
takes too long. Frames arrive in the reading thread; nothing here makes that thread wait.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

from .channel import Channel
from .context import NOWHERE, SCOPE, Scope
from .failures import Describer
from .logs import Logs
from .loopwatch import BLOCKED_AFTER_S, LoopWatch
from .requests import Requests, Run
from .signature import Plan
from .stacks import stack_of_task, stack_of_thread
from .wire import Frame, WireError

LOGGER = "qtrigger.worker"
# How long a run that leaves a checkpoint may wait for the socket: it takes milliseconds.
HAND_OVER_S = 1.0


class Runs:
    """Starts runs, answers each exactly once."""

    def __init__(
        self,
        *,
        plans: Mapping[str, Plan],
        threads: int,
        describer: Describer,
        channel: Channel,
        logs: Logs,
        storage: threading.local,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._requests = Requests(
            plans,
            describer=describer,
            storage=storage,
            warn=self._warn_once,
            refuse=self._refuse,
            keep=self._keep,
        )
        self._describer = describer
        self._channel = channel
        self._logs = logs
        self._storage = storage
        self._loop = loop
        self._loop_thread = threading.get_ident()  # that which makes this goes on to run the loop
        count = self._thread_count(threads)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="function")
        # How many runs of a plain function the threads take, where that is less than may come. A
        # run of many messages is not counted: the host counts messages.
        few = count < threads
        singles = [plan for plan in plans.values() if not plan.is_async and not plan.many]
        self.at_once = {plan.name: count for plan in singles if few}
        self._open: dict[int, Run] = {}
        # What modules set in context variables while they were imported is seen by every run.
        self._context = contextvars.copy_context()
        self._told: set[tuple[str, str]] = set()
        self._flush_due = False
        self._watch = LoopWatch(loop, is_busy=lambda: bool(self._open), tell=self._tell_blocked)

    def begin(self, frames: Sequence[Frame]) -> None:
        """Start the runs that invoke frames ask for. In the reading thread."""
        awaited: list[Run] = []
        for run in self._requests.runs(frames):
            self._open[run.id] = run
            self._logs.begin(run.scope)
            if run.plan.is_async:
                awaited.append(run)
            else:
                self._threads.submit(self._context.copy().run, self._in_thread, run)
        if awaited:
            self._watch.wake()
            self._loop.call_soon_threadsafe(self._start_tasks, awaited, context=self._context)

    def overdue(self, number: int, limit_s: float) -> None:
        """The host asks about a run that it believes is over its time. In the reading thread.

        One that is not (it had to wait for a thread or for the loop) says how much time it has
        left. An async one is cancelled and answers by its end; a plain one says that it goes on.
        """
        run = self._open.get(number)
        if run is None:
            # Its answer may wait for the end of this turn of the loop, which somebody blocks.
            self._channel.flush()
            return
        started = run.call.started
        left = limit_s if started is None else started + limit_s - time.monotonic()
        if left > 0:
            self._channel.send({"t": "left", "id": number, "left": left})
        elif run.plan.is_async:
            self.cancel(number)
        else:
            self._channel.send({"t": "deaf", "id": number})

    def cancel(self, number: int) -> None:
        """Cancel a run if it is async; a plain one says that it goes on. In the reading thread."""
        run = self._open.get(number)
        if run is None:
            self._channel.flush()  # as above
            return
        if run.plan.is_async:
            self._loop.call_soon_threadsafe(self._cancel, run)
        else:
            self._channel.send({"t": "uncancelled", "id": number})

    def where(self, number: int) -> None:
        """Say where a run's code stands, "" for one that has ended. In the reading thread."""
        run = self._open.get(number)
        stack = "" if run is None else self._stack(run)
        self._channel.send({"t": "stands", "id": number, "stack": stack})

    def _stack(self, run: Run) -> str:
        try:
            if run.task is not None:
                thread = self._loop_thread
                return stack_of_task(run.task, thread, self._describer.is_users)
            return stack_of_thread(run.thread, self._describer.is_users)
        except Exception as error:  # noqa: BLE001 - it may move on while it is looked at
            return f"its stack cannot be read: {type(error).__name__}\n"

    def _cancel(self, run: Run) -> None:
        if run.task is None or run.task.done():
            return
        if run.call.started is None:
            # A task that is cancelled before its first step never takes one, and never answers.
            self._loop.call_soon(self._cancel, run)
            return
        run.cancelled = True
        run.task.cancel()

    def _refuse(self, number: int, ends: list[dict[str, Any]]) -> None:
        self._channel.send({"t": "result", "id": number, "ends": ends})

    def _keep(self, number: int, body: bytes) -> bool:
        """In any thread."""
        if number not in self._open:
            return False
        self._channel.send({"t": "checkpoint", "id": number}, body)
        # What the socket has not taken ends with this process, and that may be its next step.
        self._channel.drain(HAND_OVER_S)
        return True

    def _warn_once(self, scope: Scope, kind: str, text: str) -> None:
        if (scope.function, kind) not in self._told:
            self._told.add((scope.function, kind))
            self._logs.say(scope, logging.WARNING, LOGGER, text)

    def _tell_blocked(self, task: str, frame: FrameType | None) -> Callable[[float], None]:
        """In the watching thread."""
        scope = self._logs.attribution.scope_of(task)
        text = (
            f"it has blocked the event loop for {BLOCKED_AFTER_S:g} s and still does, at "
            f"{self._describer.place_of(frame) or 'an unknown place'}: no async function goes on "
            "in this worker meanwhile. Await what takes long, or declare the function with def."
        )
        self._warn_once(scope, "blocks-loop", text)

        def tell_end(blocked_s: float) -> None:
            text = f"it blocked the event loop for {blocked_s:.1f} s"
            self._warn_once(scope, "blocked-loop", text)

        return tell_end

    def _start_tasks(self, runs: Sequence[Run]) -> None:
        for run in runs:
            token = SCOPE.set(run.scope)
            run.task = self._loop.create_task(self._awaited(run), name=run.scope.invocation_id)
            SCOPE.reset(token)
        # Behind their first steps and in the same turn of the loop, for that is what each of them
        # has scheduled by being made. Many a run ends with its first step.
        self._flush_due = True
        self._loop.call_soon(self._after_first_steps, runs)

    def _after_first_steps(self, runs: Sequence[Run]) -> None:
        for run in runs:
            if run.call.started is None and run.task is not None:
                run.task.add_done_callback(functools.partial(self._see_answered, run))
        self._flush()

    def _see_answered(self, run: Run, _task: object) -> None:
        """Answer a run whose task ended without: user code cancelled it before its first step."""
        if run.id not in self._open:
            return
        text = "the run was cancelled before it began: code in this worker cancels foreign tasks"
        failed = {"end": "failed", "type": "CancelledError", "message": text}
        self._logs.end(run.scope)
        self._answer(run, {"end": "cancelled"} if run.cancelled else failed, [])
        self._channel.flush()

    async def _awaited(self, run: Run) -> None:
        self._storage.invocation_id = run.scope.invocation_id
        end, blobs = await run.call.awaited()
        if run.cancelled:
            end, blobs = {"end": "cancelled"}, []
        if self._storage.invocation_id == run.scope.invocation_id:
            self._storage.invocation_id = None
        self._logs.end(run.scope)
        self._answer(run, end, blobs)
        if not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        self._channel.flush()

    def _in_thread(self, run: Run) -> None:
        run.thread = threading.get_ident()
        SCOPE.set(run.scope)
        self._storage.invocation_id = run.scope.invocation_id
        end, blobs = run.call.plain()
        self._logs.end(run.scope)
        self._answer(run, end, blobs)
        self._storage.invocation_id = None
        self._channel.flush()

    def _answer(self, run: Run, end: dict[str, Any], blobs: Sequence[bytes]) -> None:
        del self._open[run.id]
        started = run.call.started
        took = 0.0 if started is None else time.monotonic() - started
        if end["end"] == "ok" and not end.get("outputs"):
            self._channel.put_success(run.id, int(took * 1e6))
            return
        header = {"t": "result", "id": run.id, "ends": run.call.ends(end), "took": took}
        try:
            self._channel.put(header, b"".join(blobs))
        except WireError:
            total = sum(map(len, blobs))
            text = f"the outputs are {len(blobs)} messages of {total} bytes: too much for one run"
            failed = {"end": "failed", "type": "OutputError", "message": text}
            header["ends"] = run.call.ends(failed)
            self._channel.put(header)

    def _thread_count(self, wanted: int) -> int:
        setting = os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT")
        if setting is None:
            return max(wanted, 1)
        try:
            count = int(setting)
        except ValueError:
            count = 0
        if count >= 1:
            return count
        text = (
            f"PYTHON_THREADPOOL_THREAD_COUNT is {setting!r}; it must be a whole number of at least "
            f"1. {max(wanted, 1)} threads are used."
        )
        self._logs.say(NOWHERE, logging.WARNING, LOGGER, text)
        return max(wanted, 1)

"""A worker that calls given functions in the host's own process.

Owns nothing but the seam: signatures, calls and outputs are the child's own code, so that what a
test sees here is what a worker process does. It passes the same contract suite. Plain functions
run on the event loop and block it; they cannot time out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from qtrigger.clock import Clock
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    Outcome,
    Ran,
    TimedOut,
    TriggerMessage,
)
from qtrigger.workers import answers
from qtrigger.workers.python.annotations import SignatureError
from qtrigger.workers.python.batches import BatchCall
from qtrigger.workers.python.calls import Call
from qtrigger.workers.python.checkpoints import Checkpoints
from qtrigger.workers.python.context import SCOPE, Context, Scope
from qtrigger.workers.python.failures import Describer
from qtrigger.workers.python.message import Message, microseconds
from qtrigger.workers.python.signature import Plan, plan
from qtrigger.workers.python.wishes import Wishes
from qtrigger.workers.worker import FunctionSpec, Loaded, LoadFailure

Notice = Callable[[str, str, str], None]
"""Told a function, a kind of surprise and a text; see the child's `calls`."""


class _Running:
    def __init__(self, task: asyncio.Task[tuple[dict[str, Any], list[bytes]]]) -> None:
        self.task = task
        self.cut_short: Outcome | None = None

    def cut(self, outcome: Outcome) -> None:
        self.cut_short = outcome
        self.task.cancel()


class InlineWorker:
    """A `Worker` for tests. `functions` maps names to what a function folder's `main` would be."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        *,
        clock: Clock,
        root: Path | None = None,
        notice: Notice = lambda _function, _kind, _text: None,
    ) -> None:
        self._functions = functions
        self._clock = clock
        self._notice = notice
        self._describer = Describer(str(root or Path.cwd()))
        self._wishes = Wishes(self._describer)
        self._plans: dict[str, Plan] = {}
        self._open: set[_Running] = set()
        self._stopped = False

    @property
    def running(self) -> int:
        """See `Worker`."""
        return len(self._open)

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        """See `Workers`: what has loaded here stays loaded."""

    async def where(self, invocation_id: str) -> str:
        """See `Workers`: there is no process to ask."""
        return ""

    def show_stacks(self) -> None:
        """See `Workers`: there is no process to ask."""

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """See `Worker`."""
        failures: dict[str, LoadFailure] = {}
        for spec in functions:
            try:
                self._plans[spec.name] = plan(
                    name=spec.name,
                    function=self._functions[spec.name],
                    directory=str(spec.directory),
                    bindings=spec.bindings,
                    mode=spec.outputs,
                    encoding=spec.encoding,
                )
            except (SignatureError, LookupError, NameError, TypeError) as error:
                failures[spec.name] = LoadFailure(**self._describer.failure(error))
        self._wishes.watch_loaded()
        return Loaded(failures=failures)

    async def invoke(self, invocation: Invocation) -> Ran:
        """See `Worker`."""
        if self._stopped:
            return answers.every(invocation, Interrupted(), 0.0)
        plan = self._plans[invocation.function]
        if len(invocation.messages) != 1 and not plan.many:
            text = f"{invocation.function} takes one message at a time"
            failed = Failed(error=ErrorDetail(type="WorkerError", message=text))
            return answers.every(invocation, failed, 0.0)
        scope = Scope(plan.name, invocation.id, invocation.messages[0].id)
        call = self._call(plan, scope, invocation)
        began = self._clock.monotonic()
        SCOPE.set(scope)
        if not plan.is_async:
            end, blobs = call.plain()
            duration_s = self._clock.monotonic() - began
            return answers.ran(invocation, call.ends(end), b"".join(blobs), duration_s)
        run = _Running(asyncio.create_task(call.awaited(), name=f"invocation {invocation.id}"))
        self._open.add(run)
        run.task.add_done_callback(lambda _task: self._open.discard(run))
        return await self._answer(run, call, invocation, began)

    async def stop(self, grace_s: float) -> None:
        """See `Worker`."""
        self._stopped = True
        tasks = [run.task for run in self._open]
        if not tasks:
            return
        try:
            async with self._clock.timeout(grace_s):
                await asyncio.wait(tasks)
        except TimeoutError:
            for run in self._open:
                run.cut(Interrupted())
            await asyncio.wait(tasks)

    def _call(self, plan: Plan, scope: Scope, invocation: Invocation) -> Call:
        storage = threading.local()
        storage.invocation_id = invocation.id

        def keep(_run: int, body: bytes) -> bool:
            if invocation.next_try is not None:
                invocation.next_try.checkpoint(body)
            return True

        context = Context(
            scope=scope,
            function_directory=plan.directory,
            max_dequeue_count=invocation.max_dequeue_count,
            thread_local_storage=storage,
            retry=answers.retry_part(invocation),
            checkpoints=None if plan.many else Checkpoints(keep),
            encoding=plan.encoding,
            trace=answers.trace_part(invocation),
        )

        def notice(kind: str, text: str) -> None:
            self._notice(plan.name, kind, text)

        most = invocation.max_dequeue_count
        messages = [_message(each, most) for each in invocation.messages]
        if plan.many:
            return BatchCall(plan, messages, context, self._describer, notice, self._wishes)
        return Call(plan, messages[0], context, self._describer, notice, self._wishes)

    async def _answer(self, run: _Running, call: Call, invocation: Invocation, began: float) -> Ran:
        timer = None
        if (limit_s := invocation.timeout_s) is not None:
            over = TimedOut(after_s=limit_s)
            timer = self._clock.call_later(limit_s, lambda: run.cut(over))
        try:
            end, blobs = await asyncio.shield(run.task)
        except asyncio.CancelledError:
            run.task.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()
        duration_s = self._clock.monotonic() - began
        if run.cut_short is not None:
            return answers.every(invocation, run.cut_short, duration_s)
        return answers.ran(invocation, call.ends(end), b"".join(blobs), duration_s)


def _message(message: TriggerMessage, max_dequeue_count: int) -> Message:
    return Message(
        id=message.id,
        body=message.body,
        dequeue_count=message.dequeue_count,
        inserted=microseconds(message.inserted),
        expires=microseconds(message.expires),
        next_visible=microseconds(message.next_visible),
        pop_receipt=message.pop_receipt,
        max_dequeue_count=max_dequeue_count,
    )

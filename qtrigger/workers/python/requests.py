"""From the host's invoke frames to runs that can begin.

Owns the shape of a request and what a run is made of. It starts nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .batches import BatchCall
from .calls import Call
from .checkpoints import Checkpoints, Keep
from .context import Context, Scope
from .failures import Describer
from .message import Message
from .signature import Plan
from .wire import Frame
from .wishes import Wishes


class Run:
    """A run that was asked for; `task` is that of an async function, `thread` that of a plain one.

    Each is known once it has begun.
    """

    __slots__ = ("call", "cancelled", "id", "plan", "scope", "task", "thread")

    def __init__(self, number: int, plan: Plan, scope: Scope, call: Call) -> None:
        self.id = number
        self.plan = plan
        self.scope = scope
        self.call = call
        self.cancelled = False
        self.task: asyncio.Task[None] | None = None
        self.thread = 0


class Requests:
    """Reads them. `warn` is told of a run's surprises: its scope, a kind, a text.

    `refuse` answers a request that cannot be run, by its number, with an end for each message;
    `keep` takes what a run leaves for its next try.
    """

    def __init__(
        self,
        plans: Mapping[str, Plan],
        *,
        describer: Describer,
        storage: threading.local,
        warn: Callable[[Scope, str, str], None],
        refuse: Callable[[int, list[dict[str, Any]]], None],
        keep: Keep,
    ) -> None:
        self._plans = plans
        self._describer = describer
        self._storage = storage
        self._warn = warn
        self._refuse = refuse
        self._checkpoints = Checkpoints(keep)
        self._wishes = Wishes(describer)
        self._wishes.watch_loaded()

    def runs(self, frames: Sequence[Frame]) -> list[Run]:
        """The runs that these frames ask for, in order. A frame's blob is its messages' bodies."""
        runs: list[Run] = []
        for header, blob in frames:
            start = 0
            for request in header["runs"]:
                end = start + sum([size for *_, size in request["messages"]])
                run = self._run(request, blob[start:end])
                start = end
                if run is not None:
                    runs.append(run)
        return runs

    def _run(self, request: Mapping[str, Any], body: bytes) -> Run | None:
        number, plan = request["id"], self._plans.get(request["function"])
        messages = request["messages"]
        if plan is None or (len(messages) != 1 and not plan.many):
            text = "is not loaded here" if plan is None else "takes one message at a time"
            text = f"{request['function']} {text}"
            failed = {"end": "failed", "type": "WorkerError", "message": text}
            self._refuse(number, [failed] * len(messages))
            return None
        if plan.many:
            return self._batch(plan, request, body)
        message_id, dequeue_count, inserted, expires, visible, receipt, _size = messages[0]
        message = Message(
            message_id,
            body,
            dequeue_count,
            inserted,
            expires,
            visible,
            receipt,
            max_dequeue_count=request["max"],
        )
        scope = Scope(plan.name, request["invocation"], message_id)
        context = self._context(scope, plan, request) if plan.has_context else None

        def notice(kind: str, text: str) -> None:
            self._warn(scope, kind, text)

        call = Call(plan, message, context, self._describer, notice, self._wishes)
        return Run(number, plan, scope, call)

    def _batch(self, plan: Plan, request: Mapping[str, Any], bodies: bytes) -> Run:
        """A run on a list of messages; its lines belong to one of them only if it is the only one.

        `bodies` are theirs, in order.
        """
        messages: list[Message] = []
        start = 0
        most = request["max"]
        for message_id, count, inserted, expires, visible, receipt, size in request["messages"]:
            body = bodies[start : start + size]
            messages.append(
                Message(message_id, body, count, inserted, expires, visible, receipt, most)
            )
            start += size
        only = messages[0].id if len(messages) == 1 else ""
        scope = Scope(plan.name, request["invocation"], only)
        context = self._context(scope, plan, request) if plan.has_context else None

        def notice(kind: str, text: str) -> None:
            self._warn(scope, kind, text)

        call = BatchCall(plan, messages, context, self._describer, notice, self._wishes)
        return Run(request["id"], plan, scope, call)

    def _context(self, scope: Scope, plan: Plan, request: Mapping[str, Any]) -> Context:
        return Context(
            scope=scope,
            function_directory=plan.directory,
            max_dequeue_count=request["max"],
            thread_local_storage=self._storage,
            retry=request["retry"],
            checkpoints=None if plan.many else self._checkpoints,
            run=request["id"],
            encoding=plan.encoding,
            trace=request.get("trace", ()),
        )

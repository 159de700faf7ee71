"""What a running function can see of its own run.

Owns the scope that ties log lines to a run, the `context` argument and the `Out` argument. Both
arguments are our own classes with the members of the `azure.functions` interfaces: a function
that never imports that package needs none.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from .checkpoints import CheckpointRefused, Checkpoints


class Scope(NamedTuple):
    """The run that a line of text belongs to; the invocation is "" while a module is imported."""

    function: str = ""
    invocation_id: str = ""
    message_id: str = ""


NOWHERE = Scope()
SCOPE: ContextVar[Scope] = ContextVar("qtrigger_scope", default=NOWHERE)


class TraceContext:
    """The run's place in a trace, for the function's own spans; empty where nobody traces."""

    def __init__(self, parent: str = "", state: str = "") -> None:
        self.trace_parent = self.Traceparent = parent
        self.trace_state = self.Tracestate = state

    @property
    def attributes(self) -> dict[str, str]:
        """No attributes."""
        return {}

    Attributes = attributes


class RetryError:
    """What the try before ended with: the members of the interface, and the exception's type."""

    def __init__(self, error: Mapping[str, str]) -> None:
        self.type = error.get("type", "")
        self.message = error.get("message", "")
        self.stack_trace = error.get("traceback", "")
        self.source = error.get("place", "")


class RetryContext:
    """The retry policy's count for this delivery of the message: 0 at the first try.

    `exception` and `rpc_exception` are one: what the try before ended with, None at the first.
    """

    def __init__(self, retry: Mapping[str, Any] | None = None) -> None:
        self.retry_count: int = retry["count"] if retry else 0
        self.max_retry_count: int = retry["max"] if retry else 0
        error = retry.get("error") if retry else None
        self.exception = self.rpc_exception = RetryError(error) if error else None


class Context:
    """The `context` argument.

    `max_dequeue_count` is ours: with the message's dequeue count it tells a function whether this
    try is its last. `thread_local_storage.invocation_id` is what a function sets in threads of its
    own to have their log lines attributed. `retry` is None without a retry policy; else it has
    `count`, `max` (-1 for ever) and, after a failed try, `error`: `type`, `message`, `traceback`
    and `place`. `run` is the number by which `checkpoints` knows it,
    which are None for a run on a list of messages. `trace` is a traceparent and a tracestate.
    """

    def __init__(  # noqa: PLR0913 - each is a part of its own
        self,
        *,
        scope: Scope,
        function_directory: str,
        max_dequeue_count: int,
        thread_local_storage: threading.local,
        retry: Mapping[str, Any] | None = None,
        checkpoints: Checkpoints | None = None,
        run: int = 0,
        encoding: str = "base64",
        trace: Sequence[str] = (),
    ) -> None:
        self.invocation_id = scope.invocation_id
        self.function_name = scope.function
        self.function_directory = function_directory
        self.max_dequeue_count = max_dequeue_count
        self.thread_local_storage = thread_local_storage
        self.trace_context = TraceContext(*trace)
        self.retry_context = RetryContext(retry)
        self._checkpoints = checkpoints
        self._run = run
        self._encoding = encoding

    def checkpoint(self, body: str | bytes) -> None:
        """Leave a body for the next try of this message, in place of the one that it has.

        The host writes it at once, and says so if it cannot be; this does not wait for it. It may
        be called again and again; the last one counts. Without a next try it has no effect. Raises
        a ValueError for what is no text or bytes, is too large, or comes after the run's end, and
        in a run on a list of messages, none of which is meant more than another.
        """
        if self._checkpoints is None:
            raise CheckpointRefused("a function that takes lists of messages has no checkpoint")
        self._checkpoints.leave(self._run, body, self._encoding)


class Out:
    """The argument for an output binding: the last value set is written, None writes nothing."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value: Any = None

    def set(self, value: Any) -> None:
        """Replace the value."""
        self._value = value

    def get(self) -> Any:
        """The value so far, None before the first `set`."""
        return self._value

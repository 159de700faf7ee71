"""What is run and how it ended: plain values that pass between listener, worker and settlement.

Owns no behaviour and knows neither queues nor processes. An invocation carries one message or
several; there is one outcome for each of them, in the same order.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Protocol

from qtrigger.trace_context import TraceContext
from qtrigger.values import value


@value(frozen=True, slots=True, kw_only=True)
class TriggerMessage:
    """A message as the function sees it: decoded body and the service's metadata.

    `pop_receipt` is the one of the receive; a later renewal replaces it, so it is only for
    showing. Times carry the zone UTC.
    """

    id: str
    body: bytes
    dequeue_count: int
    inserted: datetime
    expires: datetime
    next_visible: datetime
    pop_receipt: str


@value(frozen=True, slots=True, kw_only=True)
class ErrorDetail:
    """A user function's error: type name, text, the traceback's text, and where it was raised.

    `place` is `file:line` of the innermost frame of the user's own code, "" when there is none.
    """

    type: str
    message: str
    traceback: str = ""
    place: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Retrial:
    """Where a run stands among the retries of its function's policy.

    `count` is 0 for the first run, `most` the policy's `maxRetryCount` (-1: without end), `error`
    how the run before this one failed, None for the first.
    """

    count: int
    most: int
    error: ErrorDetail | None = None


class NextTry(Protocol):
    """What a run may leave for the next try of its message, while the host has that in hand."""

    @property
    def latest(self) -> bytes | None:
        """The body that the run has left for the next try, None for none."""

    def checkpoint(self, body: bytes) -> None:
        """Leave another body for the next try, at once; never raises and never waits."""


class Trace(Protocol):
    """What follows a run for those who look at it from elsewhere; see `tracing`."""

    @property
    def context(self) -> TraceContext:
        """Its place, for the run and for what it sends."""

    def ended(self, outcome: Outcome, disposition: str, retries: int = 0) -> None:
        """The run has ended so, and its message was dealt with so; never raises."""

    def close(self) -> None:
        """Nothing more is to come, be it ended or given up; never raises."""


@value(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One run of one function, or several with one id where a retry policy wants them.

    `timeout_s` is the time the function itself may take (`functionTimeout`), None for no limit;
    `retry` is None for a function without a retry policy. `alone` asks that nothing runs beside it
    in its worker. `next_try` is None where there is no message that one could get, `trace` where
    nobody follows the run.
    """

    id: str
    function: str
    messages: tuple[TriggerMessage, ...]
    max_dequeue_count: int
    timeout_s: float | None = None
    retry: Retrial | None = None
    alone: bool = False
    next_try: NextTry | None = field(default=None, compare=False, repr=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)


@value(frozen=True, slots=True, kw_only=True)
class OutputItem:
    """One message for an output queue; `delay_s` and `ttl_s` None leave it to the service."""

    body: bytes
    delay_s: float | None = None
    ttl_s: float | None = None


@value(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run wrote to one output binding, in order."""

    binding: str
    items: tuple[OutputItem, ...]


@value(frozen=True, slots=True, kw_only=True)
class Succeeded:
    """The function returned; these are its outputs, not yet written."""

    outputs: tuple[Output, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Failed:
    """The function raised, or an output could not be written."""

    error: ErrorDetail


@value(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """The function was still running after its time-out."""

    after_s: float


@value(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """The worker process ended under the invocation.

    `how` says in words how it ended ("exit code 3", "signal 11 (SIGSEGV)"). `alone` is true when
    nothing else ran there, so that this function itself must have been the cause; else it is a
    suspect, and no failure is laid to it.
    """

    how: str
    alone: bool


@value(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """Ended by us: no failure of the function's.

    `by` is what interrupted it: `stop` (our stop or reload), `neighbour` (its worker had to end
    because of another run), `load` (no worker can load its function any more) or `breaker` (it had
    not begun when the circuit breaker opened).
    """

    by: str = "stop"


@value(frozen=True, slots=True, kw_only=True)
class LeaseLost:
    """The message is no longer ours; somebody else has it, or it is gone."""


@value(frozen=True, slots=True, kw_only=True)
class Postponed:
    """The function asked for the message to come back in `delay_s` seconds; no failure."""

    delay_s: float


@value(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The function declared the message unfit for good."""

    reason: str


Outcome = (
    Succeeded | Failed | TimedOut | WorkerLost | Interrupted | LeaseLost | Postponed | Rejected
)


@value(frozen=True, slots=True, kw_only=True)
class Ran:
    """The end of an invocation: an outcome for each message, and how long the run took."""

    outcomes: tuple[Outcome, ...] = field()
    duration_s: float

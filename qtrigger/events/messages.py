"""What becomes of one message and its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from qtrigger.invocation import ErrorDetail, Failed, Outcome, TimedOut, WorkerLost
from qtrigger.values import value


@value(frozen=True, slots=True, kw_only=True)
class InvocationStarted:
    """A function is about to be called."""

    function: str
    queue: str
    invocation_id: str
    message_id: str
    dequeue_count: int


@value(frozen=True, slots=True, kw_only=True)
class StillRunning:
    """A run takes much longer than those of its function before it.

    `usual_s` is the longest of those that have succeeded, 0 when there is none. `stack` is where
    its code stands, as a traceback has it, "" when that cannot be told. Told once a run.
    """

    function: str
    queue: str
    invocation_id: str
    message_id: str
    for_s: float
    usual_s: float
    stack: str = ""


@value(frozen=True, slots=True, kw_only=True)
class InvocationFinished:
    """The one canonical record of a message's run, after its disposition was carried out.

    `disposition` is acked, retried, poisoned, released, abandoned or dropped; `retry_after_s`
    says when it comes back. `settled` is false when the service did not take it in time, so that
    the message returns when its lease ends. `duration_s` is that of the last run, before which a
    retry policy wanted `retries` others.
    """

    function: str
    queue: str
    invocation_id: str
    message_id: str
    dequeue_count: int
    max_dequeue_count: int
    duration_s: float
    waited_s: float
    outcome: Outcome
    disposition: str
    retry_after_s: float = 0.0
    settled: bool = True
    retries: int = 0


@value(frozen=True, slots=True, kw_only=True)
class RetryPending:
    """A run failed, and its retry policy wants another in `after_s` seconds, in the same receipt.

    `retry` is that one's number, from 1; `max_retries` -1 is without end.
    """

    function: str
    queue: str
    invocation_id: str
    message_id: str
    dequeue_count: int
    max_dequeue_count: int
    duration_s: float
    outcome: Failed | TimedOut | WorkerLost
    retry: int
    max_retries: int
    after_s: float


@value(frozen=True, slots=True, kw_only=True)
class MessagePoisoned:
    """A message was moved to its poison queue. `reason` is tries, undecodable or rejected.

    `poison_id` is the id of its copy there, "" where there is none. It `ran` when that was
    after a run, and not when it came.
    """

    function: str
    queue: str
    poison_queue: str
    message_id: str
    invocation_id: str
    dequeue_count: int
    max_dequeue_count: int
    reason: str
    detail: str
    poison_id: str = ""
    ran: bool = True


@value(frozen=True, slots=True, kw_only=True)
class MessageHandedBack:
    """A message was released without having been started.

    It came while stopping, or (`cause` breaker) when its function's circuit breaker had opened.
    """

    function: str
    queue: str
    message_id: str
    cause: str = "stop"


@value(frozen=True, slots=True, kw_only=True)
class LeaseRenewed:
    """A renewal succeeded; the message stays hidden for `lease_s` seconds from now."""

    function: str
    queue: str
    message_id: str
    lease_s: float


@value(frozen=True, slots=True, kw_only=True)
class RenewalFailed:
    """A renewal did not succeed and is tried again; `refused` when a right is missing."""

    function: str
    queue: str
    message_id: str
    message: str
    refused: bool


@value(frozen=True, slots=True, kw_only=True)
class CheckpointNotKept:
    """A text that a run left for its next try was not written; that try gets the one before."""

    function: str
    queue: str
    message_id: str
    message: str


@value(frozen=True, slots=True, kw_only=True)
class LeaseEnded:
    """The message is no longer ours although it was not settled."""

    function: str
    queue: str
    message_id: str
    detail: str


@value(frozen=True, slots=True, kw_only=True)
class SettlementFailed:
    """A disposition could not be carried out; the message returns when its lease ends.

    `refused` when a right is missing.
    """

    function: str
    queue: str
    message_id: str
    disposition: str
    message: str
    hint: str
    refused: bool = False


@value(frozen=True, slots=True, kw_only=True)
class UserLog:
    """A line from user code, tied to its invocation where there is one ("" else).

    `level` is a number of the `logging` module; `logger` is the logger's name, or `stdout` /
    `stderr` for printed text. `extra` are the fields that a record was given, as JSON has them.
    """

    function: str
    invocation_id: str
    message_id: str
    level: int
    logger: str
    message: str
    error: ErrorDetail | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

"""What happens, as typed values sent to one sink.

Owns the vocabulary between the core and whatever listens (log lines, metrics, traces). The core
builds and emits; it never knows who hears. An event never holds a message body or a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from qtrigger.invocation import ErrorDetail, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong in the project's files or settings; `place` is `file:line:column`.

    `traceback` is there when user code raised something.
    """

    function: str
    place: str
    severity: str
    message: str
    hint: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionState:
    """A function in the list shown at start.

    `state` is ready, disabled, failed or not run here.
    """

    name: str
    queue: str
    connection: str
    state: str
    why: str = ""
    concurrency: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReady:
    """Workers are ready and the listeners run."""

    functions: Sequence[FunctionState]
    workers: int
    interpreter: str
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStopping:
    """No more polls; what runs may finish within `up_to_s` seconds."""

    reason: str
    running: int
    up_to_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStopped:
    """The process is about to end.

    `counts` are messages by how their runs ended; `unsettled` ones come back when their leases
    end.
    """

    reason: str
    counts: Mapping[str, int]
    unsettled: int
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadRejected:
    """A reload could not be carried out; the host before it goes on."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PollFinished:
    """One request for messages was answered."""

    function: str
    queue: str
    found: int
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStateChanged:
    """A listener's view of its queue changed: `ok`, `missing`, `unavailable` or `failing`.

    Told once for each change, never once for each poll; `next_try_s` is the wait before the next.
    """

    function: str
    queue: str
    state: str
    message: str
    hint: str
    next_try_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesHidden:
    """At a start, about `count` messages were hidden from this host, and none was visible.

    Who holds them cannot be known; what a killed host of this project left comes back within
    `lease_s` seconds.
    """

    function: str
    queue: str
    count: int
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationStarted:
    """A function is about to be called."""

    function: str
    queue: str
    invocation_id: str
    message_id: str
    dequeue_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StillRunning:
    """A run takes much longer than those of its function before it.

    `usual_s` is the longest of those that have succeeded, 0 when there is none. Told once a run.
    """

    function: str
    queue: str
    invocation_id: str
    message_id: str
    for_s: float
    usual_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationFinished:
    """The one canonical record of a message's run, after its disposition was carried out.

    `disposition` is acked, retried, poisoned, released, abandoned or dropped; `retry_after_s`
    says when it comes back. `settled` is false when the service did not take it in time, so that
    the message returns when its lease ends.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePoisoned:
    """A message was moved to its poison queue. `reason` is tries, undecodable or rejected."""

    function: str
    queue: str
    poison_queue: str
    message_id: str
    invocation_id: str
    dequeue_count: int
    max_dequeue_count: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHandedBack:
    """A message that arrived while stopping was released without having been started."""

    function: str
    queue: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRenewed:
    """A renewal succeeded; the message stays hidden for `lease_s` seconds from now."""

    function: str
    queue: str
    message_id: str
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalFailed:
    """A renewal did not succeed and is tried again; `refused` when a right is missing."""

    function: str
    queue: str
    message_id: str
    message: str
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseEnded:
    """The message is no longer ours although it was not settled."""

    function: str
    queue: str
    message_id: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementFailed:
    """A disposition could not be carried out; the message returns when its lease ends."""

    function: str
    queue: str
    message_id: str
    disposition: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStarted:
    """A worker process is ready."""

    worker: int
    pid: int
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnded:
    """A worker process ended. `expected` when we asked for it."""

    worker: int
    pid: int
    how: str
    expected: bool
    lost: int
    next_start_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionLoadFailed:
    """A function cannot run and is not polled."""

    function: str
    place: str
    message: str
    traceback: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionResumed:
    """A function that no worker could load any more was loaded again, and is polled."""

    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLog:
    """A line from user code, tied to its invocation where there is one ("" else).

    `level` is a number of the `logging` module; `logger` is the logger's name, or `stdout` /
    `stderr` for printed text.
    """

    function: str
    invocation_id: str
    message_id: str
    level: int
    logger: str
    message: str
    error: ErrorDetail | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLog:
    """A line of the host's own, or of a library it uses; `level` as in `logging`."""

    level: int
    logger: str
    message: str
    traceback: str = ""


Event = (
    Finding
    | HostReady
    | HostStopping
    | HostStopped
    | ReloadRejected
    | PollFinished
    | QueueStateChanged
    | MessagesHidden
    | InvocationStarted
    | StillRunning
    | InvocationFinished
    | MessagePoisoned
    | MessageHandedBack
    | LeaseRenewed
    | RenewalFailed
    | LeaseEnded
    | SettlementFailed
    | WorkerStarted
    | WorkerEnded
    | FunctionLoadFailed
    | FunctionResumed
    | UserLog
    | HostLog
)


class EventSink(Protocol):
    """Where events go. Never blocks, never raises."""

    def emit(self, event: Event) -> None:
        """Take one event."""

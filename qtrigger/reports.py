"""Tells the event sink what becomes of one function's messages.

Owns the step from a message's fate to an event; decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qtrigger.dispositions import Abandon, Ack, Disposition, Drop, Poison, Release, Retry
from qtrigger.errors import AccessDenied, QueueError
from qtrigger.events import (
    CheckpointNotKept,
    EventSink,
    InvocationFinished,
    InvocationStarted,
    LeaseEnded,
    LeaseRenewed,
    MessageHandedBack,
    MessagePoisoned,
    RenewalFailed,
    RetryPending,
    SettlementFailed,
    StillRunning,
)
from qtrigger.invocation import Invocation, Outcome
from qtrigger.lease import Lease
from qtrigger.notices import Notify
from qtrigger.queues.client import QueueMessage
from qtrigger.retrying import Ended, Pending
from qtrigger.settlement import Settled
from qtrigger.tries import Seen
from qtrigger.usual import Where, nowhere

_LIKELY = "Another consumer has taken the message, or the function itself updated or deleted it."
_NAMES: Mapping[type[Disposition], str] = {
    Ack: "acked",
    Retry: "retried",
    Poison: "poisoned",
    Release: "released",
    Abandon: "abandoned",
    Drop: "dropped",
}
_TWICE = "the answer to the copy was lost and it was made again, so it may stand there twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReports:
    """Reports on the messages of `function` on `queue`; `poison_queue` is "" without one.

    `tells_starts` says whether anybody wants to hear of each start; `notify` is told of what was
    poisoned, message and all, which no event holds, and `where` says where a run's code stands.
    """

    function: str
    queue: str
    poison_queue: str
    sink: EventSink
    tells_starts: bool = True
    where: Where = nowhere
    notify: Notify | None = None

    def started(self, invocation: Invocation, message: QueueMessage) -> None:
        """A function is about to be called."""
        if not self.tells_starts:
            return
        self.sink.emit(
            InvocationStarted(
                function=self.function,
                queue=self.queue,
                invocation_id=invocation.id,
                message_id=message.id,
                dequeue_count=message.dequeue_count,
            )
        )

    def still_running(
        self,
        invocation: Invocation,
        message: QueueMessage,
        for_s: float,
        usual_s: float,
        stack: str,
    ) -> None:
        """A run takes much longer than those before it."""
        self.sink.emit(
            StillRunning(
                function=self.function,
                queue=self.queue,
                invocation_id=invocation.id,
                message_id=message.id,
                for_s=for_s,
                usual_s=usual_s,
                stack=stack,
            )
        )

    def retrying(self, invocation: Invocation, message: QueueMessage, pending: Pending) -> None:
        """A run has failed, and its function's policy wants another within this receipt."""
        self.sink.emit(
            RetryPending(
                function=self.function,
                queue=self.queue,
                invocation_id=invocation.id,
                message_id=message.id,
                dequeue_count=message.dequeue_count,
                max_dequeue_count=invocation.max_dequeue_count,
                duration_s=pending.duration_s,
                outcome=pending.failure,
                retry=pending.retry,
                max_retries=pending.most,
                after_s=pending.after_s,
            )
        )

    def finished(
        self,
        invocation: Invocation,
        message: QueueMessage,
        *,
        ended: Ended,
        disposition: Disposition,
        settled: Settled,
        max_dequeue_count: int,
        waited_s: float,
    ) -> None:
        """A function has run, and its message was settled as far as the service let us.

        `max_dequeue_count` is the message's own limit, beyond which tries that are not held
        against it have moved it.
        """
        became = disposition_name(Drop() if settled.gone else disposition)
        if invocation.trace is not None:
            invocation.trace.ended(ended.outcome, became, ended.retries)
        self.sink.emit(
            InvocationFinished(
                function=self.function,
                queue=self.queue,
                invocation_id=invocation.id,
                message_id=message.id,
                dequeue_count=message.dequeue_count,
                max_dequeue_count=max_dequeue_count,
                duration_s=ended.duration_s,
                waited_s=waited_s,
                outcome=ended.outcome,
                retries=ended.retries,
                disposition=became,
                retry_after_s=_returns_after(disposition),
                settled=settled.error is None,
            )
        )

    def poisoned(
        self,
        message: QueueMessage,
        settled: Settled,
        reason: str,
        detail: str,
        invocation_id: str,
        max_dequeue_count: int,
        outcome: Outcome | None = None,
    ) -> None:
        """A message was moved to the poison queue, or left alone where there is none.

        `invocation_id` is that of its last run as far as known here, "" of none; `outcome` that of
        the run after which it was.
        """
        doubt = _TWICE if settled.perhaps_twice else ""
        event = MessagePoisoned(
            function=self.function,
            queue=self.queue,
            poison_queue=self.poison_queue,
            message_id=message.id,
            invocation_id=invocation_id,
            dequeue_count=message.dequeue_count,
            max_dequeue_count=max_dequeue_count,
            reason=reason,
            detail="; ".join(part for part in (detail, doubt) if part),
            poison_id=settled.copy_id,
            ran=outcome is not None,
        )
        self.sink.emit(event)
        if self.notify is not None and settled.copied:
            self.notify(event, message, outcome)

    def handed_back(self, message: QueueMessage, cause: str = "stop") -> None:
        """A message that came while stopping, or to an open circuit breaker, was released."""
        self.sink.emit(
            MessageHandedBack(
                function=self.function, queue=self.queue, message_id=message.id, cause=cause
            )
        )

    def renewed(self, message: QueueMessage, lease_s: float) -> None:
        """A lease was renewed."""
        self.sink.emit(
            LeaseRenewed(
                function=self.function, queue=self.queue, message_id=message.id, lease_s=lease_s
            )
        )

    def not_renewed(self, message: QueueMessage, error: QueueError) -> None:
        """A renewal failed; the next try comes sooner."""
        self.sink.emit(
            RenewalFailed(
                function=self.function,
                queue=self.queue,
                message_id=message.id,
                message=str(error),
                refused=isinstance(error, AccessDenied),
            )
        )

    def not_kept(self, message: QueueMessage, why: str) -> None:
        """A text that a run left for its next try was not written."""
        self.sink.emit(
            CheckpointNotKept(
                function=self.function, queue=self.queue, message_id=message.id, message=why
            )
        )

    def defect(self, message: QueueMessage, error: Exception) -> None:
        """A defect of ours ended a message's way; it is left to its lease."""
        self.sink.emit(
            SettlementFailed(
                function=self.function,
                queue=self.queue,
                message_id=message.id,
                disposition="settled",
                message=f"a defect of qtrigger: {type(error).__name__}: {error}",
                hint="The message comes back by itself when its lease ends.",
            )
        )

    def lost(self, message: QueueMessage, reason: str) -> None:
        """A message is no longer ours, without having been settled."""
        self.sink.emit(
            LeaseEnded(
                function=self.function,
                queue=self.queue,
                message_id=message.id,
                detail=f"{reason.rstrip('.')}. {_LIKELY}",
            )
        )

    def settled(self, lease: Lease, disposition: Disposition, settled: Settled) -> None:
        """Tell of a settlement only where it did not go as wanted."""
        if settled.error is not None:
            self.sink.emit(
                SettlementFailed(
                    function=self.function,
                    queue=self.queue,
                    message_id=lease.message.id,
                    disposition=disposition_name(disposition),
                    message=str(settled.error),
                    hint="The message comes back by itself when its lease ends.",
                    refused=isinstance(settled.error, AccessDenied),
                )
            )
        elif settled.gone and not lease.lost:
            self.lost(lease.message, settled.gone)


def tries_used_up(message: QueueMessage, seen: Seen) -> str:
    """Say why a message comes with its tries used up, and no more than is known here."""
    tries = message.dequeue_count - 1
    lost = tries - seen.results
    since = f"it is in the queue since {message.inserted:%Y-%m-%d %H:%M:%S} UTC"
    if lost <= 0:
        return f"its {tries} tries are used up; {since}"
    return (
        f"{lost} of its {tries} tries before this one left no result here: this host or another "
        f"consumer ended under them; {since}"
    )


def disposition_name(disposition: Disposition) -> str:
    """Return the word for it in events and log lines."""
    return _NAMES[type(disposition)]


def _returns_after(disposition: Disposition) -> float:
    return disposition.after_s if isinstance(disposition, (Retry, Release)) else 0.0

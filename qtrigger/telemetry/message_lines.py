"""How the events of messages read as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from qtrigger.events import (
    CheckpointNotKept,
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
    UserLog,
)
from qtrigger.telemetry.line import SHORT_ID, Line, line_of, sentence
from qtrigger.telemetry.outcomes import (
    Described,
    describe_outcome,
    describe_retry,
    duration_text,
)

# See `MessageHandedBack.cause`.
HANDED_BACK = {
    "stop": "it came while stopping",
    "breaker": "it came when the circuit breaker had opened",
}

DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR


@line_of.register
def _(event: InvocationStarted) -> Line:
    return Line(
        event="invocation.started",
        level=DEBUG,
        tag="start",
        function=event.function,
        message_id=event.message_id,
        text=f"try {event.dequeue_count} from {event.queue}",
        fields={
            "queue": event.queue,
            "invocation_id": event.invocation_id,
            "dequeue_count": event.dequeue_count,
        },
    )


@line_of.register
def _(event: StillRunning) -> Line:
    usual = f", {duration_text(event.usual_s)} at most before" if event.usual_s else ""
    return Line(
        event="invocation.running",
        level=WARNING,
        tag="running",
        function=event.function,
        message_id=event.message_id,
        text=f"still running, {duration_text(event.for_s)}{usual}"
        + (", at:" if event.stack else ""),
        hint=""
        if event.stack
        else f"kill -USR1 {os.getpid()} writes where every thread of the workers stands",
        fields={
            "queue": event.queue,
            "invocation_id": event.invocation_id,
            **({"stack": event.stack} if event.stack else {}),
        },
        details=event.stack.rstrip("\n"),
    )


@line_of.register
def _(event: InvocationFinished) -> Line:
    fields = {
        "disposition": event.disposition,
        "duration_ms": round(event.duration_s * 1000, 3),
        "waited_ms": round(event.waited_s * 1000, 3),
        **({"retries": event.retries} if event.retries else {}),
    }
    return _of_run(event, "invocation.finished", describe_outcome(event), fields)


@line_of.register
def _(event: RetryPending) -> Line:
    fields = {
        "retry": event.retry,
        "max_retries": event.max_retries,
        "after_ms": round(event.after_s * 1000, 3),
        "duration_ms": round(event.duration_s * 1000, 3),
    }
    return _of_run(event, "invocation.retrying", describe_retry(event), fields)


def _of_run(
    event: InvocationFinished | RetryPending,
    name: str,
    described: Described,
    fields: Mapping[str, object],
) -> Line:
    """The line of a run that has ended, with what is common to all of them."""
    return Line(
        event=name,
        level=described.level,
        tag=described.tag,
        function=event.function,
        message_id=event.message_id,
        text=described.text,
        details=described.details,
        fields={
            "queue": event.queue,
            "invocation_id": event.invocation_id,
            "dequeue_count": event.dequeue_count,
            "outcome": described.outcome,
            **fields,
            **described.error_fields,
        },
    )


@line_of.register
def _(event: MessagePoisoned) -> Line:
    tries = f"try {event.dequeue_count}/{event.max_dequeue_count}"
    where = f"moved to {event.poison_queue}" if event.poison_queue else "left where it is"
    why = f": {event.detail}" if event.detail else ""
    return Line(
        event="message.poisoned" if event.poison_queue else "message.abandoned",
        level=WARNING,
        tag="POISON",
        function=event.function,
        message_id=event.message_id,
        text=f"{tries}  {where} ({event.reason}){why}",
        hint=f"qtrigger poison show {event.message_id[:SHORT_ID]}" if event.poison_queue else "",
        fields={
            "queue": event.queue,
            "poison_queue": event.poison_queue,
            "poison_id": event.poison_id,
            "invocation_id": event.invocation_id,
            "dequeue_count": event.dequeue_count,
            "reason": event.reason,
        },
    )


@line_of.register
def _(event: MessageHandedBack) -> Line:
    return Line(
        event="message.handed_back",
        level=DEBUG,
        tag="back",
        function=event.function,
        message_id=event.message_id,
        text=f"to {event.queue}: {HANDED_BACK[event.cause]}",
        fields={"queue": event.queue, "cause": event.cause},
    )


@line_of.register
def _(event: LeaseRenewed) -> Line:
    return Line(
        event="lease.renewed",
        level=DEBUG,
        tag="lease",
        function=event.function,
        message_id=event.message_id,
        text=f"renewed for {event.lease_s:g} s",
        fields={"queue": event.queue},
    )


@line_of.register
def _(event: RenewalFailed) -> Line:
    return Line(
        event="lease.not_renewed",
        # That a right is missing was told as the listener's, once.
        level=DEBUG if event.refused else WARNING,
        tag="LEASE",
        function=event.function,
        message_id=event.message_id,
        text=f"not renewed, tried again soon: {event.message}",
        hint="the message will be run again when its lease ends" if event.refused else "",
        fields={"queue": event.queue, "refused": event.refused},
    )


@line_of.register
def _(event: CheckpointNotKept) -> Line:
    return Line(
        event="checkpoint.not_kept",
        level=WARNING,
        tag="LEASE",
        function=event.function,
        message_id=event.message_id,
        text="what the run left by context.checkpoint was not kept as far as is known: "
        f"{sentence(event.message)} The next try, if there is one here, gets the text before it.",
        fields={"queue": event.queue},
    )


@line_of.register
def _(event: LeaseEnded) -> Line:
    return Line(
        event="lease.lost",
        level=WARNING,
        tag="LEASE",
        function=event.function,
        message_id=event.message_id,
        text=f"no longer ours: {event.detail}",
        fields={"queue": event.queue},
    )


@line_of.register
def _(event: SettlementFailed) -> Line:
    return Line(
        event="settlement.failed",
        # That a right is missing was told as the listener's, once.
        level=DEBUG if event.refused else ERROR,
        tag="SETTLE",
        function=event.function,
        message_id=event.message_id,
        text=f"could not be {event.disposition}: {event.message}",
        hint=event.hint,
        fields={"queue": event.queue, "disposition": event.disposition},
    )


@line_of.register
def _(event: UserLog) -> Line:
    return Line(
        event="user.log",
        level=event.level,
        function=event.function,
        message_id=event.message_id,
        text=event.message,
        fields={
            "logger": event.logger,
            "invocation_id": event.invocation_id,
            **({"extra": event.extra} if event.extra else {}),
        },
        details=event.error.traceback if event.error else "",
    )

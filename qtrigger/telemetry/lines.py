"""Turns events into log lines: one table of names, levels, texts and fields.

Owns the public names of log events. Knows no colours and no streams; the renderers do. Fields
hold identifiers and numbers, never a body or a secret.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch

from qtrigger.events import (
    Event,
    Finding,
    FunctionLoadFailed,
    HostLog,
    HostReady,
    HostStopped,
    HostStopping,
    InvocationFinished,
    InvocationStarted,
    LeaseEnded,
    LeaseRenewed,
    MessageHandedBack,
    MessagePoisoned,
    PollFinished,
    QueueStateChanged,
    ReloadRejected,
    SettlementFailed,
    UserLog,
    WorkerEnded,
    WorkerStarted,
)
from qtrigger.telemetry.outcomes import describe_outcome, duration_text

DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One log line. `tag` is its short mark on a terminal, `details` are lines under it."""

    event: str
    level: int
    text: str
    tag: str = ""
    function: str = ""
    message_id: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    details: str = ""


@singledispatch
def line_of(event: Event) -> Line:
    """Return the line of an event. Raises TypeError for a value that is no event."""
    raise TypeError(f"no line for {type(event).__name__}")


@line_of.register
def _(event: Finding) -> Line:
    place = f"{event.place}: " if event.place else ""
    hint = f"  hint: {event.hint}" if event.hint else ""
    return Line(
        event=f"project.{event.severity}",
        level=ERROR if event.severity == "error" else WARNING,
        tag=event.severity,
        function=event.function,
        text=f"{place}{event.message}{hint}",
        fields={"place": event.place},
    )


@line_of.register
def _(event: HostReady) -> Line:
    ready = [state for state in event.functions if state.state == "ready"]
    return Line(
        event="host.ready",
        level=INFO,
        tag="ready",
        text=f"{len(ready)} of {len(event.functions)} functions, {event.workers} "
        f"worker{'s' if event.workers != 1 else ''}, in {duration_text(event.after_s)}",
        fields={
            "functions": [
                {
                    "name": each.name,
                    "queue": each.queue,
                    "connection": each.connection,
                    "state": each.state,
                    "why": each.why,
                }
                for each in event.functions
            ],
            "workers": event.workers,
            "interpreter": event.interpreter,
        },
    )


@line_of.register
def _(event: HostStopping) -> Line:
    return Line(
        event="host.stopping",
        level=INFO,
        tag="stopping",
        text=f"{event.reason}: {event.running} running, up to {event.up_to_s:g} s "
        "(a second signal leaves at once)",
        fields={"reason": event.reason, "running": event.running, "up_to_s": event.up_to_s},
    )


@line_of.register
def _(event: HostStopped) -> Line:
    counts = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in event.counts.items()
    )
    left = f", {event.unsettled} left to their leases" if event.unsettled else ""
    return Line(
        event="host.stopped",
        level=WARNING if event.unsettled else INFO,
        tag="stopped",
        text=f"{event.reason}, after {duration_text(event.after_s)}: {counts}{left}",
        fields={"reason": event.reason, "unsettled": event.unsettled, **event.counts},
    )


@line_of.register
def _(event: ReloadRejected) -> Line:
    return Line(
        event="reload.rejected",
        level=ERROR,
        tag="reload",
        text=f"the project was not reloaded and goes on as it was: {event.message}",
    )


@line_of.register
def _(event: PollFinished) -> Line:
    return Line(
        event="poll.finished",
        level=DEBUG,
        tag="poll",
        function=event.function,
        text=f"{event.found} found in {event.queue}, {duration_text(event.took_s)}",
        fields={"queue": event.queue, "found": event.found},
    )


@line_of.register
def _(event: QueueStateChanged) -> Line:
    level = {"ok": INFO, "missing": WARNING, "unavailable": WARNING}.get(event.state, ERROR)
    again = f" Next try in {event.next_try_s:.1f} s." if event.state != "ok" else ""
    text = event.message or f"queue {event.queue!r} is there and answers"
    return Line(
        event=f"queue.{event.state}",
        level=level,
        tag="queue",
        function=event.function,
        text=f"{_sentence(text)} {event.hint}".rstrip() + again,
        fields={"queue": event.queue},
    )


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
def _(event: InvocationFinished) -> Line:
    described = describe_outcome(event)
    return Line(
        event="invocation.finished",
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
            "disposition": event.disposition,
            "duration_ms": round(event.duration_s * 1000, 3),
            "waited_ms": round(event.waited_s * 1000, 3),
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
        fields={
            "queue": event.queue,
            "poison_queue": event.poison_queue,
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
        text=f"to {event.queue}: it came while stopping",
        fields={"queue": event.queue},
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
        level=ERROR,
        tag="SETTLE",
        function=event.function,
        message_id=event.message_id,
        text=f"could not be {event.disposition}: {_sentence(event.message)} {event.hint}",
        fields={"queue": event.queue, "disposition": event.disposition},
    )


@line_of.register
def _(event: WorkerStarted) -> Line:
    return Line(
        event="worker.started",
        level=DEBUG,
        tag="worker",
        text=f"{event.worker} ready in {duration_text(event.took_s)} (pid {event.pid})",
        fields={"worker": event.worker, "pid": event.pid},
    )


@line_of.register
def _(event: WorkerEnded) -> Line:
    lost = f", {event.lost} running there" if event.lost else ""
    again = f"; next start in {event.next_start_s:.1f} s" if event.next_start_s else ""
    return Line(
        event="worker.ended",
        level=DEBUG if event.expected else WARNING,
        tag="worker",
        text=f"{event.worker} ended with {event.how} (pid {event.pid}){lost}{again}",
        fields={"worker": event.worker, "pid": event.pid, "how": event.how, "lost": event.lost},
    )


@line_of.register
def _(event: FunctionLoadFailed) -> Line:
    place = f"{event.place}: " if event.place else ""
    hint = f"  hint: {event.hint}" if event.hint else ""
    return Line(
        event="function.failed",
        level=ERROR,
        tag="ERROR",
        function=event.function,
        text=f"{place}{event.message}{hint}",
        details=event.traceback,
    )


@line_of.register
def _(event: UserLog) -> Line:
    return Line(
        event="user.log",
        level=event.level,
        function=event.function,
        message_id=event.message_id,
        text=event.message,
        fields={"logger": event.logger, "invocation_id": event.invocation_id},
        details=event.error.traceback if event.error else "",
    )


@line_of.register
def _(event: HostLog) -> Line:
    return Line(
        event="host.log",
        level=event.level,
        tag="host",
        text=event.message,
        fields={"logger": event.logger},
        details=event.traceback,
    )


def _sentence(text: str) -> str:
    """End a text with a full stop, unless it ends a sentence by itself."""
    return text if text.endswith((".", "!", "?")) else f"{text}."

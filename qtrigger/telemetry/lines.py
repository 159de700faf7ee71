"""How the events of host, queues and workers read as log lines.

Owns their public names, levels and texts. Knows no colours and no streams; the renderers do.
Fields hold identifiers and numbers, never a body or a secret.
"""

from __future__ import annotations

import logging

from qtrigger.events import (
    Finding,
    FunctionLoadFailed,
    HostLog,
    HostReady,
    HostStopped,
    HostStopping,
    MessagesHidden,
    PollFinished,
    QueueStateChanged,
    ThrottlingBegan,
    ThrottlingEnded,
    WorkerAnswers,
    WorkerEnded,
    WorkerSilent,
    WorkerStarted,
)
from qtrigger.telemetry import (
    http_lines,
    lifetime_lines,
    message_lines,
    notice_lines,
    pause_lines,
    reload_lines,
)
from qtrigger.telemetry.lifetime_lines import INTERRUPT, counts_text, reason_text
from qtrigger.telemetry.line import Line, line_of, sentence
from qtrigger.telemetry.outcomes import duration_text, ended_text

__all__ = [
    "Line",
    "http_lines",
    "lifetime_lines",
    "line_of",
    "message_lines",
    "notice_lines",
    "pause_lines",
    "reload_lines",
]

DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR


@line_of.register
def _(event: Finding) -> Line:
    place = f"{event.place}: " if event.place else ""
    return Line(
        event=f"project.{event.severity}",
        level=ERROR if event.severity == "error" else WARNING,
        tag=event.severity,
        function=event.function,
        text=f"{place}{event.message}",
        hint=event.hint,
        fields={"place": event.place},
        details=event.traceback,
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
    if event.reason == "reload":
        text = f"{event.running} running on the code before, up to {event.up_to_s:g} s"
    elif event.running:
        again = "again" if event.reason == INTERRUPT else "a second signal"
        text = (
            f"{reason_text(event.reason)}: {event.running} running, up to {event.up_to_s:g} s "
            f"({again}{' leaves' if again != 'again' else ': leave'} at once)"
        )
    else:
        text = f"{reason_text(event.reason)}: nothing is running"
    return Line(
        event="host.stopping",
        # A reload has its own line, which says the same.
        level=DEBUG if event.reason == "reload" else INFO,
        tag="reloaded" if event.reason == "reload" else "stopping",
        text=text,
        fields={"reason": event.reason, "running": event.running, "up_to_s": event.up_to_s},
    )


@line_of.register
def _(event: HostStopped) -> Line:
    left = f" · {event.unsettled} left to their leases" if event.unsettled else ""
    return Line(
        event="host.stopped",
        level=WARNING if event.unsettled else INFO,
        tag="stopped",
        text=f"{reason_text(event.reason)}: {counts_text(event.counts)}{left} · "
        f"ran for {duration_text(event.after_s)}",
        fields={"reason": event.reason, "unsettled": event.unsettled, **event.counts},
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
    level = {"ok": INFO, "missing": INFO, "unavailable": WARNING}.get(event.state, ERROR)
    text = event.message or f"queue {event.queue!r} is there and answers"
    if event.state == "missing":  # nothing has to be done, and there may be many of them
        text, hint = f"{sentence(text)} {event.hint}".rstrip(), ""
    else:
        again = f"; next try in {duration_text(event.next_try_s)}" if event.next_try_s else ""
        text, hint = f"{text.rstrip('.')}{again}", event.hint
    return Line(
        event=f"queue.{event.state}",
        level=level,
        tag="queue",
        function=event.function,
        text=text,
        hint=hint,
        fields={"queue": event.queue},
    )


@line_of.register
def _(event: ThrottlingBegan) -> Line:
    return Line(
        event="account.throttled",
        level=WARNING,
        tag="queue",
        text=f"account {event.account} is busy and puts requests off: {sentence(event.message)} "
        "They are made again by themselves; the end of it is told",
        fields={"account": event.account},
    )


@line_of.register
def _(event: ThrottlingEnded) -> Line:
    return Line(
        event="account.recovered",
        level=INFO,
        tag="queue",
        text=f"account {event.account} is busy no more: it put off {event.busy:,} of "
        f"{event.requests:,} requests within {duration_text(event.lasted_s)}",
        fields={
            "account": event.account,
            "busy": event.busy,
            "requests": event.requests,
            "lasted_s": round(event.lasted_s, 3),
        },
    )


@line_of.register
def _(event: MessagesHidden) -> Line:
    them = "message is" if event.count == 1 else "messages are"
    return Line(
        event="queue.hidden",
        level=INFO,
        tag="queue",
        function=event.function,
        text=f"about {event.count:,} {them} hidden in {event.queue}: taken by another consumer, "
        "left by a host that was killed, or delayed",
        hint="what a killed host left comes back when its "
        f"lease ends: in {duration_text(event.lease_s)} at most (qtrigger.lease)",
        fields={"queue": event.queue, "count": event.count},
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
        text=f"{event.worker} {ended_text(event.how)} (pid {event.pid}){lost}{again}",
        fields={"worker": event.worker, "pid": event.pid, "how": event.how, "lost": event.lost},
    )


@line_of.register
def _(event: WorkerSilent) -> Line:
    return Line(
        event="worker.silent",
        level=WARNING,
        tag="worker",
        text=f"pid {event.pid} stands still: no answer for {duration_text(event.for_s)}, and no "
        "work either; its messages stay leased",
        hint=f"was it stopped (kill -CONT {event.pid}), or is the machine out of memory?",
        fields={"pid": event.pid, "for_s": round(event.for_s, 3)},
    )


@line_of.register
def _(event: WorkerAnswers) -> Line:
    return Line(
        event="worker.answers",
        level=WARNING,
        tag="worker",
        text=f"pid {event.pid} answers again after {duration_text(event.after_s)}",
        fields={"pid": event.pid, "after_s": round(event.after_s, 3)},
    )


@line_of.register
def _(event: FunctionLoadFailed) -> Line:
    place = f"{event.place}: " if event.place else ""
    return Line(
        event="function.failed",
        level=ERROR,
        tag="ERROR",
        function=event.function,
        text=f"{place}{event.message}",
        hint=event.hint,
        details=event.traceback,
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

"""How pauses, by hand and by circuit breakers, read as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging

from qtrigger.events import BreakerClosed, BreakerOpened, FunctionPaused, FunctionResumed
from qtrigger.telemetry.line import Line, line_of
from qtrigger.telemetry.outcomes import duration_text

# See `FunctionResumed.cause` and `Listener.paused`.
ENDED_BY = {
    "load": "a worker has loaded it again",
    "hand": "resumed by hand",
    "time": "the time of its pause is over",
}
HELD_BY = {
    "breaker": "its circuit breaker is open",
    "hand": "it is paused by hand",
    "load": "no worker can load it",
    "drain": "the host is being drained",
}


@line_of.register
def _(event: FunctionPaused) -> Line:
    by = f" by {event.by}" if event.by else ""
    until = f" until {event.until:%Y-%m-%d %H:%M:%S} UTC" if event.until else ""
    why = f" ({event.reason})" if event.reason else ""
    return Line(
        event="function.paused",
        level=logging.WARNING,
        tag="paused",
        function=event.function,
        text=f"paused{by}{until}{why}: no more messages are asked for, and what runs goes on",
        hint=f"qtrigger resume {event.function}",
        fields={
            "by": event.by,
            "reason": event.reason,
            "until": event.until.isoformat() if event.until else None,
        },
    )


@line_of.register
def _(event: FunctionResumed) -> Line:
    held = " and ".join(HELD_BY[each] for each in event.held)
    goes_on = f"it stays paused, since {held}" if held else "it is polled again"
    return Line(
        event="function.resumed",
        level=logging.INFO,
        tag="paused" if held else "ready",
        function=event.function,
        text=f"{ENDED_BY[event.cause]}: {goes_on}",
        fields={"cause": event.cause, "held": list(event.held)},
    )


@line_of.register
def _(event: BreakerOpened) -> Line:
    pause = duration_text(event.pause_s)
    error = f"{event.error_type}: {event.error}".rstrip(": ")
    if event.probe:
        text = f"the message that was tried has failed too, the last of {event.failures}: {error}"
    else:
        them = "message" if event.messages == 1 else "messages"
        text = (
            f"circuit breaker open after {event.failures} failures in a row from {event.messages} "
            f"{them}, the last: {error}  No more are asked for, and their tries are not counted"
        )
    return Line(
        event="breaker.opened",
        level=logging.ERROR if not event.probe else logging.WARNING,
        tag="BREAKER",
        function=event.function,
        text=f"{text}; one is tried in {pause}",
        hint=f"mend what it needs; to go on at once: qtrigger resume {event.function}",
        fields={
            "queue": event.queue,
            "failures": event.failures,
            "messages": event.messages,
            "probe": event.probe,
            "next_probe_s": event.pause_s,
            "error.type": event.error_type,
            "error.message": event.error,
        },
    )


@line_of.register
def _(event: BreakerClosed) -> Line:
    why = "a message has succeeded" if event.cause == "probe" else "resumed by hand"
    return Line(
        event="breaker.closed",
        level=logging.WARNING,
        tag="BREAKER",
        function=event.function,
        text=f"circuit breaker closed: {why}, after {event.failures} failures in a row and "
        f"{duration_text(event.lasted_s)}; messages are asked for as ever",
        fields={
            "queue": event.queue,
            "cause": event.cause,
            "failures": event.failures,
            "lasted_s": round(event.lasted_s, 3),
        },
    )

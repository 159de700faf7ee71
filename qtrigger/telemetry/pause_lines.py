"""How pauses, by hand and by circuit breakers, read as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging

from qtrigger.events import FunctionPaused, FunctionResumed
from qtrigger.telemetry.line import Line, line_of

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
        text=f"paused{by}{until}{why}: no more messages are asked for, and what runs goes on  "
        f"hint: qtrigger resume {event.function}",
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

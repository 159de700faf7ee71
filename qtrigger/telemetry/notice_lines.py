"""How the events of notices of poisoned messages read as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging

from qtrigger.events import NoticeFailed, NoticesDropped
from qtrigger.telemetry.line import Line, line_of

_WHY = {
    "full": "more waited than are kept; the next one says how many",
    "stopped": "the host stopped before",
}


@line_of.register
def _(event: NoticeFailed) -> Line:
    return Line(
        event="notice.failed",
        level=logging.WARNING,
        tag="NOTICE",
        function=event.function,
        message_id=event.message_id,
        text=f"{event.told} was not told of the poisoned message: {event.message}",
        hint=event.hint,
        fields={"queue": event.queue, "told": event.told},
    )


@line_of.register
def _(event: NoticesDropped) -> Line:
    them = "message" if event.count == 1 else "messages"
    return Line(
        event="notice.dropped",
        level=logging.WARNING,
        tag="NOTICE",
        function=event.function,
        text=f"nobody was told of {event.count:,} poisoned {them} (onPoison): "
        f"{_WHY[event.reason]}. What was moved stands in the poison queue",
        fields={"count": event.count, "reason": event.reason},
    )

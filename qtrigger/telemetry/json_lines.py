"""Log lines for machines: one JSON object a line, through structlog.

Owns the shape of a line: `schema_version`, `timestamp`, `level`, `event`, `message`, then the
event's own fields.
"""

from __future__ import annotations

from typing import Any, cast

import structlog

from qtrigger.events import Event
from qtrigger.telemetry.line import TextStream, level_name
from qtrigger.telemetry.shown import is_wanted, shown_line

SCHEMA_VERSION = 1
# journald cuts a line at 48 KiB; what is trimmed is marked.
MOST_DETAILS = 30_000


class JsonSink:
    """Writes events as JSON lines to a stream; `level` is the least level shown."""

    def __init__(self, stream: TextStream, *, level: int) -> None:
        self._level = level
        self._log = structlog.wrap_logger(
            structlog.WriteLogger(cast("Any", stream)),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(),
            ],
        )

    def emit(self, event: Event) -> None:
        """Write one event, unless its level is below the wanted one."""
        line = shown_line(event, self._level)
        if line is None:
            return
        known = {
            "function": line.function,
            "message_id": line.message_id,
            "details": line.details[:MOST_DETAILS],
            "truncated": len(line.details) > MOST_DETAILS,
        }
        self._log.info(
            line.event,
            schema_version=SCHEMA_VERSION,
            level=level_name(line.level).lower(),
            message=line.text,
            **{name: value for name, value in known.items() if value},
            **line.fields,
        )

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return is_wanted(kind, self._level)

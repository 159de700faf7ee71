"""Log lines for machines: one JSON object a line, by structlog's renderer.

Owns the shape of a line: `schema_version`, `kind`, `timestamp`, `level`, `message`, then the
event's own fields.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Final

import structlog

from qtrigger.events import Event, ProcessEnding
from qtrigger.telemetry.fitting import fit
from qtrigger.telemetry.line import TextStream, level_name
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.telemetry.shown import is_wanted, shown_line

SCHEMA_VERSION: Final = 1
# journald cuts a line at 48 KiB.
MOST_CHARACTERS: Final = 40_000


class JsonSink:
    """Writes events as JSON lines to a stream; `level` is the least level shown.

    Lines of runs that are traced name the trace, as `traces` has it. `begin` gives what stands
    before a line of some level, for a reader that takes it away.

    The last line, of `ProcessEnding`, is always shown: it tells a reader that no more comes.
    """

    def __init__(
        self,
        stream: TextStream,
        *,
        level: int,
        traces: OpenTraces | None = None,
        begin: Callable[[int], str] = lambda _level: "",
    ) -> None:
        self._stream = stream
        self._traces = traces or OpenTraces()
        self._level = level
        self._begin = begin
        # One encoder for all lines: `json.dumps` makes one for each.
        encode = json.JSONEncoder(default=repr).encode
        self._render = structlog.processors.JSONRenderer(lambda content, **_: encode(content))
        self._stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)

    def emit(self, event: Event) -> None:
        """Write one event, unless its level is below the wanted one."""
        last = isinstance(event, ProcessEnding)
        line = shown_line(event, logging.DEBUG if last else self._level)
        if line is None:
            return
        content: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "kind": line.event,
            "timestamp": "",
            "level": level_name(line.level).lower(),
            # What is said of a message needs its tag: of a success there is only its duration.
            "message": f"{line.tag} {line.text}" if line.message_id and line.tag else line.text,
        }
        if line.function:
            content["function"] = line.function
        if line.message_id:
            content["message_id"] = line.message_id
        if line.hint:
            content["hint"] = line.hint
        content.update(line.fields)
        trace = self._traces.of(content.get("invocation_id"))
        if trace is not None:
            content["trace_id"], content["span_id"] = trace.trace_id, trace.span_id
        if line.details and "stack" not in content:
            content["details"] = line.details
        self._stamp(None, "info", content)
        text = self._encoded(content)
        if len(text) > MOST_CHARACTERS:
            text = self._encoded(fit(content, MOST_CHARACTERS, self._encoded))
        self._stream.write(f"{self._begin(line.level)}{text}\n")
        self._stream.flush()

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return is_wanted(kind, self._level)

    def _encoded(self, content: dict[str, Any]) -> str:
        return str(self._render(None, "info", content))

"""Log lines for people: one aligned line for each event, in colour on a terminal.

Owns layout and colours. What the lines say is decided elsewhere.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from qtrigger.events import Event, FunctionState, HostReady, UserLog
from qtrigger.telemetry.line import Line, TextStream, level_name
from qtrigger.telemetry.outcomes import duration_text
from qtrigger.telemetry.shown import is_wanted, shown_line

SHORT_ID = 8
TAG_WIDTH = 8

# A message's text may stand in a line: colours pass, and what moves the cursor is taken out.
_MOVES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-ln-~]")
_CONTROLS = re.compile(r"(?!\t|\x1b\[[0-9;:]*m)[\x00-\x1f\x7f-\x9f]")


class ConsoleSink:
    """Writes events as text lines to a stream.

    `level` is the least level shown (numbers of `logging`); `colour` turns ANSI colours on.
    """

    def __init__(self, stream: TextStream, *, level: int, colour: bool) -> None:
        self._stream = stream
        self._level = level
        self._colour = colour
        self._name_width = 8
        self._second, self._second_text = datetime.min.replace(tzinfo=UTC), ""
        self._last_details: dict[str, str] = {}

    def emit(self, event: Event) -> None:
        """Write one event, unless its level is below the wanted one."""
        if isinstance(event, HostReady):
            self._announce(event)
            return
        line = shown_line(event, self._level)
        if line is not None:
            self._write(self._render(line, of_user=isinstance(event, UserLog)))

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return is_wanted(kind, self._level)

    def _announce(self, event: HostReady) -> None:
        names = [state.name for state in event.functions]
        self._name_width = max([self._name_width, *map(len, names)])
        ready = [state for state in event.functions if state.state == "ready"]
        lines = [*function_table(event.functions), ""]
        lines.append(
            click.style(f"ready in {duration_text(event.after_s)}", bold=True)
            + f"  {len(ready)} of {len(event.functions)} functions, "
            f"{event.workers} worker{'' if event.workers == 1 else 's'} on {event.interpreter}"
        )
        self._write("\n".join(lines))

    def _render(self, line: Line, *, of_user: bool) -> str:
        now = self._time()
        tag = "" if of_user else line.tag
        text = line.text
        if of_user:
            text = _with_extra(f"{level_name(line.level)} {text}", line)
        tag = f"{tag:<{TAG_WIDTH}}"
        columns = [now, _styled(tag, line) if self._colour else tag]
        if line.function:
            columns.append(f"{line.function:<{self._name_width}}")
        if line.message_id:
            columns.append(line.message_id[:SHORT_ID])
        indent = " " * 10
        first, *rest = text.splitlines() or [""]
        details = [*rest, *self._news(line).rstrip().splitlines()]
        details = [indent + _harmless(each) for each in details]
        return "\n".join(["  ".join([*columns, _harmless(first)]), *details])

    def _time(self) -> str:
        """The time of day where we are, written anew once a second."""
        second = datetime.now(UTC).replace(microsecond=0)
        if second != self._second:
            self._second, self._second_text = second, f"{second.astimezone():%H:%M:%S}"
        return self._second_text

    def _news(self, line: Line) -> str:
        """The details, unless the function's last line had the same: five tries, one traceback."""
        if not line.details or self._level <= logging.DEBUG:
            return line.details
        before = self._last_details.get(line.function)
        self._last_details[line.function] = line.details
        return "" if line.details == before else line.details

    def _write(self, text: str) -> None:
        plain = self._colour or "\x1b" not in text
        self._stream.write((text if plain else click.unstyle(text)) + "\n")
        self._stream.flush()


def function_table(functions: Sequence[FunctionState]) -> list[str]:
    """Return the table of functions, header first; columns as wide as their texts."""
    rows = [("FUNCTION", "QUEUE", "CONNECTION", "STATE")]
    for each in functions:
        state = f"ready, {each.concurrency} at once" if each.state == "ready" else each.state
        rows.append(
            (each.name, each.queue, each.connection, state + (f": {each.why}" if each.why else ""))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        "  ".join([*(f"{row[i]:<{widths[i]}}" for i in range(3)), row[3]]).rstrip() for row in rows
    ]


def _with_extra(text: str, line: Line) -> str:
    """A user's line with its fields at the end of the first line, as `key=value`."""
    extra = line.fields.get("extra")
    if not isinstance(extra, Mapping):
        return text
    first, *rest = text.split("\n")
    pairs = (f"{_quoted(name)}={_quoted(value)}" for name, value in extra.items())
    return "\n".join([f"{first}  {' '.join(pairs)}", *rest])


def _harmless(text: str) -> str:
    """A line that changes nothing but itself: other control characters are shown escaped."""
    if text.isprintable():
        return text
    shown = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", _MOVES.sub("", text))
    return f"{shown}\x1b[0m" if "\x1b" in shown else shown


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = text.isprintable() and not any(c in text for c in ' ="')
    return text if plain and text else json.dumps(text, ensure_ascii=False)


def _styled(text: str, line: Line) -> str:
    if line.level >= logging.ERROR:
        return click.style(text, fg="red", bold=True)
    if line.level >= logging.WARNING:
        return click.style(text, fg="yellow", bold=True)
    if line.level <= logging.DEBUG:
        return click.style(text, dim=True)
    return click.style(text, fg="green") if line.tag == "ok" else text

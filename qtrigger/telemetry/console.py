"""Log lines for people: one aligned line for each event, in colour on a terminal.

Owns the layout of a line. What the lines say is decided elsewhere, and so are colours and what
is shown at the start.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import click

from qtrigger.events import (
    EmulatorReady,
    Event,
    FunctionState,
    HostReady,
    HostStarting,
    HostStopping,
    ProcessEnding,
    StartFailed,
    UserLog,
)
from qtrigger.telemetry.banner import emulator_lines, function_table, ready_lines, starting_lines
from qtrigger.telemetry.line import SHORT_ID, Line, TextStream, level_name
from qtrigger.telemetry.shown import is_wanted, shown_line
from qtrigger.telemetry.styles import CYAN, DIM, END, painted, style_of, style_of_level
from qtrigger.telemetry.tracebacks import coloured, own_frames
from qtrigger.telemetry.widths import cells, hanging, padded, shortened, wrapped

TAG_WIDTH: Final = 8
DETAILS_INDENT: Final = 10
LEAST_NAME: Final = 8
AS_BEFORE: Final = "as before"

# A message's text may stand in a line: colours pass, and what moves the cursor is taken out.
_MOVES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-ln-~]")
_CONTROLS = re.compile(r"(?!\t|\x1b\[[0-9;:]*m)[\x00-\x1f\x7f-\x9f]")


class ConsoleSink:
    """Writes events as text lines to a stream.

    `level` is the least level shown (numbers of `logging`); `colour` turns ANSI colours on.
    `width` tells the terminal's columns, None where no terminal is: lines are wrapped to it, and
    what to do next is said to the person there. `all_frames` shows whole tracebacks. `plain` takes
    secrets out of a text, before it is wrapped or cut.
    """

    def __init__(
        self,
        stream: TextStream,
        *,
        level: int,
        colour: bool,
        width: Callable[[], int] | None = None,
        all_frames: bool = False,
        plain: Callable[[str], str] = str,
    ) -> None:
        self._stream = stream
        self._plain = plain
        self._level = level
        self._colour = colour
        self._ask_width = width
        self._width = width() if width else None
        self._all_frames = all_frames
        self._name_width = LEAST_NAME
        self._names: dict[str, str] = {}
        self._tags: dict[tuple[str, int], str] = {}
        self._second, self._second_text = datetime.min.replace(tzinfo=UTC), ""
        self._last_details: dict[str, str] = {}
        self._folder = ""
        self._table: Sequence[FunctionState] = ()

    def emit(self, event: Event) -> None:
        """Write one event, unless its level is below the wanted one."""
        line = shown_line(event, self._level)
        if line is None:
            return
        line = self._without_secrets(line)
        match event:
            case HostStarting() | EmulatorReady() | HostReady():
                self._write("\n".join(self._banner(event)))
            case StartFailed() | ProcessEnding():
                pass  # told by the verb, and by the line of the host's stop
            case HostStopping(reason="SIGINT") if self._width is not None:
                # Over the ^C that the terminal has written there.
                self._write(f"\r{self._render(line, of_user=False)}")
            case _:
                self._write(self._render(line, of_user=isinstance(event, UserLog)))

    def _without_secrets(self, line: Line) -> Line:
        texts = (line.text, line.hint, line.details)
        text, hint, details = map(self._plain, texts)
        if (text, hint, details) == texts:
            return line
        return replace(line, text=text, hint=hint, details=details)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return is_wanted(kind, self._level)

    def _banner(self, event: HostStarting | EmulatorReady | HostReady) -> list[str]:
        self._time()  # and with it the width
        if isinstance(event, HostStarting):
            self._folder = event.folder
            return starting_lines(event, self._width)
        if isinstance(event, EmulatorReady):
            return emulator_lines(event, self._width)
        idle = ("disabled", "not run here")
        self._align([state.name for state in event.functions if state.state not in idle])
        table: list[str] = []
        if event.functions != self._table:
            table = [*([""] if self._width else []), *function_table(event.functions, self._width)]
        self._table = event.functions
        return [
            *table,
            *([] if self._width else [""]),
            *ready_lines(event, self._width, self._folder),
        ]

    def _align(self, names: Sequence[str]) -> None:
        longest = max([self._name_width, *map(cells, names)])
        self._name_width = min(longest, max(self._width // 6, 12)) if self._width else longest
        self._names.clear()

    def _render(self, line: Line, *, of_user: bool) -> str:
        columns = [self._time(), f"{'' if of_user else line.tag:<{TAG_WIDTH}}"]
        if line.function:
            columns.append(self._name(line.function))
        if line.message_id:
            columns.append(line.message_id[:SHORT_ID])
        text = line.text
        if of_user:
            text = _with_extra(f"{level_name(line.level)} {text}", line)
        first, *rest = text.splitlines() or [""]
        first = _harmless(first)
        details = [_harmless(each) for each in rest]
        if line.details:
            news = self._news(line)
            details += self._traceback(news) if news else [AS_BEFORE]
        below = [" " * DETAILS_INDENT + each for each in details]
        head = "  ".join([*columns, ""])
        if line.hint and self._width is None:
            first = f"{first}  hint: {_harmless(line.hint)}"
        if self._width is not None:
            first, more = self._fitted(line, head, first)
            below = more + below
        if self._colour:
            head, first = self._in_colour(line, columns, first, of_user=of_user)
        return "\n".join([head + first, *below]) if below else head + first

    def _fitted(self, line: Line, head: str, first: str) -> tuple[str, list[str]]:
        """The first line and those that it goes on in, with the hint, on a terminal."""
        assert self._width is not None
        more: list[str] = []
        at = cells(head)
        rest = hanging(at, self._width)
        if at + cells(first) > self._width:
            first, *more = wrapped(first, self._width, first=at, rest=rest)
        if line.hint:
            lines = wrapped(f"hint: {_harmless(line.hint)}", self._width, first=rest, rest=rest)
            if self._colour:
                lines[0] = lines[0].replace("hint:", painted("hint:", CYAN), 1)
            more += [" " * rest + lines[0], *lines[1:]]
        return first, more

    def _in_colour(
        self, line: Line, columns: list[str], first: str, *, of_user: bool
    ) -> tuple[str, str]:
        if of_user:
            level = level_name(line.level)
            first = painted(level, style_of_level(line.level) or CYAN) + first[len(level) :]
        else:
            columns[1] = self._tag(line)
        columns[0] = f"{DIM}{columns[0]}{END}"
        if line.message_id:
            columns[-1] = f"{DIM}{columns[-1]}{END}"
        return "  ".join([*columns, ""]), first

    def _tag(self, line: Line) -> str:
        """The tag in its colour; there are few, so that each is made once."""
        key = (line.tag, line.level)
        tag = self._tags.get(key)
        if tag is None:
            tag = painted(line.tag, style_of(line.tag, line.level))
            tag = self._tags[key] = tag + " " * (TAG_WIDTH - len(line.tag))
        return tag

    def _name(self, function: str) -> str:
        name = self._names.get(function)
        if name is None:
            name = function if self._width is None else shortened(function, self._name_width)
            name = self._names[function] = padded(name, self._name_width)
        return name

    def _time(self) -> str:
        """The time of day where we are, written anew once a second."""
        second = datetime.now(UTC).replace(microsecond=0)
        if second != self._second:
            self._second, self._second_text = second, f"{second.astimezone():%H:%M:%S}"
            if self._ask_width is not None:
                self._width = self._ask_width()
        return self._second_text

    def _news(self, line: Line) -> str:
        """The details, unless the function's last line had the same: five tries, one traceback."""
        if self._level <= logging.DEBUG:
            return line.details
        before = self._last_details.get(line.function)
        self._last_details[line.function] = line.details
        return "" if line.details == before else line.details

    def _traceback(self, text: str) -> list[str]:
        if not self._all_frames:
            text = own_frames(text)
        lines = [_harmless(each) for each in text.rstrip().splitlines()]
        return coloured(lines) if self._colour else lines

    def _write(self, text: str) -> None:
        plain = self._colour or "\x1b" not in text
        self._stream.write((text if plain else click.unstyle(text)) + "\n")
        self._stream.flush()


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

"""What is shown once, when a host comes up: the banner, the table of functions, what to try.

Owns its layout, in plain text or for a terminal of some width.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from qtrigger.events import EmulatorReady, FunctionState, HostReady, HostStarting
from qtrigger.telemetry.lifetime_lines import BETWEEN, emulator_text, starting_text
from qtrigger.telemetry.outcomes import duration_text
from qtrigger.telemetry.styles import ALARM, BOLD, DIM, END, GREEN, YELLOW, painted
from qtrigger.telemetry.widths import cells, cut, fitting, padded, shortened, wrapped

LABEL_WIDTH: Final = 9
# The columns before the state need at most what is left beside so much of it.
STATE_WIDTH: Final = 22
EXAMPLE: Final = "'hello'"
LEAVING: Final = "Ctrl-C drains, twice leaves at once"

_STYLES: Final = {"ready": GREEN, "paused": YELLOW, "failed": ALARM}


def starting_lines(event: HostStarting, width: int | None) -> list[str]:
    """Return the first lines: what runs, where the dashboard is, what a reload comes by."""
    lines = _split(starting_text(event), width)
    lines[0] = f"{BOLD}{lines[0]}{END}"
    lines += _labelled("dashboard", event.dashboard, width)
    return lines + _labelled("reload on", event.reload, width)


def emulator_lines(event: EmulatorReady, width: int | None) -> list[str]:
    """Return the lines that say which emulator is used."""
    return _labelled("emulator", emulator_text(event), width)


def function_table(functions: Sequence[FunctionState], width: int | None = None) -> list[str]:
    """Return the table of functions, header first; never wider than `width`."""
    rows = [("FUNCTION", "QUEUE", "CONNECTION", "STATE")]
    rows += [(each.name, each.queue, each.connection, _state(each)) for each in functions]
    widths = [max(cells(row[column]) for row in rows) for column in range(3)]
    if width is not None:
        state = min(STATE_WIDTH, max(cells(row[3]) for row in rows))
        widths = fitting(widths, width - state - 6)
    styles = [DIM, *(_STYLES.get(each.state, DIM) for each in functions)]
    return [_row(row, widths, width, style) for row, style in zip(rows, styles, strict=True)]


def ready_lines(event: HostReady, width: int | None, folder: str = "") -> list[str]:
    """Return the last lines of the start; on a terminal with what to do now.

    `folder` is where the project is, "" for here.
    """
    ready = [state for state in event.functions if state.state == "ready"]
    took = f"ready in {duration_text(event.after_s)}"
    if width is None:
        workers = f"{event.workers} worker{'' if event.workers == 1 else 's'}"
        count = f"{len(ready)} of {len(event.functions)} functions"
        return [f"{took}  {count}, {workers} on {event.interpreter}"]
    parts = [f"{took}."]
    if queue := next((state.queue for state in ready if state.queue), ""):
        project = f" --project {shlex.quote(folder)}" if folder else ""
        parts.append(f"Try:  qtrigger send {shlex.quote(queue)} {EXAMPLE}{project}")
    parts.append(LEAVING)
    lines = [""]
    for part in parts:
        joined = f"{lines[-1]}   {part}" if lines[-1] else part
        if cells(joined) > width and lines[-1]:
            lines.append(part)
        else:
            lines[-1] = joined
    return [lines[0].replace(parts[0], f"{BOLD}{parts[0]}{END}", 1), *lines[1:], ""]


def _state(each: FunctionState) -> str:
    state = f"ready, {each.concurrency} at once" if each.state == "ready" else each.state
    return state + (f": {each.why}" if each.why else "")


def _row(row: Sequence[str], widths: Sequence[int], width: int | None, style: str) -> str:
    names = [
        padded(shortened(cell, room), room) for cell, room in zip(row[:3], widths, strict=True)
    ]
    before = "  ".join([*names, ""])
    state = row[3] if width is None else cut(row[3], width - cells(before))
    head, colon, why = state.partition(":")
    if row[0] == "FUNCTION" and row[3] == "STATE":
        return painted(before + state, style)
    return f"{before}{painted(head, style)}{colon}{why}"


def _split(text: str, width: int | None) -> list[str]:
    """A text whose parts stay whole."""
    if width is None or cells(text) <= width:
        return [text]
    lines: list[str] = []
    for part in text.split(BETWEEN):
        if lines and cells(lines[-1]) + cells(part) + len(BETWEEN) <= width:
            lines[-1] += BETWEEN + part
        else:
            lines.append(part if not lines else f"  {part}")
    return lines


def _labelled(label: str, text: str, width: int | None) -> list[str]:
    if not text:
        return []
    at = LABEL_WIDTH + 2
    lines = [text] if width is None else wrapped(text, width, first=at, rest=at)
    return [f"{DIM}{label:<{LABEL_WIDTH}}{END}  {lines[0]}", *lines[1:]]

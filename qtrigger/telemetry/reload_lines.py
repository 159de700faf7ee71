"""How the events of reloads read as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from qtrigger.events import Reloaded, ReloadRejected, ReloadStarted, RequirementsChanged
from qtrigger.telemetry.line import Line, line_of
from qtrigger.telemetry.outcomes import duration_text

INFO, WARNING, ERROR = logging.INFO, logging.WARNING, logging.ERROR

# More names than that are a number.
NAMED = 3


@line_of.register
def _(event: ReloadStarted) -> Line:
    return Line(
        event="reload.started",
        level=logging.DEBUG,
        tag="reload",
        text=f"{_cause(event.files)}: the project is loaded anew",
        fields={"files": list(event.files)},
    )


@line_of.register
def _(event: Reloaded) -> Line:
    said = []
    if event.broken:
        is_are, it = ("is", "it is") if len(event.broken) == 1 else ("are", "they are")
        said.append(f"{_names(event.broken)} cannot run and {is_are} not polled until {it} mended")
    if event.removed:
        said.append(f"{_names(event.removed)} removed")
    if event.live:
        said.append(f"{_names(event.live)} live again in {duration_text(event.took_s)}")
    elif not event.ready:
        said.append("no function runs now")
    if not said:
        said.append(f"done in {duration_text(event.took_s)}")
    return Line(
        event="reload.done",
        level=WARNING if event.broken else INFO,
        tag="reload",
        text=f"{_cause(event.files)}: {'; '.join(said)}{_before(event.running_before)}",
        fields={
            "files": list(event.files),
            "added": list(event.added),
            "removed": list(event.removed),
            "changed": list(event.changed),
            "broken": list(event.broken),
            "mended": list(event.mended),
            "took_s": round(event.took_s, 3),
            "running_before": event.running_before,
        },
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
def _(event: RequirementsChanged) -> Line:
    return Line(
        event="reload.requirements",
        level=WARNING,
        tag="reload",
        text=f"{event.file} changed: install it with {event.interpreter} -m pip install -r "
        f"{event.file}, then: qtrigger reload",
    )


def _cause(files: Sequence[str]) -> str:
    if not files:
        return "asked for"
    return f"{files[0]} saved" if len(files) == 1 else f"{len(files)} files saved"


def _names(functions: Sequence[str]) -> str:
    return ", ".join(functions) if len(functions) <= NAMED else f"{len(functions)} functions"


def _before(running: int) -> str:
    if not running:
        return ""
    return f" ({running} message{' finishes' if running == 1 else 's finish'} on the old code)"

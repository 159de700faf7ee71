"""How the beginning and the end of a process read as log lines, and the words for its counts.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from qtrigger.events import EmulatorReady, Heartbeat, HostStarting, ProcessEnding, StartFailed
from qtrigger.telemetry.line import Line, line_of
from qtrigger.telemetry.outcomes import duration_text

INTERRUPT: Final = "SIGINT"
BETWEEN: Final = " · "

# See `Tally`. What is not here is counted under its own name.
_COUNTED: Final = {
    "succeeded": "ok",
    "failed_tries": "failed",
    "handed_back": "handed back",
}
# Counts that are told only where there are any.
_RARE: Final = frozenset({"undecodable"})


@line_of.register
def _(event: HostStarting) -> Line:
    fields = {name: getattr(event, name) for name in HostStarting.__slots__}
    return Line(
        event="host.starting",
        level=logging.INFO,
        tag="starting",
        text=starting_text(event),
        fields=fields,
    )


@line_of.register
def _(event: EmulatorReady) -> Line:
    return Line(
        event="emulator.ready",
        level=logging.INFO,
        tag="emulator",
        text=emulator_text(event),
        fields={"port": event.port, "started": event.started},
    )


@line_of.register
def _(event: StartFailed) -> Line:
    return Line(
        event="start.failed",
        level=logging.ERROR,
        tag="error",
        text=event.message,
        fields={"exit_code": event.exit_code},
    )


@line_of.register
def _(event: ProcessEnding) -> Line:
    return Line(
        event="summary",
        level=logging.INFO,
        tag="summary",
        text=f"{reason_text(event.reason)}: {counts_text(event.counts)}, exit code "
        f"{event.exit_code}",
        fields={
            "reason": event.reason,
            "exit_code": event.exit_code,
            "after_s": round(event.after_s, 3),
            **event.counts,
        },
    )


@line_of.register
def _(event: Heartbeat) -> Line:
    return Line(
        event="host.heartbeat",
        level=logging.DEBUG,
        tag="alive",
        text=f"{counts_text(event.counts)}{BETWEEN}up {duration_text(event.after_s)}",
        fields={"after_s": round(event.after_s, 3), **event.counts},
    )


def starting_text(event: HostStarting) -> str:
    """Return the first line of all: what runs what, where and how."""
    workers = f"{event.workers} worker{'' if event.workers == 1 else 's'}"
    parts = [f"qtrigger {event.version}", event.project, event.environment, event.python]
    return BETWEEN.join([*parts, workers, event.loop])


def emulator_text(event: EmulatorReady) -> str:
    """Return which emulator it is, and whether it ends with the host."""
    return f"{event.description}{' (ends with this host)' if event.started else ''}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Return the counts in words: `1,204 ok · 3 failed · 1 poisoned · 0 handed back`."""
    return BETWEEN.join(
        f"{count:,} {_COUNTED.get(name, name.replace('_', ' '))}"
        for name, count in counts.items()
        if count or name not in _RARE
    )


def reason_text(reason: str) -> str:
    """Return the words for why a process ends."""
    return "Ctrl-C" if reason == INTERRUPT else reason

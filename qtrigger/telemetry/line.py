"""A log line as a value, and the dispatch from events to lines.

Knows no event and no renderer: `lines` and `message_lines` register how each event reads.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Protocol

from qtrigger.events import (
    Event,
    InvocationFinished,
    InvocationStarted,
    LeaseRenewed,
    PollFinished,
    UserLog,
)
from qtrigger.invocation import Succeeded

# The kinds of a busy host's every message and poll whose lines are of level debug.
MINUTE = frozenset({InvocationStarted, LeaseRenewed, PollFinished})


class TextStream(Protocol):
    """What a renderer writes to."""

    def write(self, text: str, /) -> int:
        """Take a text."""

    def flush(self) -> None:
        """See that it is on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One log line. `tag` is its short mark on a terminal, `details` are lines under it."""

    event: str
    level: int
    text: str
    tag: str = ""
    function: str = ""
    message_id: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    details: str = ""


@singledispatch
def line_of(event: Event) -> Line:
    """Return the line of an event. Raises TypeError for a value that is no event."""
    raise TypeError(f"no line for {type(event).__name__}")


def is_shown(event: Event, line: Line, least: int) -> bool:
    """Whether a line is to be shown where `least` is the least level wanted.

    Of user code only the lines that it was asked for come here: its debug lines, which take
    PYTHON_ENABLE_DEBUG_LOGGING, are shown beside the host's lines from info up.
    """
    if isinstance(event, UserLog) and least <= logging.INFO:
        return True
    return line.level >= least


def is_wanted(kind: type[Event], least: int) -> bool:
    """Whether lines of that kind can ever be shown where `least` is the least level wanted."""
    return least <= logging.DEBUG or kind not in MINUTE


def is_plain_success(event: Event) -> bool:
    """Whether it is the commonest event of all, whose line is of level info.

    So that where no such line is shown, none is made.
    """
    return isinstance(event, InvocationFinished) and isinstance(event.outcome, Succeeded)


def level_name(level: int) -> str:
    """Return the standard level that a number belongs to, as `logging` writes it."""
    if level >= logging.CRITICAL:
        return "CRITICAL"
    names = ("ERROR", "WARNING", "INFO")
    return next((name for name in names if level >= getattr(logging, name)), "DEBUG")


def sentence(text: str) -> str:
    """End a text with a full stop, unless it ends a sentence by itself."""
    return text if text.endswith((".", "!", "?")) else f"{text}."

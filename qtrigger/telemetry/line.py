"""A log line as a value, and the dispatch from events to lines.

Knows no event and no renderer: `lines` and `message_lines` register how each event reads.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Final, Protocol

from qtrigger.events import Event

# So much of a message's id is shown to people, and taken by the verbs.
SHORT_ID: Final = 8


class TextStream(Protocol):
    """What a renderer writes to."""

    def write(self, text: str, /) -> int:
        """Take a text."""

    def flush(self) -> None:
        """See that it is on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One log line. `tag` is its short mark on a terminal, `details` are lines under it.

    `hint` says what to do; on a terminal it has a line of its own.
    """

    event: str
    level: int
    text: str
    tag: str = ""
    function: str = ""
    message_id: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    details: str = ""
    hint: str = ""


@singledispatch
def line_of(event: Event) -> Line:
    """Return the line of an event. Raises TypeError for a value that is no event."""
    raise TypeError(f"no line for {type(event).__name__}")


def level_name(level: int) -> str:
    """Return the standard level that a number belongs to, as `logging` writes it."""
    if level >= logging.CRITICAL:
        return "CRITICAL"
    names = ("ERROR", "WARNING", "INFO")
    return next((name for name in names if level >= getattr(logging, name)), "DEBUG")


def sentence(text: str) -> str:
    """End a text with a full stop, unless it ends a sentence by itself."""
    return text if text.endswith((".", "!", "?")) else f"{text}."

"""Durations as a schema bounds them.

Owns what a value means where the schema says `x-timespan`: its unit when it is a bare number, its
bounds, and the spelling that stands for "without end". Knows no file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from qtrigger.project import timespan
from qtrigger.project.findings import shown
from qtrigger.project.schemas import Node

# How people write a duration elsewhere, to say how it is written here.
_ELSEWHERE: Final = re.compile(r"(?P<number>\d{1,6}) ?(?P<unit>[smhd])(ec|in)?", re.IGNORECASE)
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A duration in seconds, None for "without end"; `warning` and `hint` as in `TimeSpan`."""

    seconds: float | None
    warning: str = ""
    hint: str = ""


class DurationError(Exception):
    """The value is no duration, or out of bounds. The message completes "<name> …"."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def read(value: Any, node: Node) -> Duration:
    """The duration that a text or number of the file means. Raises DurationError."""
    if isinstance(value, str):
        duration = _from_text(value, node)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        duration = _from_number(value, node)
    else:
        raise DurationError(f"must be {expected(node)}, not {shown(value)}")
    _check_bounds(duration, value, node)
    return duration


def expected(node: Node) -> str:
    """What the schema wants, in words."""
    text = 'a duration such as "00:00:30"'
    if "x-minimum" in node and "x-maximum" in node:
        text += f' from "{node["x-minimum"]}" to "{node["x-maximum"]}"'
    elif "x-minimum" in node:
        text += f' of at least "{node["x-minimum"]}"'
    return f'{text}, or "-1" for no limit' if "x-never" in node else text


def _from_text(text: str, node: Node) -> Duration:
    try:
        found = timespan.parse(text)
        if "x-never" in node and found.seconds == timespan.parse(node["x-never"]).seconds:
            return Duration(seconds=None)
    except timespan.TimeSpanError as error:
        raise DurationError(f"{shown(text)} {error}", _spelled(text, node)) from None
    return Duration(seconds=found.seconds, warning=found.warning, hint=found.hint)


def _spelled(text: str, node: Node) -> str:
    if found := _ELSEWHERE.fullmatch(text.strip()):
        seconds = int(found["number"]) * _UNITS_S[found["unit"].casefold()]
        return f'write "{timespan.spell(seconds)}"'
    return 'write "-1" for no limit' if "x-never" in node else ""


def _from_number(number: float, node: Node) -> Duration:
    if abs(number) > 10**15 or number != number:  # noqa: PLR0124 - only NaN differs from itself
        raise DurationError(f"must be {expected(node)}")
    if node.get("x-number") == "milliseconds":
        spelled = timespan.spell(number / 1000)
        return Duration(
            seconds=number / 1000,
            warning=f"is a bare number; taken as {number} milliseconds, "
            "where Azure reads it as days",
            hint=f'write "{spelled}"',
        )
    raise DurationError(
        f"must be {expected(node)}, not the number {number}",
        f'write "{timespan.spell(number)}" if seconds are meant',
    )


def _check_bounds(duration: Duration, value: Any, node: Node) -> None:
    if duration.seconds is None:
        return
    least = timespan.parse(node["x-minimum"]).seconds if "x-minimum" in node else None
    most = timespan.parse(node["x-maximum"]).seconds if "x-maximum" in node else None
    if (least is not None and duration.seconds < least) or (
        most is not None and duration.seconds > most
    ):
        raise DurationError(f"must be {expected(node)}, not {shown(value)}", duration.hint)

"""Durations as .NET writes them: `[-][d.]hh:mm[:ss[.fffffff]]`, or one integer of days.

Owns the reading of such texts and the warnings about its traps. Knows no file and no setting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SHAPE: Final = re.compile(
    r"""(?P<sign>-)?
    (?: (?P<only>\d{1,8})
      | (?: (?P<days>\d{1,8}) (?: \. | :(?=\d{1,2}:\d{1,2}:) ) )?
        (?P<hours>\d{1,8}):(?P<minutes>\d{1,2})
        (?: :(?P<seconds>\d{1,2}) (?:\.(?P<fraction>\d{1,7}))? )?
    )""",
    re.VERBOSE | re.ASCII,
)
_MOST_DAYS: Final = 10_675_199  # what .NET's 64-bit count of ticks can hold
_DAY_S: Final = 86_400


class TimeSpanError(Exception):
    """The text is no duration; the message shows the right spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """A duration in seconds (negative too); `warning` and `hint` when it may not be meant so."""

    seconds: float
    warning: str = ""
    hint: str = ""


def parse(text: str) -> TimeSpan:
    """Read a text as .NET does. Raises TimeSpanError."""
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise TimeSpanError("is no duration; it is written hh:mm:ss or d.hh:mm:ss")
    sign = -1 if found["sign"] else 1
    if found["only"]:
        return _days(sign * int(found["only"]))
    days, hours, minutes, seconds = (
        int(found[part] or 0) for part in ("days", "hours", "minutes", "seconds")
    )
    warning = hint = ""
    if hours > 23 and found["days"] is None and found["seconds"] and not found["fraction"]:
        # Hours do not go that far, so .NET takes the three numbers as days, hours and minutes.
        warning = f'"{text.strip()}" means {hours} days, since hours end at 23'
        hint = _spell_hours(hours, minutes, seconds)
        days, hours, minutes, seconds = hours, minutes, seconds, 0
    if hours > 23 or minutes > 59 or seconds > 59 or days > _MOST_DAYS:
        raise TimeSpanError("is no duration; hours end at 23, minutes and seconds at 59")
    total = days * _DAY_S + hours * 3600 + minutes * 60 + seconds
    return TimeSpan(
        seconds=sign * (total + float(f"0.{found['fraction'] or 0}")), warning=warning, hint=hint
    )


def spell(seconds: float) -> str:
    """The shortest full spelling: `00:00:30`, `1.00:00:00`, `00:00:00.1`."""
    sign = "-" if seconds < 0 else ""
    ticks = round(abs(seconds) * 10_000_000)
    whole, fraction = divmod(ticks, 10_000_000)
    days, rest = divmod(whole, _DAY_S)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    tail = f".{fraction:07}".rstrip("0") if fraction else ""
    return f"{sign}{f'{days}.' if days else ''}{clock}{tail}"


def _days(days: int) -> TimeSpan:
    if abs(days) > _MOST_DAYS:
        raise TimeSpanError("is no duration; a bare number means days, and these are too many")
    if days == 0:
        return TimeSpan(seconds=0.0)
    return TimeSpan(
        seconds=float(days * _DAY_S),
        warning=f'"{days}" counts days, as every bare number does, and not seconds',
        hint=f'write "{spell(days)}" if seconds are meant, "{spell(days * _DAY_S)}" if days are',
    )


def _spell_hours(hours: int, minutes: int, seconds: int) -> str:
    meant = spell(hours * 3600 + minutes * 60 + seconds)
    return f'write "{meant}" if {hours} hours are meant'

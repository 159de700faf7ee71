"""Dates and times in the format letters of .NET, for `{DateTime:…}`.

Owns the letters that queue names are made of in practice, in the invariant culture. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

DEFAULT: Final = "yyyy-MM-ddTHH-mm-ssK"

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STANDARD: Final = {
    "d": "MM/dd/yyyy",
    "D": "dddd, dd MMMM yyyy",
    "t": "HH:mm",
    "T": "HH:mm:ss",
    "g": "MM/dd/yyyy HH:mm",
    "G": "MM/dd/yyyy HH:mm:ss",
    "M": "MMMM dd",
    "Y": "yyyy MMMM",
    "o": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "O": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "r": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "R": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "u": "yyyy-MM-dd HH:mm:ss'Z'",
}
_PIECE: Final = re.compile(
    r"""'(?P<single>[^']*)' | "(?P<double>[^"]*)" | \\(?P<escaped>.) | %(?P<alone>[A-Za-z])
      | (?P<letters>([A-Za-z])\6*) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def format_date(value: datetime, form: str) -> str:
    """The date as text; an empty format means the one that names of blobs and queues get.

    Raises ValueError for a format of one letter that is not known.
    """
    form = form or DEFAULT
    if len(form) == 1 and form.isalpha():
        if form not in _STANDARD:
            raise ValueError(f'"{form}" is no date format')
        form = _STANDARD[form]
    return _PIECE.sub(lambda found: _piece(found, value), form)


def _piece(found: re.Match[str], value: datetime) -> str:
    for literal in ("single", "double", "escaped", "other"):
        if found[literal] is not None:
            return found[literal]
    letters = found["letters"] or found["alone"]
    write = _LETTERS.get(letters[0])
    return write(value, len(letters)) if write else letters


def _number(value: int, count: int) -> str:
    return str(value).zfill(min(count, 2))


def _year(value: datetime, count: int) -> str:
    return str(value.year).zfill(count) if count > 2 else _number(value.year % 100, count)


def _month(value: datetime, count: int) -> str:
    name = _MONTHS[value.month - 1]
    return _number(value.month, count) if count < 3 else name[:3] if count == 3 else name


def _day(value: datetime, count: int) -> str:
    name = _DAYS[value.weekday()]
    return _number(value.day, count) if count < 3 else name[:3] if count == 3 else name


def _fraction(value: datetime, count: int) -> str:
    return f"{value.microsecond:06}0"[:count]


def _half(value: datetime, count: int) -> str:
    return ("AM" if value.hour < 12 else "PM")[:count]


def _offset(value: datetime, count: int) -> str:
    minutes = int((value.utcoffset() or timedelta()).total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    text = f"{'-' if minutes < 0 else '+'}{_number(hours, count)}"
    return text if count < 3 else f"{text}:{rest:02}"


def _zone(value: datetime, count: int) -> str:
    text = "Z" if not value.utcoffset() else _offset(value, 3)
    return text * count


_LETTERS: Final[dict[str, Callable[[datetime, int], str]]] = {
    "y": _year,
    "M": _month,
    "d": _day,
    "H": lambda value, count: _number(value.hour, count),
    "h": lambda value, count: _number(value.hour % 12 or 12, count),
    "m": lambda value, count: _number(value.minute, count),
    "s": lambda value, count: _number(value.second, count),
    "f": _fraction,
    "F": lambda value, count: _fraction(value, count).rstrip("0"),
    "t": _half,
    "z": _offset,
    "K": _zone,
}

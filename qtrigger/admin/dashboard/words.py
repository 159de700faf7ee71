"""How figures are spelled on the pages: short, and the same wherever they stand.

Owns the spellings alone; what is not known is a dash.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

NOT_KNOWN: Final = "\N{EN DASH}"


def number(value: float | None) -> str:
    """A count: `1,204`, and from a hundred thousand on `123k`, `4.5M`."""
    if value is None:
        return NOT_KNOWN
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if value >= size:
            scaled = value / (1e3 if unit == "k" else size)
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.3g}{unit}"
    return f"{value:,.0f}"


def rate(per_second: float) -> str:
    """How many a second: `0.02/s`, `12.3/s`, `1,940/s`."""
    if per_second <= 0:
        return "0/s"
    if per_second < 0.01:
        return f"{per_second * 3600:.2g}/h"
    if per_second < 10:
        return f"{per_second:.2g}/s"
    return f"{per_second:,.0f}/s"


def duration(seconds: float | None) -> str:
    """How long a run took: `42 ms`, `1.5 s`, `2 min 5 s`."""
    if seconds is None:
        return NOT_KNOWN
    if seconds < 0.00995:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.3g} s" if seconds < 60 else age(seconds)


def age(seconds: float | None) -> str:
    """How long ago, to a tenth or so: `8 s`, `3 min 5 s`, `20 min`, `2 h 10 min`, `4 d 3 h`."""
    if seconds is None:
        return NOT_KNOWN
    whole = max(int(seconds), 0)
    if whole == 0:
        return "<1 s"
    for size, unit, part, smaller in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (
                f" {rest} {smaller}" if rest and whole // size < 10 else ""
            )
    return f"{whole} s"


def amount(cost: float, currency: str) -> str:
    """What something costs: with two decimals, or as many as show something of it."""
    return f"{cost:,.2f} {currency}" if cost >= 0.01 or not cost else f"{cost:.2g} {currency}"


def size(count: float | None) -> str:
    """A size in bytes: `512 B`, `1.4 kB`, `48 MB`."""
    if count is None:
        return NOT_KNOWN
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 100 or unit == "B" else f"{count:.2g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def time_of_day(moment: datetime) -> str:
    """A moment in UTC, to the millisecond."""
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 function`, `3 functions`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

"""A length of time on the command line.

Owns its spellings: people write 10m where a file has 00:10:00, and both are taken.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

import click

_SHAPE: Final = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)\s*(?P<unit>[smhd]?)", re.ASCII)
_UNITS_S: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_MOST: Final = timedelta(days=3650)


class Span(click.ParamType[timedelta]):
    """A length of time over 0, up to ten years: 90, 90s, 10m, 2h, 1d or hh:mm:ss."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """See click; a number without a unit counts seconds."""
        span = _read(str(value).strip().lower())
        if span is None:
            self.fail(
                f"{value!r} is no length of time; write 90s, 10m, 2h, 1d or hh:mm:ss", param, ctx
            )
        if not timedelta(0) < span <= _MOST:
            self.fail(f"{value!r} is not over 0 and up to ten years", param, ctx)
        return span


def _read(text: str) -> timedelta | None:
    found = _SHAPE.fullmatch(text)
    if found is not None:
        return timedelta(seconds=float(found["number"]) * _UNITS_S[found["unit"]])
    from qtrigger.project.timespan import TimeSpanError, parse

    try:
        return timedelta(seconds=parse(text).seconds)
    except TimeSpanError:
        return None

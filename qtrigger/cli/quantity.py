"""A rate on the command line: `50`, `50/s`, `300/m`.

Owns its spellings.
"""

from __future__ import annotations

import re
from typing import Any, Final

import click

_SHAPE: Final = re.compile(r"(?P<number>\d{1,7}(?:\.\d{1,3})?)(?:/(?P<unit>[smh]))?", re.ASCII)
_UNITS_S: Final = {None: 1, "s": 1, "m": 60, "h": 3600}


class Rate(click.ParamType[float]):
    """So many a second; over 0."""

    name = "rate"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See click; a number without a unit counts in a second."""
        found = _SHAPE.fullmatch(str(value).strip().lower())
        rate = 0.0 if found is None else float(found["number"]) / _UNITS_S[found["unit"]]
        if not rate:
            self.fail(f"{value!r} is no rate; write 50/s, 300/m or 1000/h", param, ctx)
        return rate


RATE: Final = Rate()

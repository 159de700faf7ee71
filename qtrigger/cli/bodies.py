"""How bodies and ages fit into a line of a listing."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime, timedelta
from typing import Final

from qtrigger.poison.body import BASE64, TEXT, UNDECODED, Body, body_of

__all__ = ["BASE64", "TEXT", "UNDECODED", "Body", "age", "body_of", "since", "width_left"]

SHORT_ID: Final = 8
# Where no terminal says how wide a line is.
WIDTH: Final = 100
LEAST_WIDTH: Final = 24


def width_left(used: int) -> int:
    """How many characters of a line are left for a body, on a terminal or elsewhere."""
    columns = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    return max(columns - used, LEAST_WIDTH)


def age(span: timedelta) -> str:
    """A length of time in the two units that matter: `42 s`, `3 min 20 s`, `5 d 2 h`."""
    seconds = max(int(span.total_seconds()), 0)
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    for index, (unit, length) in enumerate(units):
        if seconds >= length and unit != "s":
            smaller, smaller_length = units[index + 1]
            rest = seconds % length // smaller_length
            return f"{seconds // length} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"


def since(moment: datetime, now: datetime) -> str:
    """How long ago that was."""
    return age(now - moment)

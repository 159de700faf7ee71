"""Delays and times to live, as user code gives them.

Owns what they may be: what the service takes, so that a wrong one is the run's failure, with a text
that says which, and never a surprise in the host.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

LONGEST_DELAY_S = 7 * 24 * 3600.0
FOR_EVER = -1.0


class TimeRefused(Exception):
    """A value is no delay, or no time to live; the text completes "it has"."""


def delay(value: Any) -> float | None:
    """Seconds from 0 to 7 days, None for None. Raises TimeRefused."""
    seconds = _seconds(value, "delay")
    if seconds is not None and not 0.0 <= seconds <= LONGEST_DELAY_S:
        raise TimeRefused(f"a delay of {seconds:g} s, which is not from 0 to 7 days")
    return seconds


def time_to_live(value: Any) -> float | None:
    """Seconds, at least 1, or -1 for ever; None for None. Raises TimeRefused."""
    seconds = _seconds(value, "time to live")
    if seconds is None or seconds == FOR_EVER or (seconds >= 1.0 and math.isfinite(seconds)):
        return seconds
    raise TimeRefused(
        f"a time to live of {seconds:g} s, which is neither at least 1 nor -1 (for ever)"
    )


def _seconds(value: Any, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    raise TimeRefused(
        f"a {what} of type {type(value).__name__}, which is neither a number of seconds nor a "
        "timedelta"
    )

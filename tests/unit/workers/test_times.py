"""Which delays and times to live are taken from user code."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from qtrigger.workers.python.times import TimeRefused, delay, time_to_live

WEEK_S = 7 * 86400


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, None), (0, 0.0), (1.5, 1.5), (WEEK_S, WEEK_S), (timedelta(minutes=2), 120.0)],
)
def test_a_delay_is_from_0_to_7_days(value: Any, seconds: float | None) -> None:
    assert delay(value) == seconds


@pytest.mark.parametrize(
    "value", [-1, -0.1, WEEK_S + 1, math.inf, -math.inf, math.nan, 10**400, timedelta(days=-1)]
)
def test_any_other_delay_is_refused(value: Any) -> None:
    with pytest.raises(TimeRefused, match=r"a delay of .* s, which is not from 0 to 7 days"):
        delay(value)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, None), (-1, -1.0), (1, 1.0), (timedelta(days=30), 30 * 86400.0)],
)
def test_a_time_to_live_is_at_least_a_second_or_for_ever(value: Any, seconds: float | None) -> None:
    assert time_to_live(value) == seconds


@pytest.mark.parametrize("value", [0, 0.5, -2, math.inf, math.nan, 10**400])
def test_any_other_time_to_live_is_refused(value: Any) -> None:
    with pytest.raises(TimeRefused, match=r"a time to live of .* s, which is neither"):
        time_to_live(value)


@pytest.mark.parametrize("value", ["1", True, object()])
def test_a_time_is_a_number_of_seconds_or_a_timedelta(value: Any) -> None:
    for read in (delay, time_to_live):
        with pytest.raises(TimeRefused, match="neither a number of seconds nor a timedelta"):
            read(value)

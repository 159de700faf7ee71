"""Durations mean what they mean to .NET, and its traps get a warning."""

from __future__ import annotations

import pytest

from qtrigger.project import timespan

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:02", 2),
        ("23:59:59", DAY - 1),
        ("00:00:00.1", 0.1),
        ("00:00:00.1234567", 0.1234567),
        ("0:5", 300),
        ("1:2:3", 3723),
        (" 00:01:00 ", 60),
        ("1.00:00:00", DAY),
        ("1.02:03", DAY + 7380),
        ("1:02:03:04", DAY + 7384),
        ("7.00:00:00", 7 * DAY),
        ("-00:00:05", -5),
        ("-1.00:00:00", -DAY),
        ("0", 0),
    ],
)
def test_a_plain_duration_is_read_without_a_word(text: str, seconds: float) -> None:
    found = timespan.parse(text)

    assert found.seconds == pytest.approx(seconds)
    assert found.warning == ""


@pytest.mark.parametrize(
    ("text", "days", "hint"),
    [
        ("30", 30, '"00:00:30" if seconds are meant, "30.00:00:00" if days are'),
        ("5000", 5000, '"01:23:20" if seconds'),
        ("-1", -1, '"-00:00:01" if seconds'),
        ("24:00:00", 24, '"1.00:00:00" if 24 hours are meant'),
        ("25:00:00", 25, '"1.01:00:00" if 25 hours are meant'),
    ],
)
def test_a_duration_that_means_days_says_so(text: str, days: int, hint: str) -> None:
    found = timespan.parse(text)

    assert found.seconds == days * DAY
    assert "days" in found.warning
    assert hint in found.hint


@pytest.mark.parametrize(
    "text",
    [
        *("", "5m", "1.5", "00:60:00", "00:00:60", "24:00", "1.24:00:00", "25:30:10"),
        *("00:00:00.12345678", "1:2:3:4:5", "::", "Unlimited", "99999999", "1 00:00:00", "٣"),
    ],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(timespan.TimeSpanError):
        timespan.parse(text)


@pytest.mark.parametrize(
    "text", ["00:00:30", "1.00:00:00", "00:00:00.1", "-00:00:05", "24.01:02:03.0000001"]
)
def test_spelling_is_the_reverse_of_reading(text: str) -> None:
    assert timespan.spell(timespan.parse(text).seconds) == text

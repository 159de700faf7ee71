"""Dates are written by the format letters of .NET."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from qtrigger.project.dotnet_dates import format_date

WHEN = datetime(2026, 3, 4, 5, 6, 7, 80900, tzinfo=UTC)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("", "2026-03-04T05-06-07Z"),
        ("yyyy-MM-dd", "2026-03-04"),
        ("y yy yyy yyyyy", "26 26 2026 02026"),
        ("M MM MMM MMMM", "3 03 Mar March"),
        ("d dd ddd dddd", "4 04 Wed Wednesday"),
        ("H HH h hh", "5 05 5 05"),
        ("m mm s ss", "6 06 7 07"),
        ("f ff fff fffffff", "0 08 080 0809000"),
        ("ss.FFF", "07.08"),
        ("t tt", "A AM"),
        ("K z zz zzz", "Z +0 +00 +00:00"),
        ("'at' yyyy\\y \"dd\"", "at 2026y dd"),
        ("%d", "4"),
        ("s", "2026-03-04T05:06:07"),
        ("u", "2026-03-04 05:06:07Z"),
        ("R", "Wed, 04 Mar 2026 05:06:07 GMT"),
        ("o", "2026-03-04T05:06:07.0809000Z"),
        ("yyyy_week", "2026_week"),
    ],
)
def test_letters_stand_for_parts_and_the_rest_for_itself(form: str, text: str) -> None:
    assert format_date(WHEN, form) == text


def test_noon_is_twelve_in_the_afternoon() -> None:
    assert format_date(WHEN.replace(hour=12), "h tt") == "12 PM"
    assert format_date(WHEN.replace(hour=0), "h tt") == "12 AM"


def test_another_zone_shows_its_offset() -> None:
    assert format_date(WHEN.astimezone(timezone(timedelta(hours=-3.5))), "%K") == "-03:30"


def test_a_single_letter_that_is_no_format_is_refused() -> None:
    with pytest.raises(ValueError, match='"q" is no date format'):
        format_date(WHEN, "q")

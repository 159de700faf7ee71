from __future__ import annotations

import pytest

from qtrigger.admin.dashboard import words


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1204, "1,204"),
        (99_999, "99,999"),
        (123_456, "123k"),
        (4_512_000, "4.51M"),
        (123_400_000, "123M"),
        (2.5e9, "2.5G"),
        (None, words.NOT_KNOWN),
    ],
)
def test_numbers(value: float | None, said: str) -> None:
    assert words.number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "0/s"), (0.001, "3.6/h"), (0.25, "0.25/s"), (4.13, "4.1/s"), (1940.4, "1,940/s")],
)
def test_rates(value: float, said: str) -> None:
    assert words.rate(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0004, "0.4 ms"), (0.042, "42 ms"), (0.9994, "999 ms"), (1.5, "1.5 s"), (125, "2 min 5 s")],
)
def test_durations(value: float, said: str) -> None:
    assert words.duration(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "<1 s"),
        (0.4, "<1 s"),
        (8.9, "8 s"),
        (185, "3 min 5 s"),
        (1210, "20 min"),
        (7800, "2 h 10 min"),
        (45_000, "12 h"),
        (356_400, "4 d 3 h"),
        (3600, "1 h"),
    ],
)
def test_ages(value: float, said: str) -> None:
    assert words.age(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0 B"), (512, "512 B"), (1400, "1.4 kB"), (48_000_000, "48 MB"), (3.2e9, "3.2 GB")],
)
def test_sizes(value: float, said: str) -> None:
    assert words.size(value) == said


def test_amounts() -> None:
    assert words.amount(1234.5, "EUR") == "1,234.50 EUR"
    assert words.amount(0.0042, "EUR") == "0.0042 EUR"
    assert words.amount(0.0, "EUR") == "0.00 EUR"

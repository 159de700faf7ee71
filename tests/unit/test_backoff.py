"""The waits between polls, renewals and tries, to the number."""

from __future__ import annotations

import math
from itertools import islice
from random import Random

import pytest

from qtrigger.backoff import PollBackoff, RenewalPacing, doubling


class Steady(Random):
    """Draws the middle of every range, so that the nominal waits show."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


def waits(backoff: PollBackoff, count: int) -> list[float]:
    return [backoff.next(found=False) for _ in range(count)]


def test_nominal_waits_of_an_empty_queue() -> None:
    backoff = PollBackoff(60.0, Steady())

    assert waits(backoff, 13) == pytest.approx(
        [0.1, 0.2, 0.3, 0.5, 0.9, 1.7, 3.3, 6.5, 12.9, 25.7, 51.3, 60.0, 60.0]
    )


@pytest.mark.parametrize("seed", range(50))
def test_the_random_part_touches_the_growth_alone(seed: int) -> None:
    backoff = PollBackoff(60.0, Random(seed))

    first, *growing = waits(backoff, 10)

    assert first == 0.1
    for exponent, wait in enumerate(growing):
        assert 0.1 + 0.1 * 2**exponent * 0.8 <= wait <= 0.1 + 0.1 * 2**exponent * 1.2


def test_the_first_empty_poll_after_a_find_waits_the_minimum_and_the_next_grows() -> None:
    backoff = PollBackoff(60.0, Steady())
    waits(backoff, 6)

    assert backoff.next(found=True) == 0.1
    assert backoff.next(found=False) == pytest.approx(0.2)


def test_at_the_maximum_it_stays_until_something_is_found() -> None:
    backoff = PollBackoff(2.0, Random(1))
    waits(backoff, 8)

    assert waits(backoff, 100) == [2.0] * 100
    assert backoff.next(found=True) == 0.1


def test_in_development_the_cap_of_two_seconds_comes_with_the_sixth_or_seventh_poll() -> None:
    for seed in range(50):
        found = waits(PollBackoff(2.0, Random(seed)), 7)

        assert found[6] == 2.0
        assert found[4] < 2.0


def test_a_maximum_of_the_minimum_never_grows() -> None:
    assert waits(PollBackoff(0.1, Random(1)), 5) == [0.1] * 5


def test_giving_up_goes_to_the_maximum_at_once_and_a_find_ends_it() -> None:
    backoff = PollBackoff(60.0, Random(1))

    assert backoff.give_up() == 60.0
    assert backoff.next(found=False) == 60.0
    assert backoff.next(found=True) == 0.1


def test_a_lease_is_renewed_at_half_and_sooner_after_each_failure() -> None:
    pacing = RenewalPacing(600.0)

    assert pacing.next(renewed=True) == 300.0
    assert [pacing.next(renewed=False) for _ in range(4)] == [150.0, 75.0, 60.0, 60.0]
    assert pacing.next(renewed=True) == 300.0


def test_a_shorter_lease_keeps_the_proportions() -> None:
    pacing = RenewalPacing(10.0)

    assert pacing.next(renewed=True) == 5.0
    assert [pacing.next(renewed=False) for _ in range(4)] == [2.5, 1.25, 1.0, 1.0]


def test_a_try_may_take_half_of_what_is_left_and_a_second_at_least() -> None:
    pacing = RenewalPacing(60.0)

    assert [pacing.limit(left_s) for left_s in (60.0, 30.0, 2.0, 1.5)] == [30.0, 15.0, 1.0, 1.0]
    assert pacing.limit(0.5) == pacing.limit(-1.0) == math.inf


def test_doubling_stops_at_its_cap() -> None:
    assert list(islice(doubling(0.2, 1.0), 5)) == [0.2, 0.4, 0.8, 1.0, 1.0]

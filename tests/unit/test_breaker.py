"""The breaker's rule: every state against everything that can happen to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.breaker import Breaker, State
from qtrigger.project.options import CircuitBreaker


def breaker(failures: int = 3, distinct: int = 2, pause_s: float = 60.0) -> Breaker:
    return Breaker(CircuitBreaker(failures=failures, distinct_messages=distinct, pause_s=pause_s))


def fail(subject: Breaker, messages: Iterable[str], now: float = 0.0) -> list[bool]:
    return [subject.failed(each, now) for each in messages]


def opened(now: float = 0.0) -> Breaker:
    subject = breaker()
    assert fail(subject, "abc", now)[-1]
    return subject


def probing() -> Breaker:
    subject = opened()
    assert subject.due(60.0)
    return subject


def test_it_opens_at_that_many_failures_in_a_row() -> None:
    subject = breaker(failures=3)

    assert fail(subject, "abc", 5.0) == [False, False, True]
    assert (subject.state, subject.until, subject.opened_at) == (State.OPEN, 65.0, 5.0)
    assert dict(subject.row) == {"a": 1, "b": 1, "c": 1}


def test_a_success_in_between_begins_the_row_anew() -> None:
    subject = breaker(failures=3)
    fail(subject, "ab")

    assert not subject.succeeded()
    assert fail(subject, "abc") == [False, False, True]
    assert subject.failures == 3


def test_one_message_alone_never_opens_it() -> None:
    subject = breaker(failures=3, distinct=2)

    assert fail(subject, "a" * 100) == [False] * 100
    assert (subject.state, dict(subject.row)) == (State.CLOSED, {"a": 100})


def test_it_opens_when_the_row_has_messages_enough_after_failures_enough() -> None:
    subject = breaker(failures=3, distinct=2)
    fail(subject, "aaaa")

    assert fail(subject, "b") == [True]
    assert dict(subject.row) == {"a": 4, "b": 1}


def test_where_one_message_is_enough_its_failures_open_it() -> None:
    assert fail(breaker(failures=2, distinct=1), "aa") == [False, True]


def test_one_failure_can_be_enough() -> None:
    assert fail(breaker(failures=1, distinct=1), "a") == [True]


def test_open_it_waits_out_its_pause() -> None:
    subject = opened(now=10.0)

    assert not subject.due(69.9)
    assert subject.due(70.0)
    assert subject.state is State.PROBING
    assert not subject.due(71.0)


def test_open_a_failure_of_what_still_ran_changes_nothing() -> None:
    subject = opened()

    assert not subject.failed("d", 30.0)
    assert (subject.state, subject.until, subject.failures) == (State.OPEN, 60.0, 3)


def test_open_a_success_of_what_still_ran_closes_nothing() -> None:
    subject = opened()

    assert not subject.succeeded()
    assert subject.state is State.OPEN


def test_a_failed_probe_opens_it_again_for_the_same_time() -> None:
    subject = probing()

    assert subject.failed("d", 61.0)
    assert (subject.state, subject.until, subject.failures) == (State.OPEN, 121.0, 4)
    assert subject.opened_at == 0.0


def test_a_probe_that_succeeds_closes_it_and_the_row_begins_anew() -> None:
    subject = probing()

    assert subject.succeeded()
    assert (subject.state, subject.failures, dict(subject.row)) == (State.CLOSED, 0, {})
    assert fail(subject, "ab") == [False, False]


@pytest.mark.parametrize("make", [opened, probing])
def test_by_hand_it_closes_from_wherever_it_is(make: Callable[[], Breaker]) -> None:
    subject = make()

    assert subject.reset()
    assert (subject.state, subject.failures, dict(subject.row)) == (State.CLOSED, 0, {})


def test_by_hand_a_closed_one_forgets_its_row() -> None:
    subject = breaker()
    fail(subject, "ab")

    assert not subject.reset()
    assert fail(subject, "ab") == [False, False]


def test_closed_it_is_never_due() -> None:
    assert not breaker().due(1e9)


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.booleans()), max_size=60),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_it_opens_exactly_where_a_row_is_long_and_mixed_enough(
    runs: list[tuple[str, bool]], failures: int, distinct: int
) -> None:
    distinct = min(distinct, failures)
    subject = breaker(failures=failures, distinct=distinct)
    row: list[str] = []
    for message, succeeds in runs:
        if succeeds:
            row.clear()
            subject.succeeded()
            continue
        row.append(message)
        opens = len(row) >= failures and len(set(row)) >= distinct
        assert subject.failed(message, 0.0) == opens
        assert sum(subject.row.values()) == len(row)
        if opens:
            return


@given(st.lists(st.sampled_from(["fail", "succeed", "wait", "reset"]), max_size=60))
def test_it_is_never_left_open_without_a_time_to_probe(steps: list[str]) -> None:
    subject, now = breaker(failures=2, distinct=1, pause_s=10.0), 0.0
    for step in steps:
        if step == "fail":
            subject.failed("a", now)
        elif step == "succeed":
            subject.succeeded()
        elif step == "reset":
            subject.reset()
        else:
            now += 10.0
            subject.due(now)
            assert subject.state is not State.OPEN
        if subject.state is State.OPEN:
            assert now < subject.until <= now + 10.0

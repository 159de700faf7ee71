"""From outcome to disposition: the whole table."""

from __future__ import annotations

import pytest

from qtrigger.dispositions import (
    Abandon,
    Ack,
    Disposition,
    Drop,
    Poison,
    Release,
    Retry,
    TriesPolicy,
    decide,
    refused_on_arrival,
)
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    LeaseLost,
    Outcome,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)

FAILURES: list[Outcome] = [
    Failed(error=ErrorDetail(type="ValueError", message="no")),
    TimedOut(after_s=2.0),
    WorkerLost(how="exit code 3", alone=True),
]


def policy(*, pause_s: float = 0.0, poison: bool = True) -> TriesPolicy:
    return TriesPolicy(max_dequeue_count=5, pauses_s=(pause_s,), has_poison_queue=poison)


@pytest.mark.parametrize("dequeue_count", [1, 5, 6])
def test_success_is_acked_whatever_the_count(dequeue_count: int) -> None:
    assert decide(Succeeded(), dequeue_count, policy()) == Ack()


@pytest.mark.parametrize("failure", FAILURES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    ("dequeue_count", "disposition"),
    [
        (1, Retry(after_s=30.0)),
        (4, Retry(after_s=30.0)),
        (5, Poison(reason="tries")),
        (6, Poison(reason="tries")),
    ],
)
def test_a_failure_is_retried_until_the_tries_are_used_up(
    failure: Outcome, dequeue_count: int, disposition: Disposition
) -> None:
    assert decide(failure, dequeue_count, policy(pause_s=30.0)) == disposition


@pytest.mark.parametrize("failure", FAILURES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("dequeue_count", [1, 5, 500])
def test_without_a_poison_queue_a_failure_waits_for_its_lease(
    failure: Outcome, dequeue_count: int
) -> None:
    assert decide(failure, dequeue_count, policy(poison=False)) == Abandon()


def test_without_a_poison_queue_a_visibility_timeout_is_honoured() -> None:
    assert decide(FAILURES[0], 9, policy(pause_s=30.0, poison=False)) == Retry(after_s=30.0)


@pytest.mark.parametrize("dequeue_count", [1, 5])
def test_an_interruption_is_released_at_once_and_never_poisoned(dequeue_count: int) -> None:
    assert decide(Interrupted(), dequeue_count, policy(pause_s=30.0)) == Release(after_s=0.0)


@pytest.mark.parametrize("dequeue_count", [1, 5])
def test_the_end_of_a_worker_with_several_runs_is_laid_to_none_of_them(dequeue_count: int) -> None:
    lost = WorkerLost(how="exit code 3", alone=False)

    assert decide(lost, dequeue_count, policy(pause_s=30.0)) == Release(after_s=0.0)


def test_a_lost_lease_is_dropped() -> None:
    assert decide(LeaseLost(), 5, policy()) == Drop()


def test_later_is_released_for_as_long_as_asked_even_on_the_last_try() -> None:
    assert decide(Postponed(delay_s=90.0), 5, policy()) == Release(after_s=90.0)


def test_reject_goes_to_poison_on_the_first_try() -> None:
    assert decide(Rejected(reason="no such customer"), 1, policy()) == Poison(reason="rejected")
    assert decide(Rejected(reason="no such customer"), 1, policy(poison=False)) == Abandon()


def test_pauses_follow_the_dequeue_count_and_the_last_one_repeats() -> None:
    growing = TriesPolicy(max_dequeue_count=9, pauses_s=(1.0, 5.0, 60.0), has_poison_queue=True)

    assert [growing.pause_after(count) for count in (1, 2, 3, 4, 8)] == [1.0, 5.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize(
    ("dequeue_count", "poison", "refused"),
    [(5, True, False), (6, True, True), (6, False, False), (500, False, False)],
)
def test_a_message_with_used_up_tries_is_refused_where_there_is_a_poison_queue(
    dequeue_count: int, poison: bool, refused: bool
) -> None:
    assert refused_on_arrival(dequeue_count, policy(poison=poison)) is refused

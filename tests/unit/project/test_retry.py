"""Retry policies are read in full or not at all, and their product with the tries is told."""

from __future__ import annotations

from typing import Any

import pytest

from qtrigger.project.model import RetryPolicy
from tests.unit.project.folder import ProjectFolder, errors, warnings

FIXED = {"strategy": "fixedDelay", "maxRetryCount": 2, "delayInterval": "00:00:05"}
GROWING = {
    "strategy": "exponentialBackoff",
    "maxRetryCount": 3,
    "minimumInterval": "00:00:01",
    "maximumInterval": "00:01:00",
}


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        (
            FIXED,
            RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=5.0, maximum_s=5.0),
        ),
        (
            GROWING,
            RetryPolicy(
                strategy="exponentialBackoff", max_retries=3, minimum_s=1.0, maximum_s=60.0
            ),
        ),
        (
            {key: value for key, value in GROWING.items() if key != "strategy"},
            RetryPolicy(
                strategy="exponentialBackoff", max_retries=3, minimum_s=1.0, maximum_s=60.0
            ),
        ),
        (
            {**FIXED, "strategy": "FIXEDDELAY", "maxRetryCount": -1},
            RetryPolicy(strategy="fixedDelay", max_retries=-1, minimum_s=5.0, maximum_s=5.0),
        ),
    ],
)
def test_a_policy_is_read(
    folder: ProjectFolder, given: dict[str, Any], policy: RetryPolicy
) -> None:
    folder.function(retry=given)

    assert folder.one().retry == policy


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({**FIXED, "maxRetryCount": -2}, "retry.maxRetryCount must be a whole number"),
        ({"strategy": "fixedDelay", "delayInterval": "00:00:01"}, "maxRetryCount is missing"),
        ({"strategy": "fixedDelay", "maxRetryCount": 1}, "retry.delayInterval is missing"),
        ({"maxRetryCount": 1}, "minimumInterval is missing; exponentialBackoff needs it"),
        ({**FIXED, "delayInterval": "-00:00:01"}, "retry.delayInterval must be a duration"),
        ({**FIXED, "delayInterval": 5}, "not the number 5"),
        ({**FIXED, "strategy": "never"}, "retry.strategy must be one of"),
        ({**GROWING, "minimumInterval": "00:02:00"}, "longer than maximumInterval"),
        ("often", "retry must be an object"),
    ],
)
def test_a_faulty_policy_stops_the_function(folder: ProjectFolder, given: Any, said: str) -> None:
    folder.function("bad", retry=given)

    project = folder.load()

    assert project.failed == ("bad",)
    assert any(said in problem.message for problem in errors(project, "bad"))


def test_the_number_of_tries_in_all_is_told(folder: ProjectFolder) -> None:
    folder.function(retry=FIXED)
    folder.queues(maxDequeueCount=4)

    (problem,) = warnings(folder.load())

    assert "12 tries" in problem.message


def test_endless_retries_are_told(folder: ProjectFolder) -> None:
    folder.function(retry={**FIXED, "maxRetryCount": -1})

    assert "no end" in warnings(folder.load())[0].message


def test_the_hosts_policy_is_for_functions_without_their_own(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b", retry=GROWING)
    folder.host(retry=FIXED)

    first, second = folder.load().functions

    assert first.retry is not None
    assert (first.retry.strategy, first.retry.max_retries) == ("fixedDelay", 2)
    assert second.retry is not None
    assert second.retry.strategy == "exponentialBackoff"


def test_a_faulty_policy_of_the_host_stops_the_project(folder: ProjectFolder) -> None:
    folder.function()
    folder.host(retry={"maxRetryCount": 1})

    project = folder.load()

    assert project.blocked
    assert "retry.minimumInterval is missing" in errors(project)[0].message

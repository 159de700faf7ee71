"""Durations as .NET reads them, with a word where it reads something else than was meant."""

from __future__ import annotations

import pytest

from tests.conformance.said import said, told
from tests.unit.project.folder import ProjectFolder

DAY = 86400.0
FORMS = {
    "00:00:30": 30.0,
    "1.02:03:04": DAY + 2 * 3600 + 3 * 60 + 4,
    "00:00:00.5": 0.5,
    "00:00:00.1234567": 0.1234567,
    "00:05": 300.0,
    " 00:00:10 ": 10.0,
    "23:59:59": DAY - 1,
}


@pytest.mark.parametrize(("text", "seconds"), FORMS.items())
def test_the_constant_form_is_read(folder: ProjectFolder, text: str, seconds: float) -> None:
    folder.queues(maxPollingInterval=text)

    project = folder.load()

    assert project.host.queues.max_polling_interval_s == seconds
    assert said(project) == []


@pytest.mark.parametrize("text", ["00:60:00", "00:00:60", "5m", "", "1:2:3:4:5", "24:00:00.0", "x"])
def test_what_is_out_of_bounds_or_no_duration_is_an_error(folder: ProjectFolder, text: str) -> None:
    folder.queues(maxPollingInterval=text)

    assert told(folder.load(), "error: extensions.queues.maxPollingInterval")


def test_a_bare_integer_is_days_and_is_told(folder: ProjectFolder) -> None:
    folder.host(functionTimeout="30")

    project = folder.load()

    assert project.host.function_timeout_s == 30 * DAY
    assert told(project, '"30" counts days', '"00:00:30" if seconds are meant')


def test_twenty_four_hours_are_days_and_the_right_spelling_is_offered(
    folder: ProjectFolder,
) -> None:
    folder.queues(maxPollingInterval="24:00:00")

    project = folder.load()

    assert project.host.queues.max_polling_interval_s == 24 * DAY
    assert told(project, "means 24 days", '"1.00:00:00"')


def test_a_number_for_the_polling_interval_is_milliseconds_with_what_azure_would_do(
    folder: ProjectFolder,
) -> None:
    folder.queues(maxPollingInterval=5000)

    project = folder.load()

    assert project.host.queues.max_polling_interval_s == 5.0
    assert told(project, "5000 milliseconds", "where Azure reads it as days", 'write "00:00:05"')


@pytest.mark.parametrize("key", ["functionTimeout", "visibilityTimeout"])
def test_a_number_for_another_duration_is_an_error_with_the_right_spelling(
    folder: ProjectFolder, key: str
) -> None:
    if key == "functionTimeout":
        folder.host(functionTimeout=30)
    else:
        folder.queues(visibilityTimeout=30)

    assert told(folder.load(), f"{key} must be a duration", 'write "00:00:30"')

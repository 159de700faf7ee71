"""What is said of pauses and circuit breakers: by whom, why, what comes next, and what to do."""

from __future__ import annotations

import io
import json
import logging
from datetime import UTC, datetime

import pytest

from qtrigger.events import (
    BreakerClosed,
    BreakerOpened,
    Event,
    FunctionPaused,
    FunctionResumed,
    FunctionState,
    HostReady,
    InvocationFinished,
    MessageHandedBack,
)
from qtrigger.invocation import ErrorDetail, Failed
from qtrigger.telemetry.console import ConsoleSink
from qtrigger.telemetry.json_lines import JsonSink

UNTIL = datetime(2026, 1, 1, 12, 10, tzinfo=UTC)
DOWN = ErrorDetail(type="OperationalError", message="no route to host")


def opened(*, probe: bool) -> BreakerOpened:
    return BreakerOpened(
        function="charge",
        queue="orders",
        failures=11 if probe else 10,
        messages=7,
        error_type=DOWN.type,
        error=DOWN.message,
        pause_s=90.0,
        probe=probe,
    )


def told(event: Event, level: int = logging.INFO) -> str:
    stream = io.StringIO()
    ConsoleSink(stream, level=level, colour=False).emit(event)
    return stream.getvalue()


def told_as_json(event: Event) -> dict[str, object]:
    stream = io.StringIO()
    JsonSink(stream, level=logging.INFO).emit(event)
    fields: dict[str, object] = json.loads(stream.getvalue())
    return fields


def test_a_pause_says_by_whom_until_when_why_and_how_to_end_it() -> None:
    event = FunctionPaused(function="charge", by="ann@box", reason="audit", until=UNTIL)

    line = told(event)

    assert "paused by ann@box until 2026-01-01 12:10:00 UTC (audit)" in line
    assert "qtrigger resume charge" in line
    assert told_as_json(event)["until"] == "2026-01-01T12:10:00+00:00"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (FunctionResumed(function="charge"), "a worker has loaded it again: it is polled again"),
        (FunctionResumed(function="charge", cause="hand"), "resumed by hand: it is polled again"),
        (
            FunctionResumed(function="charge", cause="time", held=("breaker", "load")),
            "is over: it stays paused, since its circuit breaker is open and no worker can load it",
        ),
    ],
)
def test_an_end_of_a_pause_says_whether_it_is_polled(event: FunctionResumed, words: str) -> None:
    assert words in told(event)


def test_a_breaker_that_opens_says_why_what_comes_next_and_what_to_do() -> None:
    line = told(opened(probe=False), logging.ERROR)

    assert "open after 10 failures in a row from 7 messages" in line
    assert "OperationalError: no route to host" in line
    assert "one is tried in 1 min 30 s" in line
    assert "qtrigger resume charge" in line


def test_a_failed_probe_is_a_warning_of_its_own() -> None:
    line = told(opened(probe=True), logging.WARNING)

    assert "has failed too, the last of 11: OperationalError: no route to host" in line
    assert told_as_json(opened(probe=True))["next_probe_s"] == 90.0


@pytest.mark.parametrize(
    ("cause", "words"), [("probe", "a message has succeeded"), ("hand", "resumed by hand")]
)
def test_a_breaker_that_closes_says_by_what_and_how_long_it_was(cause: str, words: str) -> None:
    event = BreakerClosed(
        function="charge", queue="orders", cause=cause, failures=42, lasted_s=3600.0
    )

    assert f"closed: {words}, after 42 failures in a row and 60 min" in told(event)
    assert told_as_json(event)["lasted_s"] == 3600.0


def test_a_spared_try_is_said_not_to_count() -> None:
    event = InvocationFinished(
        function="charge",
        queue="orders",
        invocation_id="1",
        message_id="2",
        dequeue_count=5,
        max_dequeue_count=5,
        duration_s=0.042,
        waited_s=1.0,
        outcome=Failed(error=DOWN),
        disposition="released",
        retry_after_s=30.0,
    )

    assert "try 5/5, not counted, again in 30 s" in told(event)


def test_a_message_that_came_to_an_open_breaker_is_said_to() -> None:
    event = MessageHandedBack(function="charge", queue="orders", message_id="2", cause="breaker")

    assert "it came when the circuit breaker had opened" in told(event, logging.DEBUG)


def test_the_banner_shows_what_is_paused() -> None:
    state = FunctionState(
        name="charge", queue="orders", connection="S", state="paused", why="by ann@box: audit"
    )
    event = HostReady(functions=(state,), workers=1, interpreter="this one", after_s=0.1)

    assert "paused: by ann@box: audit" in told(event)
    assert "0 of 1 functions" in told(event)

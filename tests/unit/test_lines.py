"""Log lines: every event has one, and it says how a message ended and what comes next."""

from __future__ import annotations

import io
import json
import logging
import os
import typing

import pytest

from qtrigger import events
from qtrigger.events import (
    Event,
    EventSink,
    FunctionState,
    Heartbeat,
    HostReady,
    InvocationFinished,
    InvocationStarted,
    LeaseRenewed,
    MessagePoisoned,
    PollFinished,
    QueueStateChanged,
    StillRunning,
    UserLog,
)
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Outcome,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.telemetry.console import ConsoleSink
from qtrigger.telemetry.json_lines import JsonSink
from qtrigger.telemetry.lines import line_of
from qtrigger.telemetry.outcomes import duration_text


def finished(
    outcome: Outcome, disposition: str, *, retry_after_s: float = 0.0, dequeue_count: int = 2
) -> InvocationFinished:
    return InvocationFinished(
        function="charge",
        queue="orders",
        invocation_id="11111111-2222",
        message_id="8f3a21ff-0000",
        dequeue_count=dequeue_count,
        max_dequeue_count=5,
        duration_s=0.042,
        waited_s=1.0,
        outcome=outcome,
        disposition=disposition,
        retry_after_s=retry_after_s,
    )


FAILURE = Failed(
    error=ErrorDetail(
        type="ZeroDivisionError",
        message="division by zero",
        traceback="Traceback …\n  File …",
        place="functions/charge/__init__.py:8",
    )
)


def text_of(event: Event, *, level: int = logging.DEBUG) -> str:
    stream = io.StringIO()
    ConsoleSink(stream, level=level, colour=False).emit(event)
    return stream.getvalue()


def test_every_event_has_a_line() -> None:
    kinds = typing.get_args(events.Event)

    missing = [
        kind.__name__ for kind in kinds if line_of.dispatch(kind) is line_of.dispatch(object)
    ]

    assert len(kinds) > 15
    assert missing == []


def test_a_success_is_one_short_line() -> None:
    text = text_of(finished(Succeeded(), "acked", dequeue_count=1))

    assert "ok        charge    8f3a21ff  42 ms\n" in text
    assert text.count("\n") == 1


def test_a_run_that_goes_on_says_for_how_long_and_how_to_see_where() -> None:
    event = StillRunning(
        function="charge", queue="q", invocation_id="i", message_id="m", for_s=62.0, usual_s=2.0
    )

    assert "still running, 1 min 2 s, 2 s at most before" in text_of(event)
    assert f"kill -USR1 {os.getpid()}" in text_of(event)


def test_a_run_that_goes_on_says_where_its_code_stands_if_that_is_known() -> None:
    event = StillRunning(
        function="charge",
        queue="q",
        invocation_id="i",
        message_id="m",
        for_s=62.0,
        usual_s=0.0,
        stack='  File "/app/charge/__init__.py", line 5, in main\n    pay()\n',
    )

    first, *below = text_of(event).rstrip().splitlines()
    assert first.endswith("still running, 1 min 2 s, at:")
    assert [line.strip() for line in below] == [
        'File "/app/charge/__init__.py", line 5, in main',
        "pay()",
    ]
    assert line_of(event).fields["stack"] == event.stack


def test_the_end_of_a_worker_with_several_runs_says_that_the_try_is_not_counted() -> None:
    lost = WorkerLost(how="signal 9 (often: out of memory)", alone=False)

    text = text_of(finished(lost, "released"))

    assert "its worker process was killed by signal 9 (often: out of memory)" in text
    assert "with others running there; this try is not counted" in text


@pytest.mark.parametrize(
    ("by", "words"), [("stop", "our stop"), ("neighbour", "another run"), ("load", "cannot load")]
)
def test_an_interruption_says_by_what(by: str, words: str) -> None:
    assert words in text_of(finished(Interrupted(by=by), "released"))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            finished(FAILURE, "retried"),
            "try 2/5, again at once  42 ms  ZeroDivisionError: division",
        ),
        (finished(FAILURE, "retried", retry_after_s=30.0), "try 2/5, again in 30 s"),
        (finished(FAILURE, "poisoned", dequeue_count=5), "try 5/5, last try  42 ms"),
        (finished(FAILURE, "abandoned"), "again when its lease ends"),
        (finished(TimedOut(after_s=120.0), "retried"), "timed out after 2 min (functionTimeout)"),
        (
            finished(WorkerLost(how="exit code 3", alone=True), "retried"),
            "its worker process ended with exit code 3",
        ),
    ],
)
def test_a_failure_says_which_try_what_and_what_comes_next(
    event: InvocationFinished, words: str
) -> None:
    assert words in text_of(event)


def test_a_failure_shows_where_it_was_raised_and_its_traceback_below() -> None:
    text = text_of(finished(FAILURE, "retried"))

    assert "(functions/charge/__init__.py:8)" in text
    assert "\n          Traceback …\n" in text


def test_a_reload_does_not_read_like_a_stop() -> None:
    stopping = text_of(events.HostStopping(reason="SIGTERM", running=2, up_to_s=30.0))
    reloaded = text_of(events.HostStopping(reason="reload", running=2, up_to_s=30.0))

    assert "stopping  SIGTERM: 2 running, up to 30 s (a second signal leaves at once)" in stopping
    assert "reloaded  2 running on the code before, up to 30 s" in reloaded


def test_lines_below_the_level_are_not_written() -> None:
    """The commonest is dropped before it is made, and so must be of the level that is left out."""
    success = finished(Succeeded(), "acked")

    assert line_of(success).level == logging.INFO
    assert text_of(success, level=logging.INFO)
    assert text_of(success, level=logging.WARNING) == ""
    assert text_of(finished(FAILURE, "retried"), level=logging.WARNING)


def _console(level: int) -> EventSink:
    return ConsoleSink(io.StringIO(), level=level, colour=False)


def _json(level: int) -> EventSink:
    return JsonSink(io.StringIO(), level=level)


def test_only_kinds_whose_lines_are_details_are_not_wanted() -> None:
    """They are not even made then, so each of them must be one that would not be shown."""
    details: list[Event] = [
        InvocationStarted(
            function="f", queue="q", invocation_id="i", message_id="m", dequeue_count=1
        ),
        LeaseRenewed(function="f", queue="q", message_id="m", lease_s=1.0),
        PollFinished(function="f", queue="q", found=1, took_s=1.0),
        Heartbeat(counts={}, after_s=60.0),
    ]
    for make in (_console, _json):
        quiet = [
            kind for kind in typing.get_args(events.Event) if not make(logging.INFO).wants(kind)
        ]
        assert {type(event) for event in details} == set(quiet)
        assert all(make(logging.DEBUG).wants(kind) for kind in typing.get_args(events.Event))
    assert [line_of(event).level for event in details] == [logging.DEBUG] * 4


def test_poison_names_both_queues_and_the_reason() -> None:
    text = text_of(
        MessagePoisoned(
            function="charge",
            queue="orders",
            poison_queue="orders-poison",
            message_id="8f3a21ff",
            invocation_id="i",
            dequeue_count=5,
            max_dequeue_count=5,
            reason="tries",
            detail="",
        )
    )

    assert "POISON" in text
    assert "try 5/5  moved to orders-poison (tries)" in text


def test_user_lines_stand_under_their_function_and_message() -> None:
    text = text_of(
        UserLog(
            function="charge",
            invocation_id="i",
            message_id="8f3a21ff",
            level=logging.INFO,
            logger="root",
            message="card accepted",
        )
    )

    assert "charge    8f3a21ff  INFO card accepted" in text


@pytest.mark.parametrize("colour", [True, False])
def test_user_text_cannot_rewrite_the_lines_around_it(*, colour: bool) -> None:
    stream = io.StringIO()
    event = UserLog(
        function="charge",
        invocation_id="i",
        message_id="m",
        level=logging.INFO,
        logger="stdout",
        message="a\x1b[1A\x1b[2Kb\x1b]0;title\x07c\x08\x9b2Jd\te\x1b[31mred",
        extra={"k\n": 1},
    )

    ConsoleSink(stream, level=logging.INFO, colour=colour).emit(event)

    red = "\x1b[31mred" if colour else "red"
    end = "\x1b[0m\n" if colour else "\n"
    said = r"ab\x1b]0;title\x07c\x08\x9b2Jd" + "\te" + red + r'  "k\n"=1' + end
    assert stream.getvalue().endswith(f" {said}")


def test_a_missing_queue_is_one_sentence_and_what_becomes_of_it() -> None:
    text = text_of(
        QueueStateChanged(
            function="charge",
            queue="orders",
            state="missing",
            message="queue 'orders' does not exist",
            hint="It is picked up as soon as something creates it.",
            next_try_s=0.5,
        )
    )

    assert "does not exist. It is picked up as soon as something creates it." in text


def test_the_banner_lists_every_function_with_its_state() -> None:
    states = [
        FunctionState(
            name="charge", queue="orders", connection="Storage", state="ready", concurrency=24
        ),
        FunctionState(name="resize", queue="", connection="", state="failed", why="no scriptFile"),
    ]

    text = text_of(HostReady(functions=states, workers=1, interpreter="python", after_s=0.8))

    assert "charge    orders  Storage     ready, 24 at once" in text
    assert "failed: no scriptFile" in text
    assert "ready in 800 ms  1 of 2 functions, 1 worker" in text


def test_json_lines_carry_names_and_numbers() -> None:
    stream = io.StringIO()

    JsonSink(stream, level=logging.INFO).emit(finished(FAILURE, "retried"))

    line = json.loads(stream.getvalue())
    assert line["kind"] == "invocation.finished"
    assert line["schema_version"] == 1
    assert (line["level"], line["outcome"], line["disposition"]) == ("error", "failed", "retried")
    assert (line["duration_ms"], line["dequeue_count"]) == (42.0, 2)
    assert line["error.type"] == "ZeroDivisionError"
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0004, "0.4 ms"), (0.042, "42 ms"), (0.5, "500 ms"), (1.5, "1.5 s"), (125.2, "2 min 5 s")],
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text

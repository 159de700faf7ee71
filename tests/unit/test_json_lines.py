"""JSON lines: their shape, their length, and the last of them."""

from __future__ import annotations

import io
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from qtrigger.events import (
    Event,
    Finding,
    FunctionState,
    HostReady,
    InvocationFinished,
    ProcessEnding,
    StartFailed,
    UserLog,
)
from qtrigger.invocation import ErrorDetail, Succeeded
from qtrigger.telemetry import journald
from qtrigger.telemetry.json_lines import JsonSink

MOST_BYTES = 40 * 1024


def line(event: Event, *, level: int = logging.INFO) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(written(event, level=level))
    return content


def written(event: Event, *, level: int = logging.INFO) -> str:
    stream = io.StringIO()
    JsonSink(stream, level=level).emit(event)
    return stream.getvalue()


def said(message: str, **extra: object) -> UserLog:
    return UserLog(
        function="charge",
        invocation_id="i",
        message_id="m",
        level=logging.ERROR,
        logger="root",
        message=message,
        extra=extra,
        error=ErrorDetail(type="E", message="m", traceback=f"Traceback\n{message}"),
    )


def test_a_line_begins_with_what_every_line_has() -> None:
    content = line(said("a"))

    assert list(content)[:5] == ["schema_version", "kind", "timestamp", "level", "message"]
    assert (content["schema_version"], content["kind"], content["level"]) == (
        1,
        "user.log",
        "error",
    )


def test_what_is_said_of_a_message_says_what_became_of_it() -> None:
    finished = InvocationFinished(
        function="charge",
        queue="orders",
        invocation_id="i",
        message_id="m",
        dequeue_count=1,
        max_dequeue_count=5,
        duration_s=0.042,
        waited_s=1.0,
        outcome=Succeeded(),
        disposition="acked",
    )

    assert line(finished)["message"] == "ok 42 ms"


def test_a_hint_is_a_field_and_no_part_of_the_message() -> None:
    finding = Finding(function="f", place="host.json:1", severity="error", message="a", hint="b")

    assert (line(finding)["message"], line(finding)["hint"]) == ("host.json:1: a", "b")


@pytest.mark.parametrize(
    "event",
    [
        said("x" * 200_000),
        said("\N{GRINNING FACE}" * 60_000),
        said("a", body="y" * 100_000, deep={"z": ["w" * 90_000]}),
        said("a", **{f"name {number}": number for number in range(20_000)}),
        HostReady(
            functions=[
                FunctionState(name=f"f{number}", queue="q" * 60, connection="c", state="ready")
                for number in range(1_000)
            ],
            workers=1,
            interpreter="python",
            after_s=1.0,
        ),
    ],
    ids=["message", "escaped", "fields", "many fields", "functions"],
)
def test_a_line_stays_within_what_journald_takes_whole_and_says_that_it_was_cut(
    event: Event,
) -> None:
    text = written(event)
    content = json.loads(text)

    assert len(text.encode()) <= MOST_BYTES
    assert content["truncated"] is True
    assert content["kind"] in ("user.log", "host.ready")
    assert len(text) > 1_000


def test_only_what_is_too_long_is_cut() -> None:
    content = line(said("short", body="y" * 100_000))

    assert (content["message"], content["details"]) == ("short", "Traceback\nshort")
    assert 30_000 < len(content["extra"]["body"]) < 40_000


def test_a_line_that_fits_is_not_marked() -> None:
    assert "truncated" not in line(said("x" * 10_000))


def test_the_summary_is_written_whatever_the_level() -> None:
    counts = {"succeeded": 3, "failed_tries": 1}
    ending = ProcessEnding(reason="SIGTERM", exit_code=5, counts=counts, after_s=1.5)

    content = line(ending, level=logging.ERROR)

    assert (content["kind"], content["reason"], content["exit_code"]) == ("summary", "SIGTERM", 5)
    assert (content["succeeded"], content["failed_tries"], content["after_s"]) == (3, 1, 1.5)


def test_an_error_before_the_host_is_up_is_a_line() -> None:
    content = line(StartFailed(message="no host.json", exit_code=3))

    assert (content["kind"], content["level"]) == ("start.failed", "error")
    assert (content["message"], content["exit_code"]) == ("no host.json", 3)


@pytest.mark.parametrize(
    ("level", "priority"),
    [(logging.DEBUG, 7), (logging.INFO, 6), (logging.WARNING, 4), (logging.ERROR, 3)],
)
def test_a_line_for_the_journal_begins_with_its_priority(level: int, priority: int) -> None:
    stream = io.StringIO()
    event = UserLog(
        function="f", invocation_id="i", message_id="m", level=level, logger="l", message="m"
    )

    JsonSink(stream, level=logging.DEBUG, begin=journald.prefix).emit(event)

    text = stream.getvalue()
    assert text.startswith(f"<{priority}>{{")
    json.loads(text[3:])


def test_the_journal_is_known_by_the_file_behind_the_stream(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w") as journal, (tmp_path / "other").open("w") as other:
        found = os.fstat(journal.fileno())
        environ = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}

        assert journald.leads_there(journal, environ)
        assert not journald.leads_there(other, environ)
        assert not journald.leads_there(journal, {})
        assert not journald.leads_there(io.StringIO(), environ)

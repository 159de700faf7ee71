"""What `qtrigger invoke` refuses before any code runs, and how it spells a run."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from qtrigger.cli.invoke import invoke
from qtrigger.cli.tried import as_json, as_text, outcome_name
from qtrigger.dispositions import Abandon, Ack, Disposition, Drop, Poison, Release, Retry
from qtrigger.errors import ProjectError
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    LeaseLost,
    Outcome,
    OutputItem,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.outputs import Planned
from qtrigger.project.options import OwnOptions
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.testing.clock import ManualClock
from qtrigger.tryout import TriedOut, message_of
from tests.unit.harness import definition
from tests.unit.project.folder import CONNECTION, TRIGGER, ProjectFolder

CHARGE = definition("charge", "orders")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chrage"], "Did you mean charge?"),
        (["charge", "--metadata", "colour=red"], "a message has no 'colour'"),
        (["charge", "--metadata", "id=1", "colour"], "write it as NAME=VALUE"),
        (["charge", "--metadata", "dequeueCount=0"], "a whole number from 1 up"),
        (["charge", "--message", "x", "--file", "-"], "not by both"),
        (["charge", "--file", "/nowhere"], "/nowhere"),
    ],
)
def test_wrong_usage_is_said_with_what_is_meant(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    folder = ProjectFolder(tmp_path)
    folder.function("charge")

    ended = CliRunner().invoke(
        invoke,
        [*arguments, "--project", str(folder.root)],
        env={"AzureWebJobsStorage": CONNECTION},
    )

    assert (ended.exit_code, said in ended.output) == (2, True), ended.output


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("off", "off is disabled: setting AzureWebJobs.off.Disabled (environment)"),
        ("hello", "its trigger is of type httpTrigger"),
        ("broken", "the project has errors"),
    ],
)
def test_a_function_that_no_host_would_run_is_not_run_here_and_the_reason_is_said(
    tmp_path: Path, name: str, said: str
) -> None:
    folder = ProjectFolder(tmp_path)
    folder.function("off")
    folder.function("hello", bindings=[{"type": "httpTrigger", "direction": "in", "name": "req"}])
    folder.function("broken", bindings=[{**TRIGGER, "queueName": "a_b"}])

    ended = CliRunner().invoke(
        invoke,
        [name, "--project", str(folder.root)],
        env={"AzureWebJobsStorage": CONNECTION, "AzureWebJobs.off.Disabled": "true"},
    )

    assert isinstance(ended.exception, ProjectError)
    assert said in str(ended.exception)
    assert ("functions/broken/function.json:" in ended.output) == (name == "broken")


def tried(
    outcome: Outcome, disposition: Disposition, *items: OutputItem, written: bool = False
) -> TriedOut:
    message = message_of(b"", {"id": "m1"}, now=NOW, lease_s=600.0)
    queue = MemoryQueueService(ManualClock()).queue("receipts")
    return TriedOut(
        invocation=Invocation(id="i1", function="charge", messages=(message,), max_dequeue_count=5),
        outcome=outcome,
        disposition=disposition,
        duration_s=1.0,
        planned=[Planned("$return", queue, "", item) for item in items],
        written=written,
    )


@pytest.mark.parametrize(
    ("outcome", "disposition", "first", "last"),
    [
        (Succeeded(), Ack(), "charge succeeded  1 s", "now be deleted"),
        (
            TimedOut(after_s=90.0),
            Retry(after_s=30.0),
            "charge timed out after 1 min 30 s (functionTimeout)  1 s",
            "now be tried again in 30 s, after its try 1 of 5",
        ),
        (
            WorkerLost(how="exit code 3", alone=True),
            Abandon(),
            "charge ended its worker process: exit code 3  1 s",
            "now stay hidden until its lease ends, after its try 1 of 5",
        ),
        (
            Postponed(delay_s=90.0),
            Release(after_s=90.0),
            "charge asked for the message to come back in 1 min 30 s  1 s",
            "now come back in 1 min 30 s",
        ),
        (
            Rejected(reason="no such customer"),
            Poison(reason="rejected"),
            "charge rejected the message: no such customer  1 s",
            "now go to the poison queue orders-poison, after its try 1 of 5",
        ),
        (LeaseLost(), Drop(), "charge lease lost  1 s", "be left alone"),
    ],
)
def test_each_end_has_its_words(
    outcome: Outcome, disposition: Disposition, first: str, last: str
) -> None:
    lines = as_text(CHARGE, tried(outcome, disposition)).splitlines()

    assert lines[0] == first
    assert lines[-1] == f"a message on orders would {last}"
    assert json.loads(as_json(CHARGE, tried(outcome, disposition), ()))["outcome"] == (
        outcome_name(outcome)
    )


def test_a_wait_that_is_varied_is_told_from_its_least_to_its_most() -> None:
    own = OwnOptions(retry_delays_s=(30.0,), retry_jitter=0.2)
    failed = tried(TimedOut(after_s=90.0), Retry(after_s=30.0))

    text = as_text(replace(CHARGE, own=own), failed)

    assert "now be tried again in 24 s to 36 s, after its try 1 of 5" in text


def test_a_poison_queue_is_told_by_its_name() -> None:
    function = replace(CHARGE, own=OwnOptions(poison_queue="failed"))

    text = as_text(function, tried(Rejected(reason="no"), Poison(reason="rejected")))

    assert "now go to the poison queue failed, after its try 1 of 5" in text


@pytest.mark.parametrize(
    ("outcome", "name"),
    [(WorkerLost(how="", alone=True), "worker_lost"), (Interrupted(), "interrupted")],
)
def test_machines_read_the_words_of_the_log(outcome: Outcome, name: str) -> None:
    assert outcome_name(outcome) == name


def test_bodies_that_are_no_text_for_a_terminal_are_shown_in_base64() -> None:
    bodies = [b"two\nlines", b"\xff", b"\x1b[2J", b""]
    items = [OutputItem(body=body) for body in bodies]
    run = tried(Succeeded(), Ack(), *items)

    text = as_text(CHARGE, run)

    assert "\n  two\n  lines\n" in text
    assert f"not text, in base64: {base64.b64encode(bodies[1]).decode()}" in text
    assert "\x1b" not in text
    assert "\n  (empty)\n" in text
    told = json.loads(as_json(CHARGE, run, ()))["outputs"]
    assert [each.get("body") for each in told] == ["two\nlines", None, None, ""]
    assert base64.b64decode(told[1]["body_base64"]) == b"\xff"


def test_a_delay_and_a_time_to_live_are_shown() -> None:
    run = tried(Succeeded(), Ack(), OutputItem(body=b"x", delay_s=5.0, ttl_s=60.0), written=True)

    shown = "returned, written to receipts, hidden for 5 s, expires after 1 min:\n  x\n"
    assert shown in as_text(CHARGE, run)
    told = json.loads(as_json(CHARGE, run, ()))
    assert (told["written"], told["outputs"][0]["delay_s"]) == (True, 5.0)


def test_an_error_is_given_to_machines_with_its_place() -> None:
    error = ErrorDetail(type="ValueError", message="no", traceback="Traceback", place="a.py:1")
    run = replace(tried(Failed(error=error), Retry(after_s=0.0)))

    assert json.loads(as_json(CHARGE, run, ()))["error"] == {
        "type": "ValueError",
        "message": "no",
        "place": "a.py:1",
        "traceback": "Traceback",
    }
    assert as_text(CHARGE, run).splitlines()[:2] == [
        "charge failed: ValueError: no  (a.py:1)  1 s",
        "Traceback",
    ]

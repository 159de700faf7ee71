"""What a host measures: each rule by what a scraper reads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.events import (
    InvocationFinished,
    LeaseEnded,
    LeaseRenewed,
    MessagePoisoned,
    Reloaded,
    ReloadRejected,
    RenewalFailed,
    RetryPending,
    WorkerEnded,
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
from qtrigger.pauses import Pause, PauseFile
from qtrigger.telemetry.meters import Meters
from qtrigger.telemetry.metric_table import MOST_ERROR_TYPES
from qtrigger.testing.clock import START
from tests.unit.measured import Measured, Scrape
from tests.unit.test_host import House


async def ok(msg: str) -> None:
    """Do nothing."""


async def bad(msg: str) -> None:
    raise ValueError("no card")


def finished(
    outcome: Outcome, *, dequeue_count: int = 1, duration_s: float = 0.2, function: str = "charge"
) -> InvocationFinished:
    return InvocationFinished(
        function=function,
        queue="orders",
        invocation_id="i",
        message_id="m",
        dequeue_count=dequeue_count,
        max_dequeue_count=5,
        duration_s=duration_s,
        waited_s=3.0,
        outcome=outcome,
        disposition="acked",
    )


def failed(kind: str) -> Outcome:
    return Failed(error=ErrorDetail(type=kind, message="no"))


def read(meters: Meters) -> Scrape:
    from prometheus_client import generate_latest

    return Scrape(generate_latest(meters.registry).decode())


async def test_messages_are_counted_by_how_they_end() -> None:
    measured = Measured(House({"charge": ok, "refund": bad}))
    await measured.house.put("charge", "a", "b")
    await measured.house.put("refund", "c")
    await measured.start()
    await measured.house.clock.advance(60.0)

    found = await measured.scrape()
    await measured.stop()

    name = "qtrigger_invocations_total"
    assert found.value(name, function="charge", outcome="succeeded") == 2
    assert found.value(name, function="refund", outcome="failed", error_type="ValueError") == 5
    assert found.value("qtrigger_messages_poisoned_total", function="refund", reason="tries") == 1
    assert found.value("qtrigger_poison_messages", function="refund", queue="refund-poison") == 1
    assert found.value("qtrigger_poison_messages", function="charge") == 0


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (Succeeded(), "succeeded"),
        (TimedOut(after_s=1.0), "timed_out"),
        (WorkerLost(how="exit code 1", alone=True), "worker_lost"),
        (Interrupted(), "interrupted"),
        (LeaseLost(), "lease_lost"),
        (Postponed(delay_s=1.0), "postponed"),
        (Rejected(reason="unfit"), "rejected"),
    ],
)
def test_each_outcome_has_a_word_and_no_type_of_error(outcome: Outcome, word: str) -> None:
    meters = Meters()
    meters.emit(finished(outcome))

    found = read(meters).by("qtrigger_invocations_total", "outcome", function="charge")
    assert found[word] == 1
    assert sum(found.values()) == 1


def test_kinds_of_error_are_bounded_whatever_a_function_raises() -> None:
    meters = Meters()
    for number in range(MOST_ERROR_TYPES + 30):
        meters.emit(finished(failed(f"Error{number}")))
    meters.emit(finished(failed("Error0")))

    found = read(meters).by("qtrigger_invocations_total", "error_type", outcome="failed")
    assert len(found) == MOST_ERROR_TYPES + 1
    assert (found["Error0"], found["_OTHER"]) == (2, 30)


def test_a_kind_of_error_may_have_any_name_and_breaks_no_line() -> None:
    name = 'We"ird\n\\{}'
    meters = Meters()
    meters.emit(finished(failed(name)))
    meters.emit(finished(failed("x" * 1000)))

    found = read(meters).by("qtrigger_invocations_total", "error_type", outcome="failed")
    assert found == {name: 1, "x" * 120: 1}


def test_durations_are_those_of_runs_and_waits_those_of_first_tries() -> None:
    meters = Meters()
    meters.emit(finished(Succeeded(), duration_s=0.2))
    meters.emit(finished(failed("ValueError"), duration_s=40.0, dequeue_count=2))
    meters.emit(finished(Interrupted(), duration_s=9.0))
    meters.emit(finished(LeaseLost(), duration_s=9.0))

    found = read(meters)
    assert found.value("qtrigger_invocation_duration_seconds_count", function="charge") == 2
    assert found.value("qtrigger_invocation_duration_seconds_sum") == pytest.approx(40.2)
    buckets = found.by("qtrigger_invocation_duration_seconds_bucket", "le")
    assert (buckets["0.1"], buckets["0.25"], buckets["30.0"], buckets["60.0"]) == (0, 1, 1, 2)
    assert found.value("qtrigger_message_wait_seconds_count") == 1
    assert found.value("qtrigger_message_wait_seconds_sum") == 3.0


def test_leases_retries_reloads_and_workers_are_counted() -> None:
    meters = Meters()
    of = {"function": "charge", "queue": "orders", "message_id": "m"}
    meters.emit(LeaseRenewed(lease_s=60.0, **of))
    meters.emit(RenewalFailed(message="no", refused=False, **of))
    meters.emit(LeaseEnded(detail="gone", **of))
    failure = Failed(error=ErrorDetail(type="ValueError", message="no"))
    meters.emit(
        RetryPending(
            invocation_id="i",
            dequeue_count=1,
            max_dequeue_count=5,
            duration_s=0.1,
            outcome=failure,
            retry=1,
            max_retries=3,
            after_s=1.0,
            **of,
        )
    )
    meters.emit(
        Reloaded(
            files=(),
            live=(),
            ready=1,
            added=(),
            removed=(),
            changed=(),
            broken=(),
            mended=(),
            took_s=0.1,
            running_before=0,
        )
    )
    meters.emit(ReloadRejected(message="no"))
    for pid, how in [(1, "exit code 3"), (2, "signal 9 (often: out of memory)"), (0, "no python")]:
        meters.emit(WorkerEnded(worker=1, pid=pid, how=how, expected=False, lost=0))
    meters.emit(WorkerEnded(worker=1, pid=4, how="exit code 0", expected=True, lost=0))
    retired = WorkerEnded(worker=1, pid=5, how="signal 9", expected=True, lost=0, retired=True)
    meters.emit(retired)

    found = read(meters)
    assert found.by("qtrigger_lease_renewals_total", "result") == {"renewed": 1, "failed": 1}
    assert found.value("qtrigger_leases_lost_total", function="charge") == 1
    assert found.value("qtrigger_invocation_retries_total", function="charge") == 1
    assert found.by("qtrigger_reloads_total", "result") == {"done": 1, "rejected": 1}
    restarts = found.by("qtrigger_worker_restarts_total", "reason")
    assert restarts == {"exit": 1, "signal": 1, "not_started": 1, "timed_out": 1, "other": 0}


def test_a_message_without_a_poison_queue_is_not_counted_as_moved() -> None:
    meters = Meters()
    for queue in ("", "orders-poison"):
        meters.emit(
            MessagePoisoned(
                function="charge",
                queue="orders",
                poison_queue=queue,
                message_id="m",
                invocation_id="i",
                dequeue_count=5,
                max_dequeue_count=5,
                reason="tries",
                detail="",
            )
        )

    found = read(meters).by("qtrigger_messages_poisoned_total", "reason", function="charge")
    assert found == {"tries": 1, "undecodable": 0, "rejected": 0}


def test_a_function_that_is_gone_takes_its_numbers_along() -> None:
    meters = Meters()
    for name in ("charge", "refund"):
        meters.emit(finished(Succeeded(), function=name))

    meters.keep_only({"refund", "ship"})

    found = read(meters)
    counted = found.by("qtrigger_invocations_total", "function", outcome="succeeded")
    assert counted == {"refund": 1, "ship": 0}
    assert "charge" not in found.text


def test_what_a_function_that_is_gone_still_ends_does_not_bring_it_back() -> None:
    meters = Meters()
    meters.keep_only({"charge", "refund"})
    meters.keep_only({"refund"})

    meters.emit(finished(Succeeded(), function="charge"))
    meters.emit(LeaseRenewed(function="charge", queue="orders", message_id="m", lease_s=60.0))
    gone = read(meters).text
    meters.keep_only({"refund", "charge"})
    meters.emit(finished(Succeeded(), function="charge"))

    assert "charge" not in gone
    counted = read(meters).by("qtrigger_invocations_total", "function", outcome="succeeded")
    assert counted == {"refund": 0, "charge": 1}


async def test_polls_and_requests_are_counted_for_their_function(tmp_path: Path) -> None:
    measured = Measured(House({"charge": ok, "gone": ok}))
    await measured.house.put("charge", "a")
    host = await measured.start()
    await measured.house.clock.advance(600.0)
    await asyncio.sleep(0)

    found = await measured.scrape()
    await measured.stop()

    polls = found.by("qtrigger_polls_total", "result", function="charge")
    gets = measured.house.service.requests["receive"]
    assert (polls["found"], polls["missing"], polls["error"]) == (1, 0, 0)
    assert polls["empty"] == gets - 1 > 0
    assert found.by("qtrigger_polls_total", "result", function="gone")["missing"] > 0
    assert found.value("qtrigger_poll_interval_seconds", function="charge") == pytest.approx(60.0)
    asked = sum(measured.house.service.requests.values())
    of_all = found.by("qtrigger_storage_transactions_total", "function")
    # Those of the test itself: a queue made, and a message put on it.
    assert sum(of_all.values()) == asked - 2
    assert len(host.listeners) == 2


async def test_polls_that_fail_are_told_from_those_that_find_nothing() -> None:
    house = House({"charge": ok})
    await house.put("charge")
    house.service.fail("receive", QueueUnavailable("no answer"), times=2)
    house.service.fail("exists", AccessDenied("no right", status=403), times=1)
    measured = Measured(house)
    await measured.start()
    await house.clock.advance(600.0)

    found = await measured.scrape()
    await measured.stop()

    assert found.value("qtrigger_polls_total", function="charge", result="error") == 3


async def test_queues_are_told_with_what_waits_and_for_how_long(tmp_path: Path) -> None:
    house = House({"charge": ok})
    await paused(tmp_path, house)
    await house.put("charge", "a", "b")
    await house.service.queue("charge").send("later", delay_s=3600.0)
    measured = Measured(house)
    await measured.start()
    await house.clock.advance(90.0)

    found = await measured.scrape()
    await measured.stop()

    of = {"function": "charge", "queue": "charge"}
    assert found.value("qtrigger_queue_messages", **of) == 3
    assert found.value("qtrigger_queue_visible_messages", **of) == 2
    age_s = found.value("qtrigger_queue_oldest_message_age_seconds", **of)
    assert age_s == pytest.approx(91.0, abs=1.0)


async def test_a_queue_that_is_not_there_is_an_empty_one() -> None:
    measured = Measured(House({"gone": ok}))
    await measured.start()

    found = await measured.scrape()
    await measured.stop()

    assert found.value("qtrigger_queue_messages", function="gone") == 0
    assert found.value("qtrigger_queue_oldest_message_age_seconds", function="gone") == 0
    assert found.value("qtrigger_function_up", function="gone") == 1


async def test_what_the_service_does_not_tell_is_left_out() -> None:
    house = House({"charge": ok})
    await house.put("charge")
    measured = Measured(house)
    await measured.start()
    house.service.fail("count", AccessDenied("no right", status=403), times=None)
    house.service.fail("peek", AccessDenied("no right", status=403), times=None)

    found = await measured.scrape()
    await measured.stop()

    for name in ("qtrigger_queue_messages", "qtrigger_queue_oldest_message_age_seconds"):
        assert found.value(name, function="charge") is None
    assert found.value("qtrigger_function_up", function="charge") == 1


async def test_who_scrapes_often_does_not_ask_the_service_as_often() -> None:
    house = House({"charge": ok})
    await house.put("charge")
    measured = Measured(house)
    await measured.start()

    def looks() -> int:
        return house.service.requests["count"]

    for _ in range(5):
        await measured.text()
        await house.clock.advance(2.0)
    once = looks()
    await house.clock.advance(6.0)
    await measured.text()
    twice = looks()
    await measured.stop()

    # One for the queue and one for the poison queue.
    assert (once, twice) == (2, 4)


async def test_a_service_that_hangs_costs_a_scrape_two_seconds_and_no_more() -> None:
    house = House({"charge": ok, "refund": ok})
    await house.put("charge")
    await house.put("refund")
    measured = Measured(house)
    await measured.start()
    house.service.slow("count", 600.0, times=None, queue="charge")
    began = house.clock.monotonic()

    found = await measured.scrape()
    took_s = house.clock.monotonic() - began
    await measured.stop()

    assert took_s == pytest.approx(2.0, abs=0.1)
    assert found.value("qtrigger_queue_messages", function="charge") is None
    assert found.value("qtrigger_queue_messages", function="refund") == 0
    assert found.value("qtrigger_host_ready") == 1


async def test_functions_are_told_with_their_state(tmp_path: Path) -> None:
    house = House({"charge": ok, "refund": ok, "off": ok}, disabled=("off",))
    await house.put("charge")
    await house.put("refund")
    await paused(tmp_path, house)
    measured = Measured(house)
    await measured.start()

    found = await measured.scrape()
    await measured.stop()
    after = await measured.scrape()

    assert found.by("qtrigger_function_up", "function") == {"charge": 0, "refund": 1}
    states = found.by("qtrigger_function_state", "state", function="charge")
    assert [state for state, value in states.items() if value] == ["paused"]
    assert found.value("qtrigger_function_state", function="off", state="disabled") == 1
    assert found.value("qtrigger_slots", function="refund") == 24
    assert found.value("qtrigger_build_info", version="1.2") == 1
    assert found.by("qtrigger_worker_memory_bytes", "worker") == {"1": 10_240, "2": 10_240}
    assert (found.value("qtrigger_host_ready"), after.value("qtrigger_host_ready")) == (1, 0)


async def test_the_last_success_is_a_moment_and_absent_before_the_first() -> None:
    house = House({"charge": ok, "refund": bad})
    await house.put("charge", "a")
    await house.put("refund", "b")
    measured = Measured(house)
    await measured.start()
    at = house.clock.utcnow().timestamp()
    await house.clock.advance(50.0)

    found = await measured.scrape()
    await measured.stop()

    name = "qtrigger_last_success_timestamp_seconds"
    assert found.value(name, function="charge") == pytest.approx(at, abs=1.5)
    assert found.value(name, function="refund") is None


async def test_requests_have_statuses_that_are_known_or_other() -> None:
    measured = Measured(House({"charge": ok}))
    await measured.start()
    for status in (200, 404, 599, 1000, 0):
        measured.requests.note("get_messages", status)
    measured.requests.note("list_queues", 200)
    measured.requests.note_throttled()

    found = await measured.scrape()
    await measured.stop()

    name = "qtrigger_storage_requests_total"
    by_status = found.by(name, "status", operation="get_messages")
    assert by_status == {"200": 1, "404": 1, "other": 2, "none": 1}
    assert found.value(name, operation="other", status="200") == 1
    assert found.value("qtrigger_storage_throttled_total") == 1


async def paused(folder: Path, house: House) -> None:
    file = PauseFile(folder / "state")
    await file.pause(
        Pause(function="charge", since=START, reason="the bank", by="ann@box"), house.clock
    )
    house.pauses = file

"""What users ran into with leases: one message, one run at a time, and the newest receipt."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied
from qtrigger.events import Finding, InvocationFinished, LeaseEnded, LeaseRenewed, SettlementFailed
from qtrigger.invocation import Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.telemetry.lines import line_of
from qtrigger.telemetry.sinks import Tally
from tests.unit.harness import PLAIN, Bench, Body, fail, output, succeed

EVERY_SECOND = replace(PLAIN, max_polling_interval_s=1.0)


def running_for(seconds: float, lease_s: float, *, beside: Bench | None = None) -> Bench:
    async def body(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(seconds)
        return Succeeded()

    bench = Bench(body, lease_s=lease_s, options=EVERY_SECOND, beside=beside)
    return bench


def warnings(bench: Bench) -> list[str]:
    lines = [line_of(event) for event in bench.probe.events]
    return [line.text for line in lines if line.level >= logging.WARNING]


@pytest.mark.parametrize(("seconds", "renewals"), [(2, 0), (8, 2), (25, 8)])
async def test_a_run_longer_than_its_lease_runs_once_and_is_deleted_by_the_newest_receipt(
    seconds: int, renewals: int
) -> None:
    """A lease is renewed at half of it: one of 6 s every 3 s."""
    bench = running_for(seconds, lease_s=6.0)
    await bench.start("a")

    await bench.clock.advance(120.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    assert len(bench.probe.of(LeaseRenewed)) == renewals
    assert bench.service.requests["delete"] == 1
    assert bench.probe.of(LeaseEnded) == []
    await bench.stop()


async def test_a_long_run_under_a_short_lease_is_one_run_among_two_hosts() -> None:
    first = running_for(5.0, lease_s=2.0)
    second = running_for(5.0, lease_s=2.0, beside=first)
    await first.start(*"abc")
    await second.start()

    await first.clock.advance(60.0)

    assert sorted(first.bodies + second.bodies) == [b"a", b"b", b"c"]
    assert first.left() == []
    await first.stop()
    await second.stop()


def updating(
    then: Body, text: str | None = None, *, hide_s: float = 30.0, runs_s: float = 0
) -> Bench:
    """A bench whose function updates its own message on its first try."""

    async def body(message: TriggerMessage) -> Outcome:
        if message.dequeue_count > 1:
            return Succeeded()
        await bench.queue.update(message.id, message.pop_receipt, hide_s, text)
        await bench.clock.sleep(runs_s)
        return await then(message)

    bench = Bench(body, options=EVERY_SECOND, lease_s=60.0)
    return bench


@pytest.mark.parametrize("text", [None, "b"])
@pytest.mark.parametrize("runs_s", [0.0, 40.0], ids=["before", "after a renewal"])
async def test_a_function_that_updates_its_own_message_and_succeeds_has_one_warning_and_no_failure(
    text: str | None, runs_s: float
) -> None:
    """The delete, or the renewal, is answered that the receipt is old: the line says why."""
    bench = updating(succeed, text, hide_s=50.0, runs_s=runs_s)
    await bench.start("a")

    await bench.clock.advance(45.0)

    (line,) = warnings(bench)
    assert "no longer ours" in line
    assert "the function itself updated or deleted it" in line
    (run,) = bench.probe.of(InvocationFinished)
    assert run.disposition == "dropped"
    assert bench.probe.of(SettlementFailed) == []
    tally = Tally()
    for event in bench.probe.events:
        tally.emit(event)
    assert (tally.failed_tries, tally.poisoned) == (0, 0)
    await bench.clock.advance(60.0)
    assert bench.bodies == [b"a", (text or "a").encode()]
    assert bench.left() == []
    await bench.stop()


async def test_a_function_that_updates_its_own_text_and_fails_sees_it_at_its_next_try() -> None:
    bench = updating(fail, "half done")
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert (bench.bodies, bench.left()) == ([b"a", b"half done"], [])
    await bench.stop()


@pytest.mark.parametrize("lost", [False, True], ids=["whole", "delete refused"])
async def test_a_step_that_is_done_goes_on_in_a_message_of_its_own_queue(*, lost: bool) -> None:
    """The way to keep what is done that needs no receipt: its end may double it, never lose it."""

    async def body(message: TriggerMessage) -> Outcome:
        if message.body == b"step 2":
            return Succeeded()
        onward = Output(binding="out", items=(OutputItem(body=b"step 2"),))
        return Succeeded(outputs=(onward,))

    bench = Bench(body, outputs=(output("out", "orders"),), lease_s=60.0)
    if lost:
        bench.service.fail("delete", AccessDenied("no", status=403))
    await bench.start("step 1")

    await bench.clock.advance(0.0)
    assert bench.bodies == [b"step 1", b"step 2"]
    await bench.clock.advance(120.0)

    assert bench.bodies == [b"step 1", b"step 2"] * (2 if lost else 1)
    assert bench.left() == []
    await bench.stop()


async def test_a_long_pause_after_failures_is_kept_and_explained_once() -> None:
    """People set it to protect long runs, which it does not."""
    bench = Bench(fail, options=replace(EVERY_SECOND, visibility_timeout_s=900.0))
    await bench.start("a", "b")

    await bench.clock.advance(899.0)
    assert len(bench.bodies) == 2
    await bench.clock.advance(2.0)

    assert len(bench.bodies) == 4
    (hint,) = bench.probe.of(Finding)
    assert "visibilityTimeout lets a failed message wait 15 min" in hint.message
    assert "qtrigger.lease" in hint.hint
    await bench.stop()


@pytest.mark.parametrize(("pause_s", "body"), [(600.0, fail), (900.0, succeed)])
async def test_a_pause_of_usual_length_or_without_a_failure_is_not_explained(
    pause_s: float, body: Body
) -> None:
    bench = Bench(body, options=replace(EVERY_SECOND, visibility_timeout_s=pause_s))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.probe.of(Finding) == []
    await bench.stop()


async def test_no_more_is_taken_than_runs_and_no_more_is_asked_than_it_takes() -> None:
    """500 messages of 2 s by four at a time: no hoard, no storm of requests, no idle gap."""
    in_hand: list[int] = []

    async def body(_message: TriggerMessage) -> Outcome:
        in_hand.append(bench.service.counts("orders").invisible)
        await bench.clock.sleep(2.0)
        return Succeeded()

    bench = Bench(body, options=replace(PLAIN, batch_size=4, new_batch_threshold=2))
    await bench.start(*(str(n) for n in range(500)))

    while bench.left():
        await bench.clock.advance(1.0)

    assert max(in_hand) == bench.most_at_once == 6
    assert len(bench.bodies) == bench.service.requests["delete"] == 500
    assert bench.service.requests["receive"] <= 500 / 4 + 10
    assert bench.service.requests["update"] == 0
    # Four at a time take 250 s; a gap between batches would show.
    assert bench.clock.monotonic() <= 500 / 4 * 2.0
    await bench.stop()

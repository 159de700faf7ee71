"""Retry policies: further runs within one receipt, while the message stays leased.

Azure documents them for other triggers, and its host carries them out for queues all the same.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from qtrigger.events import InvocationFinished, InvocationStarted, LeaseEnded, RetryPending
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    Outcome,
    Output,
    OutputItem,
    Postponed,
    Rejected,
    Retrial,
    Succeeded,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.project.model import RetryPolicy
from qtrigger.telemetry.lines import line_of
from qtrigger.tries import TriesOfAll
from tests.unit.harness import PLAIN, Bench, Body, fail, output

FIXED = RetryPolicy(strategy="fixedDelay", max_retries=3, minimum_s=5.0, maximum_s=5.0)
GROWING = RetryPolicy(strategy="exponentialBackoff", max_retries=6, minimum_s=1.0, maximum_s=10.0)


def ends(*outcomes: Outcome) -> Body:
    """A function with these ends, one after another; the last one repeats."""
    left = list(outcomes)

    async def body(_message: TriggerMessage) -> Outcome:
        return left.pop(0) if len(left) > 1 else left[0]

    return body


FAILED = Failed(error=ErrorDetail(type="ValueError", message="no", place="charge/__init__.py:3"))


def waits(bench: Bench) -> list[float]:
    return [event.after_s for event in bench.probe.of(RetryPending)]


def counts(invocations: list[Invocation]) -> list[int | None]:
    return [each.retry.count if each.retry else None for each in invocations]


async def test_a_reload_in_the_wait_for_a_retry_costs_no_try() -> None:
    """With the one try that a policy is often given, the message would be poison without it."""
    once, tries = replace(PLAIN, max_dequeue_count=1), TriesOfAll()
    before = Bench(ends(FAILED), options=once, retry=FIXED, tries=tries)
    await before.start("a")
    await before.clock.advance(2.0)
    await before.stop()

    after = Bench(options=once, retry=FIXED, tries=tries, beside=before)
    await after.start()
    await after.clock.advance(1.0)

    assert (len(before.bodies), after.bodies) == (1, [b"a"])
    assert (after.left(), after.left("orders-poison")) == ([], [])
    await after.stop()


async def test_a_run_that_fails_is_repeated_until_it_succeeds_within_one_receipt() -> None:
    bench = Bench(ends(FAILED, FAILED, Succeeded()), retry=FIXED)
    await bench.start("a")

    await bench.clock.advance(9.9)
    assert len(bench.bodies) == 2
    await bench.clock.advance(0.2)

    (finished,) = bench.probe.of(InvocationFinished)
    assert (finished.disposition, finished.dequeue_count, finished.retries) == ("acked", 1, 2)
    assert (bench.left(), len(bench.bodies)) == ([], 3)
    await bench.stop()


async def test_the_retries_of_a_receipt_have_one_invocation_id_and_the_next_receipt_another() -> (
    None
):
    options = replace(PLAIN, max_dequeue_count=2)
    bench = Bench(fail, options=options, retry=replace(FIXED, max_retries=1))
    await bench.start("a")

    await bench.clock.advance(60.0)

    first, again, second, _ = [each.id for each in bench.invocations]
    assert first == again != second
    assert [e.invocation_id for e in bench.probe.of(InvocationStarted)] == [first, second]
    await bench.stop()


async def test_retries_multiply_with_the_dequeue_count_and_the_message_is_poisoned_once() -> None:
    options = replace(PLAIN, max_dequeue_count=5)
    bench = Bench(fail, options=options, retry=replace(FIXED, max_retries=2))
    await bench.start("a")

    await bench.clock.advance(300.0)

    assert len(bench.bodies) == (2 + 1) * 5
    assert [e.dequeue_count for e in bench.probe.of(InvocationFinished)] == [1, 2, 3, 4, 5]
    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    await bench.stop()


async def test_a_run_knows_which_retry_it_is_how_many_there_are_and_what_failed() -> None:
    bench = Bench(ends(FAILED, TimedOut(after_s=2.0), Succeeded()), retry=FIXED)
    await bench.start("a")

    await bench.clock.advance(60.0)

    late = ErrorDetail(type="TimedOut", message="timed out after 2 s (functionTimeout)")
    assert [each.retry for each in bench.invocations] == [
        Retrial(count=0, most=3),
        Retrial(count=1, most=3, error=FAILED.error),
        Retrial(count=2, most=3, error=late),
    ]
    await bench.stop()


async def test_without_a_policy_there_is_no_retry_and_nothing_is_said_of_any() -> None:
    bench = Bench(fail, options=replace(PLAIN, max_dequeue_count=1))
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert counts(bench.invocations) == [None]
    assert bench.probe.of(RetryPending) == []
    await bench.stop()


async def test_growing_waits_begin_at_the_least_and_stay_at_the_most() -> None:
    bench = Bench(fail, options=replace(PLAIN, max_dequeue_count=1), retry=GROWING)
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert waits(bench) == [1.0, 2.0, 3.0, 5.0, 9.0, 10.0]
    await bench.stop()


@pytest.mark.parametrize("most_s", [0.0, 60.0])
async def test_waits_of_nothing_are_without_end_and_still_leave_others_their_turn(
    most_s: float,
) -> None:
    tries = 1200  # a doubling wait would have left the numbers that a float can hold
    policy = RetryPolicy(
        strategy="exponentialBackoff", max_retries=-1, minimum_s=0.0, maximum_s=most_s
    )
    bench = Bench(ends(*[FAILED] * tries, Succeeded()), retry=policy)
    await bench.start("a")

    async with asyncio.timeout(20):
        while not bench.probe.of(InvocationFinished):
            await bench.clock.advance(0.0)

    assert (len(bench.bodies), bench.clock.monotonic()) == (tries + 1, 0.0)
    await bench.stop()


async def test_a_policy_without_end_never_gives_the_message_back_and_keeps_its_lease() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=-1, minimum_s=900.0, maximum_s=900.0)
    bench = Bench(fail, retry=policy)
    await bench.start("a")

    await bench.clock.advance(10 * 900.0)

    (message,) = bench.service.peek_all("orders")
    assert (message.dequeue_count, len(bench.bodies)) == (1, 11)
    assert len(bench.service.times("update")) == 30
    await bench.stop()


async def test_a_message_that_waits_for_a_retry_holds_its_slot() -> None:
    options = replace(PLAIN, batch_size=1, new_batch_threshold=0)
    bench = Bench(ends(FAILED, Succeeded()), options=options, retry=FIXED)
    await bench.start("a", "b")

    await bench.clock.advance(4.0)
    assert (bench.bodies, bench.listener.running) == ([b"a"], 1)
    await bench.clock.advance(2.0)

    assert bench.bodies == [b"a", b"a", b"b"]
    await bench.stop()


async def test_a_stop_ends_the_wait_for_a_retry_and_releases_the_message_at_once() -> None:
    bench = Bench(fail, retry=replace(FIXED, minimum_s=3600.0, maximum_s=3600.0))
    await bench.start("a")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert bench.clock.monotonic() == 1.0
    assert bench.service.counts("orders").visible == 1
    (finished,) = bench.probe.of(InvocationFinished)
    assert (finished.outcome, finished.disposition) == (Interrupted(), "released")
    assert len(bench.bodies) == 1


async def test_a_run_that_fails_while_stopping_is_not_retried_and_its_failure_is_told() -> None:
    go = asyncio.Event()

    async def held(_message: TriggerMessage) -> Outcome:
        await go.wait()
        return FAILED

    bench = Bench(held, retry=FIXED)
    await bench.start("a")
    await bench.clock.advance(1.0)
    bench.listener.stop_polling()
    go.set()

    await bench.stop()

    assert (len(bench.bodies), bench.service.counts("orders").visible) == (1, 1)
    (told,) = bench.probe.of(RetryPending)
    assert told.outcome == FAILED


async def test_a_lost_lease_ends_the_wait_for_a_retry_and_the_message_is_left_alone() -> None:
    bench = Bench(fail, retry=replace(FIXED, minimum_s=3600.0, maximum_s=3600.0))
    await bench.start("a")
    await bench.clock.advance(1.0)
    (message,) = bench.service.peek_all("orders")
    await bench.queue.delete(message.id, message.pop_receipt)

    await bench.clock.advance(400.0)

    assert len(bench.probe.of(LeaseEnded)) == 1
    (finished,) = bench.probe.of(InvocationFinished)
    assert (finished.disposition, len(bench.bodies)) == ("dropped", 1)
    await bench.stop()


@pytest.mark.parametrize(
    ("end", "disposition"),
    [
        (Postponed(delay_s=30.0), "released"),
        (Rejected(reason="no such customer"), "poisoned"),
        (Interrupted(by="neighbour"), "released"),
        (WorkerLost(how="exit code 3", alone=False), "released"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_what_is_no_failure_is_not_retried(end: Outcome, disposition: str) -> None:
    bench = Bench(ends(end, Succeeded()), retry=FIXED)
    await bench.start("a")

    await bench.clock.advance(0.0)

    assert bench.probe.of(InvocationFinished)[0].disposition == disposition
    assert bench.probe.of(RetryPending) == []
    await bench.stop()


@pytest.mark.parametrize("end", [TimedOut(after_s=9.0), WorkerLost(how="exit code 3", alone=True)])
async def test_a_time_out_and_a_lost_worker_are_retried_like_a_failure(end: Outcome) -> None:
    bench = Bench(ends(end, Succeeded()), retry=FIXED)
    await bench.start("a")

    await bench.clock.advance(6.0)

    assert (len(bench.bodies), bench.left()) == (2, [])
    await bench.stop()


async def test_a_run_whose_output_cannot_be_written_is_retried() -> None:
    bad = Output(binding="out", items=(OutputItem(body=b"x", delay_s=-1.0),))
    good = Output(binding="out", items=(OutputItem(body=b"x"),))
    body = ends(Succeeded(outputs=(bad,)), Succeeded(outputs=(good,)))
    bench = Bench(body, retry=FIXED, outputs=(output("out", "receipts"),))
    await bench.start("a")

    await bench.clock.advance(6.0)

    assert (bench.left("receipts"), bench.left()) == (["x"], [])
    await bench.stop()


async def test_the_lines_say_which_retry_comes_when_and_after_how_many_it_ended() -> None:
    options = replace(PLAIN, max_dequeue_count=1)
    bench = Bench(ends(FAILED), options=options, retry=replace(FIXED, max_retries=1))
    await bench.start("a")

    await bench.clock.advance(60.0)

    first = line_of(bench.probe.of(RetryPending)[0])
    assert first.text.startswith("try 1/1, retry 1 of 1 in 5 s  ")
    assert first.text.endswith("ValueError: no  (charge/__init__.py:3)")
    assert first.fields["invocation_id"] == bench.invocations[0].id
    last = line_of(bench.probe.of(InvocationFinished)[0])
    assert last.text.startswith("try 1/1 after 1 retry, last try  ")
    assert last.fields["retries"] == 1
    await bench.stop()


async def test_a_retry_of_a_policy_without_end_is_said_to_be_of_none() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=-1, minimum_s=0.0, maximum_s=0.0)
    bench = Bench(ends(FAILED, Succeeded()), retry=policy)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert line_of(bench.probe.of(RetryPending)[0]).text.startswith("try 1/5, retry 1 at once  ")
    await bench.stop()

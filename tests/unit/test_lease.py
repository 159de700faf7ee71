"""One message stays ours while its function runs, and the newest receipt settles it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import InvocationFinished, LeaseEnded, LeaseRenewed, RenewalFailed
from qtrigger.invocation import LeaseLost, Outcome, Succeeded, TriggerMessage
from qtrigger.lease import Lease
from qtrigger.overdue import Overdue
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.testing.clock import ManualClock
from tests.unit.harness import PLAIN, Bench, Body, fail


def takes(bench_clock_s: float, bench: list[Bench]) -> Body:
    async def body(_message: TriggerMessage) -> Outcome:
        await bench[0].clock.sleep(bench_clock_s)
        return Succeeded()

    return body


def slow_bench(seconds: float, *, lease_s: float = 600.0) -> Bench:
    holder: list[Bench] = []
    bench = Bench(takes(seconds, holder), lease_s=lease_s)
    holder.append(bench)
    return bench


async def test_a_run_of_twelve_minutes_runs_once_and_is_deleted_with_the_renewed_receipt() -> None:
    bench = slow_bench(720.0)
    await bench.start("a")

    await bench.clock.advance(800.0)

    assert bench.bodies == [b"a"]
    assert bench.left() == []
    assert len(bench.probe.of(LeaseRenewed)) == 2
    await bench.stop()


async def test_renewals_come_at_half_of_the_lease() -> None:
    bench = slow_bench(1000.0)
    await bench.start("a")

    await bench.clock.advance(299.0)
    assert bench.service.requests["update"] == 0
    await bench.clock.advance(2.0)
    assert bench.service.requests["update"] == 1
    await bench.clock.advance(300.0)

    assert bench.service.requests["update"] == 2
    await bench.stop()


async def test_a_message_is_never_visible_while_its_function_runs() -> None:
    bench = slow_bench(25.0, lease_s=6.0)
    await bench.start("a")

    for _ in range(240):
        await bench.clock.advance(0.1)
        assert bench.service.counts("orders").visible == 0

    await bench.clock.advance(5.0)
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    assert len(bench.probe.of(LeaseRenewed)) >= 4
    await bench.stop()


async def test_a_message_is_hidden_to_the_end_of_its_life_and_never_asked_beyond_it() -> None:
    bench = slow_bench(2000.0)
    await bench.start()
    await bench.queue.send("a", ttl_s=700.0)

    for _ in range(697):
        await bench.clock.advance(1.0)
        assert bench.service.counts("orders").visible == 0
    await bench.clock.advance(1400.0)

    assert bench.bodies == [b"a"]
    assert [each.lease_s for each in bench.probe.of(LeaseRenewed)] == [398.0]
    assert bench.probe.of(RenewalFailed) == []
    await bench.stop()


async def test_a_message_that_lives_no_longer_than_its_first_lease_is_not_renewed() -> None:
    bench = slow_bench(590.0)
    await bench.start()
    await bench.queue.send("a", ttl_s=599.0)

    await bench.clock.advance(700.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    assert bench.service.requests["update"] == 0
    await bench.stop()


async def test_a_pause_after_a_failure_ends_with_the_messages_life() -> None:
    bench = Bench(fail, options=replace(PLAIN, visibility_timeout_s=3600.0))
    await bench.start()
    await bench.queue.send("a", ttl_s=700.0)

    await bench.clock.advance(10.0)

    (finished,) = bench.probe.of(InvocationFinished)
    assert (finished.disposition, finished.settled) == ("retried", True)
    await bench.stop()


@pytest.mark.parametrize(
    "error",
    [
        QueueUnavailable("busy", status=503),
        QueueUnavailable("no answer"),
        AccessDenied("not now", status=403),
    ],
)
async def test_a_failed_renewal_is_tried_again_sooner(error: Exception) -> None:
    bench = slow_bench(1000.0)
    assert isinstance(error, QueueUnavailable | AccessDenied)
    bench.service.fail("update", error, times=2)
    await bench.start("a")

    await bench.clock.advance(300.0 + 150.0 + 75.0 + 1.0)

    assert bench.service.requests["update"] == 3
    assert len(bench.probe.of(LeaseRenewed)) == 1
    await bench.stop()
    assert (bench.bodies, bench.left()) == ([b"a"], [])


async def test_a_renewal_whose_answer_is_lost_loses_the_receipt_and_is_said_so() -> None:
    bench = slow_bench(400.0)
    bench.service.fail("update", QueueUnavailable("no answer"), carried_out=True)
    await bench.start("a")

    await bench.clock.advance(460.0)

    assert len(bench.probe.of(LeaseEnded)) == 1
    await bench.stop()


async def test_a_message_taken_by_somebody_else_is_dropped_and_not_settled() -> None:
    bench = slow_bench(400.0)
    await bench.start("a")
    await bench.clock.advance(1.0)
    message = bench.service.peek_all("orders")[0]
    await bench.queue.update(message.id, message.pop_receipt, 5000.0)

    await bench.clock.advance(500.0)

    (finished,) = bench.probe.of(InvocationFinished)
    assert isinstance(finished.outcome, LeaseLost)
    assert finished.disposition == "dropped"
    assert bench.left() == ["a"]
    await bench.stop()


async def test_a_function_that_moved_its_own_visibility_is_warned_of_once() -> None:
    holder: list[Bench] = []

    async def body(message: TriggerMessage) -> Outcome:
        await holder[0].queue.update(message.id, message.pop_receipt, 900.0)
        return Succeeded()

    bench = Bench(body)
    holder.append(bench)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (ended,) = bench.probe.of(LeaseEnded)
    assert "the function itself updated" in ended.detail
    assert bench.probe.of(InvocationFinished)[0].disposition == "dropped"
    await bench.stop()


async def test_a_renewal_refused_for_want_of_a_right_is_told_at_its_first_try() -> None:
    bench = slow_bench(900.0)
    bench.service.fail("update", AccessDenied("may not update", status=403), times=None)
    await bench.start("a")

    await bench.clock.advance(301.0)

    (told,) = bench.probe.of(RenewalFailed)
    assert (told.refused, told.message) == (True, "may not update")
    bench.service.mend()
    await bench.clock.advance(700.0)
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_a_settlement_waits_for_a_renewal_under_way_and_uses_its_receipt() -> None:
    bench = slow_bench(301.0)
    bench.service.slow("update", 10.0)
    await bench.start("a")

    await bench.clock.advance(305.0)
    assert bench.left() == ["a"]
    await bench.clock.advance(10.0)

    assert bench.left() == []
    await bench.stop()


class Faulty:
    """A watcher with a defect."""

    def renewed(self, message: QueueMessage, lease_s: float) -> None:
        raise RuntimeError(f"{message.text} for {lease_s:g} s")

    def not_renewed(self, message: QueueMessage, error: QueueError) -> None:
        raise NotImplementedError

    def lost(self, message: QueueMessage, reason: str) -> None:
        raise NotImplementedError

    def not_kept(self, message: QueueMessage, why: str) -> None:
        raise NotImplementedError


async def test_a_defect_in_a_renewal_is_told_when_it_happens() -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: told.append(context["message"])
    )
    clock = ManualClock()
    queue = MemoryQueueService(clock).queue("orders")
    await queue.create()
    await queue.send("a")
    (message,) = await queue.receive(1, 600.0)
    lease = Lease(
        queue, message, lease_s=600.0, received_at=0.0, clock=clock, renewals=Overdue(clock)
    )

    lease.keep(Faulty())
    await clock.advance(301.0)

    assert told == [f"renew {message.id}: a for 600 s"]

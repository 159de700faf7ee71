"""A message stays ours while its function runs, by one renewal after the other."""

from __future__ import annotations

import pytest

from qtrigger.errors import QueueError
from qtrigger.events import InvocationFinished, LeaseEnded, RenewalFailed, SettlementFailed
from qtrigger.invocation import LeaseLost, Outcome, Succeeded, TriggerMessage
from tests.conformance.answers import BUSY, GONE, name_of
from tests.unit.harness import Bench, fail


def running_for(seconds: float, *, lease_s: float = 600.0) -> Bench:
    """A bench whose function takes that long."""

    async def body(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(seconds)
        return Succeeded()

    bench = Bench(body, lease_s=lease_s)
    return bench


async def test_a_lease_is_renewed_every_five_minutes_for_ten_minutes_more() -> None:
    bench = running_for(1000.0)
    await bench.start("a")

    for renewal in (1, 2, 3):
        await bench.clock.advance(300.0)
        (held,) = bench.service.peek_all("orders")
        assert (held.next_visible - held.inserted).total_seconds() == 300.0 * renewal + 600.0

    await bench.clock.advance(200.0)
    assert bench.service.times("update") == [300.0, 600.0, 900.0]
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_each_renewal_uses_the_receipt_of_the_one_before_for_a_whole_day() -> None:
    bench = running_for(86_400.0)
    await bench.start("a")
    receipts: set[str] = set()

    for _ in range(288):
        await bench.clock.advance(300.0)
        receipts.update(each.pop_receipt for each in bench.service.peek_all("orders"))

    assert len(receipts) == len(bench.service.times("update")) == 287
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    assert bench.probe.of(LeaseEnded) == []
    await bench.stop()


async def test_a_failed_renewal_halves_the_wait_down_to_a_minute_and_a_success_ends_that() -> None:
    bench = running_for(2000.0)
    bench.service.fail("update", BUSY, times=3)
    await bench.start("a")

    await bench.clock.advance(1000.0)

    assert bench.service.times("update") == [300.0, 450.0, 525.0, 585.0, 885.0]
    await bench.stop()


@pytest.mark.parametrize(
    ("lease_s", "tries"),
    [
        (600.0, [300, 450, 525, 585, 597, 657, 717]),
        (60.0, [30, 45, 52.5, 58.5, 59.7, 65.7, 71.7]),
        (5.0, [2.5, 3.75, 4.375, 4.875, 4.975, 5.475]),
        (1.0, [0.5, 0.75, 0.875, 0.975, 0.995, 1.095]),
    ],
)
async def test_while_renewals_fail_one_more_always_comes_before_the_lease_ends(
    lease_s: float, tries: list[float]
) -> None:
    """After four fifths of what is left at the latest; after the end they go on."""
    bench = running_for(lease_s * 3, lease_s=lease_s)
    bench.service.fail("update", BUSY, times=None)
    await bench.start("a")

    await bench.clock.advance(tries[-1])

    assert bench.service.times("update") == pytest.approx(tries)
    bench.listener.stop_polling()
    bench.listener.cancel()


async def test_a_short_lease_outlives_an_outage_that_ends_shortly_before_it_does() -> None:
    bench = running_for(12.0, lease_s=5.0)
    bench.service.fail("update", BUSY, times=5)
    await bench.start("a")

    await bench.clock.advance(11.9)
    assert bench.service.counts("orders").visible == 0
    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_a_renewal_that_hangs_leaves_time_for_another() -> None:
    bench = running_for(12.0, lease_s=6.0)
    bench.service.slow("update", 30.0)
    await bench.start("a")

    await bench.clock.advance(11.9)
    assert bench.service.times("update")[:2] == [3.0, 5.7]
    assert bench.service.counts("orders").visible == 0
    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    (told,) = bench.probe.of(RenewalFailed)
    assert "did not answer within 1.5 s" in told.message
    await bench.stop()


@pytest.mark.parametrize("verb", ["delete", "update"])
async def test_a_settlement_that_hangs_is_made_again_before_the_lease_ends(
    verb: str,
) -> None:
    async def body(message: TriggerMessage) -> Outcome:
        return Succeeded() if verb == "delete" or len(bench.bodies) > 1 else await fail(message)

    bench = Bench(body, lease_s=6.0)
    bench.service.slow(verb, 30.0)
    await bench.start("a")

    await bench.clock.advance(5.9)

    assert bench.service.times(verb)[1] == 3.2
    assert len(bench.bodies) == (1 if verb == "delete" else 2)
    assert (bench.left(), bench.probe.of(SettlementFailed)) == ([], [])
    await bench.stop()


async def test_a_lease_counts_the_whole_seconds_that_the_service_keeps() -> None:
    bench = running_for(4.0, lease_s=2.9)
    await bench.start("a")

    await bench.clock.advance(3.5)

    assert bench.service.times("update") == [1.0, 2.0, 3.0]
    await bench.clock.advance(1.0)
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


@pytest.mark.parametrize("error", GONE, ids=name_of)
async def test_a_renewal_that_finds_the_message_gone_ends_the_renewals_and_settles_nothing(
    error: QueueError,
) -> None:
    bench = running_for(1000.0)
    bench.service.fail("update", error)
    await bench.start("a")

    await bench.clock.advance(1001.0)

    assert bench.service.times("update")[:1] == [300.0]
    first = bench.probe.of(InvocationFinished)[0]
    assert (first.outcome, first.disposition) == (LeaseLost(), "dropped")
    assert bench.service.requests["delete"] == 0
    bench.listener.stop_polling()
    await bench.stop()


async def test_a_lease_that_ran_out_unrenewed_lets_another_take_the_message_and_harms_nobody() -> (
    None
):
    bench = running_for(900.0)
    bench.service.fail("update", BUSY, times=None)
    await bench.start("a")
    await bench.clock.advance(601.0)
    await bench.queue.receive(1, 5000.0)

    await bench.clock.advance(400.0)

    (taken,) = bench.service.peek_all("orders")
    assert taken.dequeue_count == 2
    assert bench.service.counts("orders").visible == 0
    assert bench.probe.of(SettlementFailed) == []
    bench.service.mend()
    await bench.stop()

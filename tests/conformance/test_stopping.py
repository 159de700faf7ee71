"""A listener that stops takes nothing more, and leaves nothing hidden that was not finished."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.events import InvocationFinished, MessageHandedBack, SettlementFailed
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.tries import TriesOfAll
from tests.unit.harness import PLAIN, Bench, fail


class Held:
    """A function that goes on when the test says so, to the end it says."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.end: Outcome = Succeeded()

    async def __call__(self, _message: TriggerMessage) -> Outcome:
        await self.go.wait()
        return self.end


@pytest.mark.parametrize("wait_s", [0.05, 100.0, 3000.0])
async def test_a_stop_ends_the_wait_of_the_back_off(wait_s: float) -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(wait_s)
    polls = bench.service.requests["receive"]

    await bench.stop()

    assert bench.clock.monotonic() == wait_s
    assert bench.service.requests["receive"] == polls


async def test_a_stop_ends_the_wait_for_room() -> None:
    held = Held()
    bench = Bench(held, options=replace(PLAIN, batch_size=1, new_batch_threshold=0))
    await bench.start("a", "b")
    await bench.clock.advance(1.0)

    bench.listener.stop_polling()
    await bench.clock.advance(0.0)
    held.go.set()
    await bench.stop()

    assert (bench.bodies, bench.left()) == ([b"a"], ["b"])
    assert bench.service.peek_all("orders")[0].dequeue_count == 0


async def test_what_ends_while_stopping_is_settled_as_ever() -> None:
    for body, left, poison in ((Held(), [], []), (None, [], ["a"])):
        bench = Bench(body or fail, options=replace(PLAIN, max_dequeue_count=1))
        bench.service.slow("receive", 1.0)
        await bench.start("a")
        await bench.clock.advance(1.0)
        bench.listener.stop_polling()
        if body is not None:
            body.go.set()
        await bench.stop()

        assert bench.left() == left
        assert bench.left("orders-poison") == poison


async def test_a_failure_while_stopping_is_released_for_the_visibility_timeout() -> None:
    held = Held()
    held.end = await fail(None)  # type: ignore[arg-type]  # the message does not matter
    bench = Bench(held, options=replace(PLAIN, visibility_timeout_s=30.0))
    await bench.start("a")
    await bench.clock.advance(1.0)

    bench.listener.stop_polling()
    held.go.set()
    await bench.stop()

    (left,) = bench.service.peek_all("orders")
    assert (left.next_visible - left.inserted).total_seconds() == 31.0


async def test_leases_are_renewed_until_the_last_function_has_ended() -> None:
    held = Held()
    bench = Bench(held)
    await bench.start("a")
    await bench.clock.advance(1.0)
    bench.listener.stop_polling()

    await bench.clock.advance(5000.0)

    assert len(bench.service.times("update")) == 16
    assert bench.service.counts("orders").visible == 0
    held.go.set()
    await bench.stop()
    assert bench.left() == []


async def test_a_receive_under_way_is_awaited_and_what_it_brings_is_handed_back() -> None:
    bench = Bench()
    bench.service.slow("receive", 20.0)
    await bench.start("a", "b")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert bench.clock.monotonic() == 20.0
    assert len(bench.probe.of(MessageHandedBack)) == 2
    assert bench.service.counts("orders").visible == 2
    assert bench.bodies == []


async def test_what_a_reload_hands_back_unstarted_loses_no_try() -> None:
    once, tries = replace(PLAIN, max_dequeue_count=1), TriesOfAll()
    before = Bench(options=once, tries=tries)
    before.service.slow("receive", 20.0)
    await before.start("a")
    await before.clock.advance(1.0)
    await before.stop()
    before.service.slow("receive", 0.0)

    after = Bench(options=once, tries=tries, beside=before)
    await after.start()
    await after.clock.advance(1.0)

    assert (before.bodies, after.bodies, after.left("orders-poison")) == ([], [b"a"], [])
    await after.stop()


async def test_what_is_cut_short_is_visible_again_at_once() -> None:
    bench = Bench(Held())
    await bench.start(*"abc")
    await bench.clock.advance(1.0)
    bench.listener.stop_polling()

    bench.listener.cancel()
    await bench.clock.advance(0.0)

    assert bench.service.counts("orders").visible == 3
    assert (bench.listener.stranded, bench.listener.unsettled) == (0, 0)
    assert bench.probe.of(InvocationFinished) == []


async def test_what_the_service_does_not_take_back_is_counted_and_waits_for_its_lease() -> None:
    bench = Bench(Held())
    await bench.start(*"abc")
    await bench.clock.advance(1.0)
    bench.service.fail("update", QueueUnavailable("down"), times=2)
    bench.listener.stop_polling()

    bench.listener.cancel()
    await bench.clock.advance(5.0)

    assert bench.listener.stranded == 2
    assert bench.service.counts("orders").visible == 1
    await bench.clock.advance(600.0)
    assert bench.service.counts("orders").visible == 3


async def test_handing_back_has_an_end_when_the_service_hangs() -> None:
    bench = Bench(Held())
    await bench.start("a")
    await bench.clock.advance(1.0)
    bench.service.slow("update", 3600.0, times=None)
    bench.listener.stop_polling()

    bench.listener.cancel()
    await bench.clock.run(bench.listener.settled())

    assert bench.clock.monotonic() == pytest.approx(3.0)
    assert bench.listener.stranded == 1


async def test_a_message_that_comes_while_stopping_and_cannot_be_released_is_told() -> None:
    bench = Bench()
    bench.service.slow("receive", 3.0)
    denied = AccessDenied("may not update", status=403, code="AuthorizationPermissionMismatch")
    bench.service.fail("update", denied, times=None)
    await bench.start("a")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert (bench.bodies, bench.left()) == ([], ["a"])
    assert bench.probe.of(MessageHandedBack) == []
    (told,) = bench.probe.of(SettlementFailed)
    assert (told.disposition, told.refused) == ("released", True)

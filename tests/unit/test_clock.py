"""The manual clock: time passes only when told, in order, and everything due runs."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.clock import SystemClock
from qtrigger.testing.clock import ManualClock


async def test_callbacks_run_in_order_of_their_due_times() -> None:
    clock = ManualClock()
    ran: list[tuple[str, float]] = []
    clock.call_later(2.0, lambda: ran.append(("late", clock.monotonic())))
    clock.call_later(1.0, lambda: ran.append(("early", clock.monotonic())))

    await clock.advance(3.0)

    assert ran == [("early", 1.0), ("late", 2.0)]
    assert clock.monotonic() == 3.0


async def test_a_cancelled_callback_never_runs() -> None:
    clock = ManualClock()
    ran: list[int] = []
    timer = clock.call_later(1.0, lambda: ran.append(1))

    timer.cancel()
    await clock.advance(2.0)

    assert ran == []


async def test_an_hour_of_sleeps_takes_no_real_time() -> None:
    clock = ManualClock()

    async def sleeper() -> float:
        for _ in range(60):
            await clock.sleep(60.0)
        return clock.monotonic()

    assert await clock.run(sleeper()) == 3600.0


async def test_wait_ends_with_the_event_or_with_the_time() -> None:
    clock = ManualClock()
    event = asyncio.Event()

    assert await clock.run(clock.wait(event, 5.0)) is False
    clock.call_later(1.0, event.set)
    assert await clock.run(clock.wait(event, 5.0)) is True
    assert clock.monotonic() == 6.0


async def test_timeout_cancels_the_body() -> None:
    clock = ManualClock()

    async def body() -> None:
        async with clock.timeout(3.0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await clock.run(body())
    assert clock.monotonic() == 3.0


async def test_running_without_anything_due_is_a_failure_and_not_a_hang() -> None:
    clock = ManualClock()

    with pytest.raises(AssertionError, match="nothing is due"):
        await clock.run(asyncio.Event().wait())


async def test_the_system_clock_waits_for_events_too() -> None:
    clock = SystemClock()
    event = asyncio.Event()

    assert await clock.wait(event, 0.001) is False
    event.set()
    assert await clock.wait(event, 0.0) is True

"""One timer for many waits."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.overdue import Limit, Overdue
from qtrigger.testing.clock import ManualClock


async def test_what_is_still_there_at_its_time_is_told_once() -> None:
    clock, told = ManualClock(), list[str]()
    overdue = Overdue(clock)
    now = clock.monotonic()
    overdue.add("a", now + 10, lambda: told.append("a"))
    overdue.add("b", now + 20, lambda: told.append("b"))
    overdue.add("c", now + 20, lambda: told.append("c"))
    overdue.remove("b")

    await clock.advance(9.9)
    assert told == []
    await clock.advance(0.1)
    assert told == ["a"]
    await clock.advance(100)
    assert told == ["a", "c"]


async def test_what_is_added_after_all_others_have_ended_is_told_in_time_too() -> None:
    clock, told = ManualClock(), list[str]()
    overdue = Overdue(clock)
    overdue.add("a", clock.monotonic() + 10, lambda: told.append("a"))
    overdue.remove("a")
    await clock.advance(5)
    overdue.add("b", clock.monotonic() + 10, lambda: told.append("b"))
    await clock.advance(9.9)
    assert told == []
    await clock.advance(0.1)
    assert told == ["b"]


async def test_what_is_due_before_what_was_added_earlier_is_told_in_time() -> None:
    clock, told = ManualClock(), list[str]()
    overdue = Overdue(clock)
    now = clock.monotonic()
    overdue.add("a", now + 20, lambda: told.append("a"))
    overdue.add("b", now + 10, lambda: told.append("b"))
    overdue.add("c", now + 15, lambda: told.append("c"))

    await clock.advance(10)
    assert told == ["b"]
    await clock.advance(5)
    assert told == ["b", "c"]
    await clock.advance(5)
    assert told == ["b", "c", "a"]


async def test_who_is_told_may_add_and_remove() -> None:
    clock, told = ManualClock(), list[str]()
    overdue = Overdue(clock)
    now = clock.monotonic()

    def late() -> None:
        told.append("a")
        overdue.remove("b")
        overdue.add("c", now + 30, lambda: told.append("c"))

    overdue.add("a", now + 10, late)
    overdue.add("b", now + 10, lambda: told.append("b"))
    await clock.advance(60)
    assert told == ["a", "c"]


async def test_an_await_over_its_limit_is_a_timeout() -> None:
    clock = ManualClock()
    overdue = Overdue(clock)

    async def wait() -> None:
        with Limit(overdue, clock.monotonic() + 10):
            await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())
    await clock.advance(9.9)
    assert not waiting.done()
    await clock.advance(0.1)
    with pytest.raises(TimeoutError):
        await waiting
    assert waiting.cancelling() == 0


async def test_a_cancellation_by_somebody_else_stays_one() -> None:
    clock = ManualClock()
    overdue = Overdue(clock)

    async def wait() -> None:
        with Limit(overdue, clock.monotonic() + 10):
            await asyncio.Event().wait()

    early, late = asyncio.create_task(wait()), asyncio.create_task(wait())

    def cancel_it() -> None:
        late.cancel()

    await clock.advance(1)
    early.cancel()
    with pytest.raises(asyncio.CancelledError):
        await early
    overdue.add("at once", clock.monotonic() + 9, cancel_it)
    await clock.advance(9)
    with pytest.raises(asyncio.CancelledError):
        await late


async def test_what_ends_within_its_limit_leaves_nothing_behind() -> None:
    clock = ManualClock()
    overdue = Overdue(clock)
    with Limit(overdue, clock.monotonic() + 10):
        await asyncio.sleep(0)
    with pytest.raises(ValueError, match="mine"), Limit(overdue, clock.monotonic() + 10):
        raise ValueError("mine")
    await clock.advance(100)

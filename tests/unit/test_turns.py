"""Lanes come with messages, and go with the last one of a value."""

from __future__ import annotations

import asyncio

from qtrigger.invocation import Interrupted, Succeeded
from qtrigger.retrying import Ended
from qtrigger.testing.clock import settle
from qtrigger.turns import Turns

NEVER_TOLD = list[str]()


async def test_no_value_is_kept_once_its_last_message_has_run() -> None:
    turns, go, lost = Turns("$.id", NEVER_TOLD.append), asyncio.Event(), asyncio.Event()

    async def work() -> Ended:
        await go.wait()
        return Ended(outcome=Succeeded(), duration_s=0.0)

    runs = [
        asyncio.ensure_future(turns.run(b'{"id": %d}' % (number % 50), lost, work))
        for number in range(100)
    ]
    await settle()
    assert turns.values == 50

    go.set()
    await asyncio.wait(runs)
    assert turns.values == 0


async def test_none_is_kept_after_a_stop_or_when_the_waits_are_given_up() -> None:
    turns, lost = Turns("$.id", NEVER_TOLD.append), asyncio.Event()

    async def work() -> Ended:
        await asyncio.Event().wait()
        raise AssertionError

    runs = [asyncio.ensure_future(turns.run(b'{"id": 1}', lost, work)) for _ in range(3)]
    await settle()
    runs[1].cancel()
    await settle()
    turns.stop()
    await settle()
    assert runs[2].result().outcome == Interrupted()

    runs[0].cancel()
    await settle()
    assert turns.values == 0
    assert (await turns.run(b'{"id": 1}', lost, work)).outcome == Interrupted()
    assert turns.values == 0

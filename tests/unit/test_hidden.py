"""At a start it is told how many messages others hold, where that can be known."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied
from qtrigger.events import MessagesHidden
from qtrigger.hidden import tell_hidden
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from tests.unit.harness import PLAIN, Bench


async def told(bench: Bench) -> list[int]:
    """Start, and say which numbers were told."""
    await bench.start()
    task = asyncio.ensure_future(tell_hidden(bench.listener, 600.0, bench.probe))
    await bench.clock.advance(1.0)
    assert task.done()
    await bench.stop()
    return [event.count for event in bench.probe.of(MessagesHidden)]


async def filled(bench: Bench, taken: int, free: int) -> Bench:
    await bench.queue.create()
    for number in range(taken + free):
        await bench.queue.send(str(number))
    if taken:
        await bench.queue.receive(taken, 300.0)
    return bench


@pytest.mark.parametrize(("taken", "free", "numbers"), [(3, 0, [3]), (3, 2, [3]), (0, 5, [])])
async def test_messages_of_others_are_told_and_not_those_taken_here(
    taken: int, free: int, numbers: list[int]
) -> None:
    assert await told(await filled(Bench(), taken, free)) == numbers


async def test_while_messages_are_visible_nothing_can_be_said() -> None:
    bench = Bench(options=replace(PLAIN, batch_size=1, new_batch_threshold=0))
    released = asyncio.Event()

    async def waits(_message: TriggerMessage) -> Outcome:
        await bench.clock.wait(released, 0.5)
        return Succeeded()

    bench.body = waits

    assert await told(await filled(bench, 3, 2)) == []


async def test_what_runs_here_is_none_of_others() -> None:
    bench = Bench()

    async def lasts(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(30.0)
        return Succeeded()

    bench.body = lasts

    assert await told(await filled(bench, 1, 4)) == [1]


async def test_a_queue_that_is_not_there_or_may_not_be_looked_at_is_passed_over() -> None:
    missing = Bench()
    missing.service.fail("exists", AccessDenied("no", status=403))
    assert await told(missing) == []

    refused = await filled(Bench(), 2, 0)
    refused.service.fail("peek", AccessDenied("no", status=403))
    assert await told(refused) == []

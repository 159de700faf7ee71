"""The first process of a container takes leave of children that nobody else asks after."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from qtrigger import orphans
from qtrigger.orphans import LOOK_S, Ended, ended_children, reap
from qtrigger.testing.clock import ManualClock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of them")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A child that ends when its input does."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as made:
        yield made


def end(child: subprocess.Popen[bytes]) -> Ended:
    """End it without asking for its end, and say what stands in the table."""
    assert child.stdin is not None
    child.stdin.close()
    for _ in range(10_000):
        for each in ended_children():
            if each[0] == child.pid:
                return each
    raise AssertionError("it has not ended")


def test_a_child_is_found_once_it_has_ended(child: subprocess.Popen[bytes]) -> None:
    assert child.pid not in {pid for pid, _ in ended_children()}

    end(child)

    child.wait(10.0)
    assert child.pid not in {pid for pid, _ in ended_children()}


async def test_what_stays_ended_from_one_look_to_the_next_is_reaped(
    child: subprocess.Popen[bytes],
) -> None:
    clock = ManualClock()
    mine = end(child)
    task = asyncio.ensure_future(reap(clock, ended=lambda: ended_children() & {mine}))

    await clock.advance(LOOK_S)
    assert mine in ended_children()  # whoever began it may be about to ask
    await clock.advance(LOOK_S)

    assert mine not in ended_children()
    task.cancel()


async def test_one_that_another_asks_for_in_time_is_left_to_it(
    child: subprocess.Popen[bytes],
) -> None:
    clock = ManualClock()
    mine = end(child)
    later = (mine[0], mine[1] + 1)  # the same number, of another process
    looks = [{mine}, {later}, set[Ended]()]
    task = asyncio.ensure_future(reap(clock, ended=lambda: looks.pop(0)))

    for _ in range(3):
        await clock.advance(LOOK_S)

    assert child.wait(10.0) == 0
    task.cancel()


async def test_one_that_is_gone_by_itself_does_no_harm(child: subprocess.Popen[bytes]) -> None:
    clock = ManualClock()
    mine = end(child)
    child.wait(10.0)
    task = asyncio.ensure_future(reap(clock, ended=lambda: {mine}))

    await clock.advance(3 * LOOK_S)

    assert not task.done()
    task.cancel()


async def test_nothing_is_reaped_by_any_other_process_than_the_first() -> None:
    assert orphans.reap_if_first(ManualClock()) is None

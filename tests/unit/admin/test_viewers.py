"""One look a second for all viewers, and no more than that for the host and its service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from qtrigger.admin.dashboard.viewers import MOST_VIEWERS, Viewers
from qtrigger.admin.route import Asked, Refusal, Stream
from qtrigger.testing.clock import ManualClock
from tests.browser.stage import Stage


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stage(clock: ManualClock) -> Stage:
    return Stage("charge", clock=clock)


@pytest.fixture
def viewers(stage: Stage) -> Viewers:
    return stage.dashboard._viewers


async def told(stream: AsyncIterator[bytes]) -> dict[str, Any]:
    """The next event of a stream, its id with it."""
    async for chunk in stream:
        if b"data: " in chunk:
            fields = dict(each.split(": ", 1) for each in chunk.decode().splitlines() if each)
            return {**json.loads(fields["data"]), "id": fields["id"]}
    raise StopAsyncIteration


async def test_a_viewer_is_told_all_then_what_changes(
    clock: ManualClock, stage: Stage, viewers: Viewers
) -> None:
    stream = viewers.stream()
    first = await told(stream)
    assert first["whole"]
    assert first["cells"]["f.charge.succeeded"] == "0"
    stage.ran("charge")
    await clock.advance(1.0)
    second = await told(stream)
    assert not second["whole"]
    assert second["cells"]["f.charge.succeeded"] == "1"
    assert "f.charge.failed" not in second["cells"]
    await stream.aclose()


async def test_one_look_is_shared_by_all(
    clock: ManualClock, stage: Stage, viewers: Viewers
) -> None:
    streams = [viewers.stream() for _ in range(MOST_VIEWERS)]
    for stream in streams:
        await told(stream)
    before = stage.documents
    await clock.advance(1.0)
    events = [await told(stream) for stream in streams]
    assert len({event["id"] for event in events}) == 1
    assert stage.documents - before <= 1
    viewers.close()


async def test_the_service_is_asked_every_five_seconds_and_only_while_somebody_looks(
    clock: ManualClock, stage: Stage, viewers: Viewers
) -> None:
    await clock.advance(20.0)
    assert stage.lengths == 0
    stream = viewers.stream()
    await told(stream)
    for _ in range(10):
        await clock.advance(1.0)
        await told(stream)
    assert 2 <= stage.lengths <= 3
    await stream.aclose()
    asked, looked = stage.lengths, stage.documents
    await clock.advance(60.0)
    assert (stage.lengths, stage.documents) == (asked, looked)


async def test_who_comes_back_gets_what_was_missed_and_no_more(
    clock: ManualClock, stage: Stage, viewers: Viewers
) -> None:
    other = viewers.stream()  # keeps the looks going
    await told(other)
    stream = viewers.stream()
    last = (await told(stream))["id"]
    await stream.aclose()
    stage.ran("charge")
    await clock.advance(1.0)
    await told(other)
    missed = await told(viewers.stream(last))
    assert not missed["whole"]
    assert missed["cells"]["f.charge.succeeded"] == "1"
    viewers.close()


@pytest.mark.parametrize("last", ["", "x", "1", "feedbeef-1", "-", "\u0665", "-" + "9" * 400])
async def test_who_names_no_event_of_ours_gets_everything(viewers: Viewers, last: str) -> None:
    assert (await told(viewers.stream(last)))["whole"]
    viewers.close()


async def test_a_slow_viewer_is_let_go(clock: ManualClock, viewers: Viewers) -> None:
    quick, slow = viewers.stream(), viewers.stream()
    await told(quick)
    await told(slow)
    for _ in range(6):
        await clock.advance(1.0)
        await told(quick)
    assert len(viewers) == 1
    with pytest.raises(StopAsyncIteration):
        await told(slow)
    viewers.close()


async def test_there_are_sixteen_viewers_at_most(stage: Stage, viewers: Viewers) -> None:
    streams = [viewers.stream() for _ in range(MOST_VIEWERS)]
    for stream in streams:
        await told(stream)
    with pytest.raises(Refusal) as refused:
        await stage.dashboard._events(Asked())
    assert refused.value.status == 503
    with pytest.raises(StopAsyncIteration):
        await told(viewers.stream())
    await streams[0].aclose()
    assert isinstance(await stage.dashboard._events(Asked()), Stream)
    viewers.close()


async def test_a_viewer_hears_that_the_host_is_there_when_nothing_can_be_told(
    clock: ManualClock, stage: Stage, viewers: Viewers
) -> None:
    stream = viewers.stream()
    await told(stream)
    async with stage.dashboard.looking._lock:  # a look that does not end
        waiting = asyncio.ensure_future(anext(stream))
        await clock.advance(5.5)
        assert await waiting == b": still here\n\n"
    viewers.close()

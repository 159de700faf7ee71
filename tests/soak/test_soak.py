"""A short soak adds up, and the rule for flatness tells what grows from what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak.figures import GROWTH_MB, MORE_FILES, MOST_SOCKETS, Sample, Track
from tests.soak.soak import run

TOTAL = 1_000
STEADY = [Sample(n, 40.0 + n % 3, files=9, sockets=20, threads=4) for n in range(0, TOTAL, 10)]


def track(samples: list[Sample]) -> Track:
    return Track(TOTAL, samples)


def grown(sample: Sample, mb: float) -> Sample:
    """As much larger as it would be at that point, when all messages together cost `mb`."""
    return replace(sample, rss_mb=sample.rss_mb + mb * sample.messages / TOTAL)


def test_a_process_that_stays_as_it_is_is_flat() -> None:
    assert track(STEADY).flat
    assert abs(track(STEADY).growth_mb) < 0.5


def test_a_process_that_grows_with_its_messages_is_not() -> None:
    assert not track([grown(sample, 2 * GROWTH_MB) for sample in STEADY]).flat
    assert track([grown(sample, GROWTH_MB / 2) for sample in STEADY]).flat


def test_what_a_process_takes_before_a_fifth_of_its_messages_does_not_count() -> None:
    started = [replace(s, rss_mb=10.0) if s.messages < TOTAL / 10 else s for s in STEADY]

    assert track(started).flat


@pytest.mark.parametrize("what", ["files", "threads"])
def test_files_and_threads_that_stay_open_are_not_flat(what: str) -> None:
    more = {what: getattr(STEADY[0], what) + MORE_FILES + 1}
    late = [replace(s, **more) if s.messages > TOTAL / 2 else s for s in STEADY]

    assert not track(late).flat


def test_sockets_may_come_and_go_within_what_a_pool_holds() -> None:
    busy = [replace(s, sockets=s.messages % MOST_SOCKETS) for s in STEADY]

    assert track(busy).flat
    assert not track([*busy, replace(busy[-1], sockets=MOST_SOCKETS + 1)]).flat


def test_nothing_is_said_of_a_process_that_was_not_looked_at() -> None:
    assert not track([]).flat


async def test_a_short_soak_with_reloads_adds_up(tmp_path: Path) -> None:
    soaked = await run(tmp_path, messages=3_000, reloads=2, every_s=0.2)

    assert soaked.complete, "\n".join(soaked.lines())
    assert {name for name, track in soaked.tracks.items() if track.samples} == {
        "host",
        "worker",
        "emulator",
    }

"""The file of pauses: what is written is read again, and two who write lose nothing."""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from qtrigger.errors import ProjectError
from qtrigger.pauses import Pause, PauseFile, state_folder
from qtrigger.testing.clock import START, ManualClock


def pause(function: str, *, for_s: float | None = None) -> Pause:
    until = None if for_s is None else START + timedelta(seconds=for_s)
    return Pause(function=function, since=START, until=until, reason="down", by="ann@box")


@pytest.fixture
def file(tmp_path: Path) -> PauseFile:
    return PauseFile(tmp_path / "state")


async def test_what_is_written_is_read_again(file: PauseFile) -> None:
    clock, first, second = ManualClock(), pause("charge"), pause("Refund", for_s=60.0)

    await file.pause(first, clock)
    await file.pause(second, clock)

    assert dict(file.read().pauses) == {"charge": first, "refund": second}
    assert file.read().of("REFUND", START) == second


async def test_a_text_that_is_no_unicode_is_written_all_the_same(file: PauseFile) -> None:
    odd = replace(pause("charge"), reason="down\udcff", by="ann\ud800")

    await file.pause(odd, ManualClock())

    (read,) = file.read().pauses.values()
    assert (read.reason, read.by) == ("down\\udcff", "ann\\ud800")


async def test_what_others_have_written_can_be_shown(file: PauseFile) -> None:
    await file.pause(pause("charge"), ManualClock())
    content = json.loads(file.path.read_text())
    content["paused"]["charge"]["reason"] = "down\ud800"
    file.path.write_text(json.dumps(content))

    (read,) = file.read().pauses.values()
    assert read.in_words().encode().endswith(rb": down\ud800")


async def test_a_second_pause_stands_in_the_place_of_the_first(file: PauseFile) -> None:
    clock = ManualClock()
    await file.pause(pause("charge"), clock)

    await file.pause(pause("CHARGE", for_s=5.0), clock)

    assert list(file.read().pauses.values()) == [pause("CHARGE", for_s=5.0)]


async def test_a_pause_whose_time_is_over_holds_no_more_and_is_swept_out(file: PauseFile) -> None:
    clock = ManualClock()
    await file.pause(pause("charge", for_s=60.0), clock)
    await clock.advance(60.0)

    assert file.read().of("charge", clock.utcnow()) is None
    await file.pause(pause("refund"), clock)
    assert list(file.read().pauses) == ["refund"]


async def test_each_resume_leaves_a_mark_of_its_own(file: PauseFile) -> None:
    clock = ManualClock()

    assert await file.resume("charge", clock) is None
    first = file.read().resumed["charge"]
    await clock.advance(1.0)
    await file.resume("charge", clock)

    assert file.read().resumed["charge"] != first


async def test_each_write_gives_another_stamp(file: PauseFile) -> None:
    clock = ManualClock()
    stamps = [file.stamp()]
    for name in ("charge", "refund", "charge"):
        await file.pause(pause(name), clock)
        stamps.append(file.stamp())

    assert all(one != other for one, other in itertools.pairwise(stamps))
    assert file.stamp() == stamps[-1]


async def test_of_many_who_write_at_once_none_loses_what_it_wrote(file: PauseFile) -> None:
    clock = ManualClock()
    names = [f"f{number}" for number in range(20)]

    writes = asyncio.gather(
        *(PauseFile(file.path.parent).pause(pause(each), clock) for each in names)
    )
    await clock.run(writes)

    assert sorted(file.read().pauses) == sorted(names)


async def test_a_lock_that_another_process_keeps_is_an_error_and_no_wait(file: PauseFile) -> None:
    clock = ManualClock()
    await file.pause(pause("charge"), clock)
    held = os.open(file.path.parent / "lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)

    with pytest.raises(ProjectError, match="held by another process"):
        await clock.run(file.resume("charge", clock), limit_s=10.0)
    os.close(held)
    assert (await file.resume("charge", clock)) is not None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"version": 2}',
        '{"version": 1, "paused": []}',
        '{"version": 1, "paused": {"charge": {}}}',
        '{"version": 1, "paused": {"charge": {"since": "soon"}}}',
        '{"version": 1, "paused": {"charge": {"since": "2026-01-01T00:00:00"}}}',
        b"\xff\xfe".decode("latin-1"),
        "[" * 100_000,
    ],
)
async def test_a_broken_file_pauses_nothing_and_says_why(file: PauseFile, content: str) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(content.encode("latin-1"))

    written = file.read()
    assert not written.pauses
    assert str(file.path) in written.problem

    await file.pause(pause("charge"), ManualClock())
    assert list(file.read().pauses) == ["charge"]
    assert file.path.with_suffix(".broken").read_bytes() == content.encode("latin-1")


async def test_what_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")

    with pytest.raises(ProjectError, match="QTRIGGER_STATE"):
        await PauseFile(tmp_path / "state").pause(pause("charge"), ManualClock())


def test_no_file_pauses_nothing(file: PauseFile) -> None:
    assert (file.read().pauses, file.read().problem, file.stamp()) == ({}, "", None)


async def test_the_folder_is_kept_out_of_repositories(file: PauseFile) -> None:
    await file.pause(pause("charge"), ManualClock())

    assert (file.path.parent / ".gitignore").read_text() == "*\n"
    assert json.loads(file.path.read_text())["version"] == 1


def test_the_state_is_within_the_project_or_where_it_is_said_to_be(tmp_path: Path) -> None:
    assert state_folder(tmp_path, None) == tmp_path / ".qtrigger"
    assert state_folder(tmp_path, "/var/lib/orders") == Path("/var/lib/orders")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for others")
async def test_what_root_writes_belongs_to_whom_the_state_folder_does(file: PauseFile) -> None:
    file.path.parent.mkdir()
    os.chown(file.path.parent, 12345, 12346)

    await file.pause(pause("charge"), ManualClock())

    for written in (file.path, file.path.with_name("lock")):
        assert (written.stat().st_uid, written.stat().st_gid) == (12345, 12346)

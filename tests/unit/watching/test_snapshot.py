"""Files that change while they are looked at."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from qtrigger.watching.rules import Rules
from qtrigger.watching.snapshot import FRESH_NS, Snapshot, differing, take


def later_ns() -> int:
    """A time at which what stands on the disk by now has been there for long."""
    return time.time_ns() + 2 * FRESH_NS


@pytest.mark.parametrize("known", [True, False])
def test_a_file_saved_between_its_stamp_and_its_reading_is_told(
    tmp_path: Path, *, known: bool
) -> None:
    """`known` says whether its content had been read before."""
    code = tmp_path / "a.py"
    code.write_text("x = 1\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.py").write_text("")
    before = take(tmp_path, Rules(), Snapshot(), now_ns=later_ns(), read=known)
    assert before is not None

    def saves(path: str) -> bool:
        # The folder below is walked once the stamps above it are taken; files are read after that.
        if path == "sub/b.py":
            code.write_text("x = 22\n")
        return False

    found = take(tmp_path, Rules(ignored=saves), before, now_ns=later_ns(), read=True)
    assert found is not None
    after = take(tmp_path, Rules(), found, now_ns=later_ns(), read=True)
    assert after is not None
    assert differing(before, found) | differing(found, after) == {"a.py"}
    again = take(tmp_path, Rules(), after, now_ns=later_ns(), read=True)
    assert again is not None
    assert differing(after, again) == frozenset()


def test_a_file_just_written_is_read_at_once_because_its_stamp_proves_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    fresh = take(tmp_path, Rules(), Snapshot(), now_ns=time.time_ns(), read=False)
    old = take(tmp_path, Rules(), Snapshot(), now_ns=later_ns(), read=False)
    assert fresh is not None
    assert old is not None
    assert fresh.files["a.py"].digest
    assert not old.files["a.py"].digest

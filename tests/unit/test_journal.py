"""The journal of failures: what is written is found by any of its ids, and it never gets large."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from qtrigger import journal_file
from qtrigger.journal import FailedTry, JournalFile, PoisonCopy
from qtrigger.journal_file import JournalLimits, JournalWriter
from qtrigger.testing.clock import START

NOW = START.timestamp()


def failed(message_id: str = "m-1", number: int = 1, **other: object) -> FailedTry:
    plain = FailedTry(
        function="charge",
        queue="orders",
        message_id=message_id,
        invocation_id=f"run-{number}",
        dequeue_count=number,
        at=START,
        duration_s=0.25,
        outcome="failed",
        error_type="ValueError",
        error_message="no",
        place="charge/__init__.py:7",
        traceback="Traceback …",
        lines=("INFO orders: one", "two"),
    )
    return replace(plain, **other)  # type: ignore[arg-type]


def copy(poison_id: str = "p-1", message_id: str = "m-1", function: str = "charge") -> PoisonCopy:
    return PoisonCopy(
        poison_id=poison_id,
        poison_queue="orders-poison",
        message_id=message_id,
        function=function,
        queue="orders",
        at=START,
    )


class Written:
    """A journal, and a way to put records into it and to have them on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[str] = []
        self.limits = JournalLimits()

    def put(self, *records: FailedTry | PoisonCopy, now: float = NOW) -> JournalFile:
        writer = JournalWriter(
            self.folder, warn=self.warnings.append, limits=self.limits, now=lambda: now
        )
        for record in records:
            writer.put(record)
        writer.close(10.0)
        return JournalFile(self.folder)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "state")


def test_tries_are_found_by_the_message_and_by_its_copy_oldest_first(written: Written) -> None:
    first, second = failed(), failed(number=2)

    file = written.put(first, failed("m-2"), second, copy())

    assert file.tries_of("m-1") == (first, second)
    assert file.tries_of("p-1") == (first, second)


def test_nothing_is_known_without_a_file_and_none_is_made_by_looking(tmp_path: Path) -> None:
    file = JournalFile(tmp_path / "state")

    assert (file.tries_of("m-1"), file.recent(), file.ids_like("m")) == ((), (), ())
    assert (file.function_of_copy("p-1"), file.problem) == (None, "")
    assert list(tmp_path.iterdir()) == []


def test_a_host_without_failures_makes_neither_file_nor_thread(written: Written) -> None:
    before = threading.active_count()
    JournalWriter(written.folder, warn=written.warnings.append)

    assert threading.active_count() == before
    assert not written.folder.exists()


def test_the_folder_keeps_itself_out_of_a_repository(written: Written) -> None:
    written.put(failed())

    assert (written.folder / ".gitignore").read_text() == "*\n"


def test_the_newest_come_first_of_all_functions_or_of_one(written: Written) -> None:
    other = failed("m-3", function="refund")
    file = written.put(failed("m-1"), other, failed("m-2"))

    assert [each.message_id for each in file.recent(limit=2)] == ["m-2", "m-3"]
    assert file.recent(function="refund") == (other,)


def test_a_beginning_finds_ids_of_messages_and_of_copies(written: Written) -> None:
    file = written.put(failed("ab-1"), failed("ab%2"), failed("b-1"), copy("ab-9", "b-1"))

    assert file.ids_like("ab") == ("ab%2", "ab-1", "ab-9")
    assert file.ids_like("ab%") == ("ab%2",)
    assert file.ids_like("c") == ()


def test_a_copy_in_a_shared_poison_queue_says_whose_it_was(written: Written) -> None:
    file = written.put(copy("p-1", function="charge"), copy("p-2", "m-2", "refund"))

    assert file.function_of_copy("p-2") == "refund"
    assert file.copy_of("p-2") == copy("p-2", "m-2", "refund")
    assert file.copies_of("m-1") == (copy("p-1"),)
    assert file.function_of_copy("m-1") is None


def test_only_so_many_tries_are_kept(written: Written) -> None:
    written.limits = JournalLimits(max_entries=3)

    file = written.put(*(failed(f"m-{number}") for number in range(10)))

    assert [each.message_id for each in file.recent()] == ["m-9", "m-8", "m-7"]


def test_what_is_too_old_goes_with_the_next_try(written: Written) -> None:
    written.limits = JournalLimits(max_age_s=60.0)
    written.put(failed("old"), copy("p-old", "old"))
    late = failed("new", at=START + timedelta(seconds=61))

    file = written.put(late, now=NOW + 61)

    assert file.recent() == (late,)
    assert file.copy_of("p-old") is None


def test_large_tries_push_the_oldest_out(written: Written) -> None:
    written.limits = JournalLimits(max_bytes=10_000)

    file = written.put(*(failed(f"m-{number}", traceback="x" * 4000) for number in range(5)))

    assert [each.message_id for each in file.recent()] == ["m-4", "m-3"]


def test_a_text_that_is_no_unicode_is_written_all_the_same(written: Written) -> None:
    file = written.put(failed(error_message="no\udcff", lines=("a\ud800",)))

    (read,) = file.recent()
    assert (read.error_message, read.lines) == ("no\\udcff", ("a\ud800",))


@pytest.mark.parametrize(
    "content", [b"no database at all " * 100, b"SQLite format 3\0garbage" * 99]
)
def test_a_broken_file_is_moved_aside_with_one_warning(written: Written, content: bytes) -> None:
    written.folder.mkdir()
    path = written.folder / "journal.sqlite"
    path.write_bytes(content)

    file = written.put(failed(), failed(number=2))

    assert len(file.recent()) == 2
    assert path.with_suffix(".broken").read_bytes() == content
    (warning,) = written.warnings
    assert "journal.broken" in warning


def test_a_broken_file_is_no_error_for_who_reads(written: Written) -> None:
    written.folder.mkdir()
    (written.folder / "journal.sqlite").write_bytes(b"no database at all " * 100)
    file = JournalFile(written.folder)

    assert file.recent() == ()
    assert "journal.sqlite cannot be read" in file.problem


def test_the_file_of_a_later_version_is_kept_aside(written: Written) -> None:
    file = written.put(failed())
    with sqlite3.connect(file.path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    assert file.recent() == ()

    assert len(written.put(failed(number=2)).recent()) == 1
    assert file.path.with_suffix(".broken").exists()


def test_a_folder_that_cannot_be_made_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    written = Written(tmp_path / "file" / "state")

    file = written.put(failed(), failed(number=2))

    assert file.recent() == ()
    (warning,) = written.warnings
    assert "cannot be written" in warning


def test_a_file_that_is_removed_under_a_host_is_begun_anew(written: Written) -> None:
    writer = JournalWriter(written.folder, warn=written.warnings.append, now=lambda: NOW)
    writer.put(failed())
    file = JournalFile(written.folder)
    assert _soon(lambda: len(file.recent()) == 1)
    for each in written.folder.iterdir():
        each.unlink()

    writer.put(failed("m-2"))
    writer.close(10.0)

    assert [each.message_id for each in file.recent()] == ["m-2"]
    assert written.warnings == []


def test_two_hosts_write_one_file_and_lose_nothing(written: Written) -> None:
    hosts = [
        JournalWriter(written.folder, warn=written.warnings.append, now=lambda: NOW)
        for _ in range(2)
    ]
    for number in range(100):
        for name, host in enumerate(hosts):
            host.put(failed(f"{name}-{number}"))
    for host in hosts:
        host.close(10.0)

    file = JournalFile(written.folder)
    assert len(file.recent(limit=1000)) == 200
    assert written.warnings == []


def test_what_cannot_be_written_waits_and_costs_the_oldest_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    warned = threading.Event()
    warnings: list[str] = []

    def warn(text: str) -> None:
        warnings.append(text)
        warned.set()

    folder = tmp_path / "file" / "state"
    writer = JournalWriter(folder, warn=warn, now=lambda: NOW)
    more = journal_file.MOST_WAITING + 50
    for number in range(more):
        writer.put(failed(f"m-{number}"))
    assert warned.wait(10.0)
    (tmp_path / "file").unlink()

    writer.close(10.0)

    kept = [each.message_id for each in JournalFile(folder).recent(limit=2 * more)]
    assert kept == [f"m-{number}" for number in range(more - 1, 49, -1)]
    assert len(warnings) == 1


KILLED = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from qtrigger.journal import JournalFile
from qtrigger.journal_file import JournalWriter
from tests.unit.test_journal import NOW, failed
writer = JournalWriter(Path({folder!r}), warn=print, now=lambda: NOW)
for number in range(500):
    writer.put(failed(f"m-{{number:03}}"))
    while number == 0 and not JournalFile(Path({folder!r})).recent():
        time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_host_that_is_killed_leaves_a_readable_file(written: Written) -> None:
    root = str(Path(__file__).parents[2])
    code = KILLED.format(root=root, folder=str(written.folder))

    killed = subprocess.run([sys.executable, "-c", code], timeout=30, check=False)

    assert killed.returncode == -9
    file = JournalFile(written.folder)
    assert "m-000" in [each.message_id for each in file.recent(limit=1000)]
    assert file.problem == ""
    assert len(written.put(failed("after")).tries_of("after")) == 1


def _soon(is_so: object) -> bool:
    assert callable(is_so)
    gone = threading.Event()
    return any(is_so() or gone.wait(0.01) for _ in range(1000)) and bool(is_so())

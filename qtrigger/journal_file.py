"""Writes the journal of failures, from a thread of its own and within bounds.

Owns the file's bounds, and what a full disk, a folder that cannot be written or a broken file
comes to: one warning, while whoever has something to write goes on as ever. Several hosts may
write one file. Knows no events; the file's shape is `journal`'s.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qtrigger.journal import BUSY_S, FILE, SHAPE, VERSION, FailedTry, PoisonCopy
from qtrigger.state import make_folder

Record = FailedTry | PoisonCopy

# What comes while the disk is slow; beyond it the oldest is given up.
MOST_WAITING: Final = 1000
# Records that follow each other within this time are written together.
TOGETHER_S: Final = 0.05
# After a fault of the file, so long until it is tried again.
FAULT_PAUSE_S: Final = 5.0
# What is past the bounds goes after so many records, and at least so often.
TRIM_EVERY: Final = 200
TRIM_EVERY_S: Final = 3600.0
# While another has a new file in hand.
LOOK_S: Final = 0.01
# For what is still to be written at an end.
CLOSE_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLimits:
    """How much is kept: the newest tries by number, by age in seconds, and by size in bytes."""

    max_entries: int = 10_000
    max_age_s: float = 30 * 86_400.0
    max_bytes: int = 64 * 1024 * 1024


class JournalWriter:
    """Takes records without ever waiting, and writes them into the journal in `folder`.

    `warn` is told once, from the writing thread, why nothing can be written; `now` is the time in
    seconds since 1970. Neither the thread, the folder nor the file is there before the first
    record. `limits` may be replaced at any time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        warn: Callable[[str], None],
        limits: JournalLimits = JournalLimits(),
        now: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits
        self._warn = warn
        self._now = now
        self._file = _File(folder)
        self._waiting: deque[Record] = deque(maxlen=MOST_WAITING)
        self._warned = False
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._until_trim = 0
        self._trim_at = 0.0

    def put(self, record: Record) -> None:
        """Take one record, for soon."""
        self._waiting.append(record)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
            self._thread.start()
        self._woken.set()

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Write what is waiting, for `timeout_s` seconds at most, and end the thread."""
        if self._thread is not None:
            self._closing.set()
            self._woken.set()
            self._thread.join(timeout_s)

    def _run(self) -> None:
        closing = False
        unwritten: list[Record] = []
        while not closing:
            self._woken.wait()
            self._woken.clear()  # before looking: what comes after that wakes it again
            closing = self._closing.is_set()
            came = [self._waiting.popleft() for _ in range(len(self._waiting))]
            unwritten = [*unwritten, *came][-MOST_WAITING:]
            if not unwritten:
                continue
            if self._written(unwritten):
                unwritten = []
                self._closing.wait(TOGETHER_S)
            else:
                self._closing.wait(FAULT_PAUSE_S)
                self._woken.set()
        self._file.close()

    def _written(self, records: Sequence[Record]) -> bool:
        try:
            moved = self._file.write(records)
            self._trim(len(records))
        except (sqlite3.Error, OSError) as error:
            self._file.close()
            self._complain(
                f"{self._file.path} cannot be written ({error}), so why messages fail is not "
                "kept for now; qtrigger goes on without, and tries again"
            )
            return False
        if moved:
            self._complain(moved)
        return True

    def _trim(self, written: int) -> None:
        self._until_trim -= written
        now = self._now()
        if self._until_trim <= 0 or now >= self._trim_at:
            self._until_trim, self._trim_at = TRIM_EVERY, now + TRIM_EVERY_S
            self._file.trim(self.limits, now)

    def _complain(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(text)


class _File:
    """The open file; opened anew when somebody has removed or replaced it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def write(self, records: Sequence[Record]) -> str:
        """Write them all or none; say what was moved aside for it, "" when nothing was.

        Raises sqlite3.Error or OSError.
        """
        try:
            self._insert(records)
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                raise
            moved = self._move_aside(error)
            self._insert(records)
            return moved
        return ""

    def trim(self, limits: JournalLimits, now: float) -> None:
        """Remove what is past the limits, the oldest first."""
        assert self._connection is not None
        with self._connection as connection:
            for table in ("tries", "copies"):
                connection.execute(f"DELETE FROM {table} WHERE at < ?", (now - limits.max_age_s,))  # noqa: S608
                connection.execute(
                    f"DELETE FROM {table} WHERE id <= "  # noqa: S608
                    f"(SELECT id FROM {table} ORDER BY id DESC LIMIT 1 OFFSET ?)",
                    (limits.max_entries,),
                )
            connection.execute(
                "DELETE FROM tries WHERE id <= (SELECT max(id) FROM (SELECT id, "
                "sum(size) OVER (ORDER BY id DESC) AS newer FROM tries) WHERE newer > ?)",
                (limits.max_bytes,),
            )

    def close(self) -> None:
        """Let go of the file, as far as it can be."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _insert(self, records: Sequence[Record]) -> None:
        connection = self._opened()
        with connection:
            connection.executemany(
                "INSERT INTO tries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_try_row(each) for each in records if isinstance(each, FailedTry)],
            )
            connection.executemany(
                "INSERT INTO copies VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                [_copy_row(each) for each in records if isinstance(each, PoisonCopy)],
            )

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and _inode(self.path) == self._inode:
            return self._connection
        self.close()
        make_folder(self.path.parent)
        # What user code says in its errors is for whoever runs it.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_S, check_same_thread=False)
        try:
            _shape(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._inode = connection, _inode(self.path)
        return connection

    def _move_aside(self, why: sqlite3.DatabaseError) -> str:
        """Keep a broken file under another name; another host may have done so before us."""
        was = self._inode if self._connection is not None else _inode(self.path)
        self.close()
        aside = self.path.with_suffix(".broken")
        if _inode(self.path) == was:
            self.path.replace(aside)
            for ending in ("-wal", "-shm"):
                self.path.with_name(FILE + ending).unlink(missing_ok=True)
        return f"{self.path} was broken ({why}) and is now {aside.name}; a new one is begun"


class _OtherShapeError(sqlite3.DatabaseError):
    """The file is another version's."""


def _shape(connection: sqlite3.Connection) -> None:
    _to_log(connection)
    # A host that is killed loses nothing; a machine that loses its power may lose the last ones.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    if _version(connection) == 0:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection) == 0:  # nobody else has made it meanwhile
                for statement in SHAPE.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
    if _version(connection) != VERSION:
        raise _OtherShapeError(f"its shape is that of version {_version(connection)}")


def _to_log(connection: sqlite3.Connection) -> None:
    """Have changes written to a log beside the file, so that who reads is in nobody's way.

    SQLite gives this up at once, and not after the time-out, while somebody else has a new file
    in hand.
    """
    until = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() >= until:
                raise
            time.sleep(LOOK_S)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is bad; all that may pass by itself is an OperationalError."""
    return type(error) in (sqlite3.DatabaseError, _OtherShapeError)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _try_row(each: FailedTry) -> tuple[object, ...]:
    lines = json.dumps(each.lines)
    texts = (each.error_type, each.error_message, each.place, each.traceback, lines)
    numbers = (each.at.timestamp(), sum(map(len, texts)))
    names = (each.message_id, each.function, each.queue, each.invocation_id)
    run = (each.dequeue_count, each.duration_s, each.outcome)
    return (*numbers, *names, *run, *map(_writable, texts))


def _copy_row(each: PoisonCopy) -> tuple[object, ...]:
    names = (each.poison_id, each.message_id, each.function, each.queue, each.poison_queue)
    return (each.at.timestamp(), *names)


def _writable(text: str) -> str:
    """The text with what UTF-8 cannot hold spelled out: user code may raise anything."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

"""The journal of failures: why a message's tries failed, kept in one small file beside the project.

Owns the file's shape and how it is read; `journal_file` writes it. Knows no events, no queues and
no project: a command, or a page, reads it while hosts write it. There is no message body in it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

FILE: Final = "journal.sqlite"
# Of the shape below; a file with another one is moved aside by who writes, and not read.
VERSION: Final = 1
# How long a reader waits for a writer, and a host for another one; both hold it for milliseconds.
BUSY_S: Final = 2.0
MOST_LIKE: Final = 20

# `size` comes early: what trims looks at it without reading the texts behind it.
SHAPE: Final = """
CREATE TABLE tries (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, size INTEGER NOT NULL,
    message_id TEXT NOT NULL, function TEXT NOT NULL, queue TEXT NOT NULL,
    invocation_id TEXT NOT NULL, dequeue_count INTEGER NOT NULL, duration_s REAL NOT NULL,
    outcome TEXT NOT NULL, error_type TEXT NOT NULL, error_message TEXT NOT NULL,
    place TEXT NOT NULL, traceback TEXT NOT NULL, lines TEXT NOT NULL
);
CREATE INDEX tries_message ON tries (message_id);
CREATE INDEX tries_at ON tries (at);
CREATE TABLE copies (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, poison_id TEXT NOT NULL, message_id TEXT NOT NULL,
    function TEXT NOT NULL, queue TEXT NOT NULL, poison_queue TEXT NOT NULL
);
CREATE INDEX copies_poison ON copies (poison_id);
CREATE INDEX copies_message ON copies (message_id);
CREATE INDEX copies_at ON copies (at);
"""
_COLUMNS: Final = (
    "function, queue, message_id, invocation_id, dequeue_count, at, duration_s, outcome, "
    "error_type, error_message, place, traceback, lines"
)
_BEYOND: Final = "\U0010ffff"  # sorts after every character of an id

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTry:
    """One failed try of a message; `at` is when it ended, in UTC.

    `outcome` is failed, timed_out, worker_lost, rejected, undecodable, or used_up (its tries had
    ended under other hosts, and it was not run again). `lines` are the last ones that the run
    logged, `place` is `file:line` in the user's code; "" where there is none.
    """

    function: str
    queue: str
    message_id: str
    invocation_id: str
    dequeue_count: int
    at: datetime
    duration_s: float
    outcome: str
    error_type: str
    error_message: str
    place: str
    traceback: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonCopy:
    """Which message a message in a poison queue is the copy of; a copy has an id of its own."""

    poison_id: str
    poison_queue: str
    message_id: str
    function: str
    queue: str
    at: datetime


class JournalFile:
    """Reads the journal in a state folder; without a file, nothing is known.

    `problem` says after a reading why the file could not be read, "" when it could.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.problem = ""

    def tries_of(self, message_id: str) -> Sequence[FailedTry]:
        """The failed tries of a message, oldest first, () when nothing is known of it.

        The id is the one in its queue, or that of its copy in the poison queue.
        """
        return self._rows(
            f"SELECT {_COLUMNS} FROM tries WHERE message_id = ?1 OR message_id IN "  # noqa: S608
            "(SELECT message_id FROM copies WHERE poison_id = ?1) ORDER BY id",
            (message_id,),
            _try,
        )

    def recent(self, *, function: str = "", limit: int = 100) -> Sequence[FailedTry]:
        """The last failed tries, newest first: of every function, or of one."""
        return self._rows(
            f"SELECT {_COLUMNS} FROM tries WHERE ?1 = '' OR function = ?1 "  # noqa: S608
            "ORDER BY id DESC LIMIT ?2",
            (function, limit),
            _try,
        )

    def ids_like(self, prefix: str) -> Sequence[str]:
        """The ids of messages, and of copies of messages, that begin so; 20 at most, in order."""
        return self._rows(
            "SELECT message_id FROM tries WHERE message_id >= ?1 AND message_id < ?2 "
            "UNION SELECT message_id FROM copies WHERE message_id >= ?1 AND message_id < ?2 "
            "UNION SELECT poison_id FROM copies WHERE poison_id >= ?1 AND poison_id < ?2 "
            "ORDER BY 1 LIMIT ?3",
            (prefix, prefix + _BEYOND, MOST_LIKE),
            lambda row: str(row[0]),
        )

    def function_of_copy(self, poison_id: str) -> str | None:
        """The function whose message a message in a poison queue was; None when not known."""
        copy = self.copy_of(poison_id)
        return None if copy is None else copy.function

    def copy_of(self, poison_id: str) -> PoisonCopy | None:
        """What a message in a poison queue is the copy of; None when not known."""
        return next(iter(self._copies("poison_id", poison_id)), None)

    def copies_of(self, message_id: str) -> Sequence[PoisonCopy]:
        """The copies that were made of a message, oldest first; more than one is rare."""
        return self._copies("message_id", message_id)

    def _copies(self, column: str, key: str) -> Sequence[PoisonCopy]:
        return self._rows(
            "SELECT poison_id, poison_queue, message_id, function, queue, at "  # noqa: S608
            f"FROM copies WHERE {column} = ? ORDER BY id",
            (key,),
            _copy,
        )

    def _rows(
        self, query: str, values: tuple[object, ...], made: Callable[[sqlite3.Row], T]
    ) -> Sequence[T]:
        self.problem = ""
        if not self.path.exists():
            return ()
        try:
            with self._open() as connection:
                return tuple(made(row) for row in connection.execute(query, values))
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self.problem = f"{self.path} cannot be read: {error}"
            return ()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise ValueError(f"its shape is number {version}, and {VERSION} is known here")
            yield connection


def _try(row: sqlite3.Row) -> FailedTry:
    return FailedTry(
        function=row[0],
        queue=row[1],
        message_id=row[2],
        invocation_id=row[3],
        dequeue_count=row[4],
        at=datetime.fromtimestamp(row[5], UTC),
        duration_s=row[6],
        outcome=row[7],
        error_type=row[8],
        error_message=row[9],
        place=row[10],
        traceback=row[11],
        lines=tuple(json.loads(row[12])),
    )


def _copy(row: sqlite3.Row) -> PoisonCopy:
    return PoisonCopy(
        poison_id=row[0],
        poison_queue=row[1],
        message_id=row[2],
        function=row[3],
        queue=row[4],
        at=datetime.fromtimestamp(row[5], UTC),
    )

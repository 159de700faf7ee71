"""Which functions are paused by hand, kept in one small file beside the project.

Owns the file: its form, who may write it when, and what a broken one means. Knows no listener and
no project; a command, a host and whatever comes later read and write by the same few calls.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from qtrigger.clock import Clock
from qtrigger.errors import ProjectError
from qtrigger.state import STATE_FOLDER, make_folder, share, state_folder

__all__ = ["STATE_FOLDER", "Pause", "PauseFile", "Pauses", "Written", "state_folder", "writable"]

FILE: Final = "pauses.json"
VERSION: Final = 1
# Another command holds the file for the time of one write.
LOCK_TIMEOUT_S: Final = 5.0
LOCK_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A pause of one function; `until` None is until somebody resumes it. Times carry UTC."""

    function: str
    since: datetime
    until: datetime | None = None
    reason: str = ""
    by: str = ""

    def over(self, now: datetime) -> bool:
        """Whether its time has passed."""
        return self.until is not None and self.until <= now

    def in_words(self) -> str:
        """By whom, until when and why: `by ann@box until 2026-01-01 12:00:00 UTC: reason`."""
        until = f"until {self.until:%Y-%m-%d %H:%M:%S} UTC" if self.until else "until resumed"
        by = f"by {self.by} " if self.by else ""
        return f"{by}{until}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the file says.

    `pauses` and `resumed` are by the function's name in small letters. `resumed` holds a mark
    that is another one after each time that somebody resumed the function, paused or not.
    `problem` says why a broken file says nothing.
    """

    pauses: Mapping[str, Pause] = field(default_factory=dict)
    resumed: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def of(self, function: str, now: datetime) -> Pause | None:
        """The pause that holds for a function now."""
        pause = self.pauses.get(function.casefold())
        return None if pause is None or pause.over(now) else pause


class Pauses(Protocol):
    """Where a host looks for pauses."""

    def stamp(self) -> object:
        """A value that is another one once something was written; cheap enough for each second."""

    def read(self) -> Written:
        """What is written; never raises."""


class PauseFile:
    """The pauses of one project, in `folder`. Reading needs no folder; writing makes it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def stamp(self) -> object:
        """See `Pauses`."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        # Each write is a file of its own, so that two within one tick of its times differ too.
        return (found.st_mtime_ns, found.st_ino, found.st_size)

    def read(self) -> Written:
        """See `Pauses`."""
        try:
            content = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return Written()
        except OSError as error:
            return self._broken(error.strerror or str(error))
        try:
            return _written(json.loads(content))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return self._broken(f"{type(error).__name__}: {error}")

    async def pause(self, pause: Pause, clock: Clock) -> Written:
        """Write a pause down, in the place of one that is there; what was written before.

        Raises ProjectError where that cannot be written.
        """
        async with _lock_in(self.path.parent, clock):
            before = self.read()
            pauses = {**_current(before, clock), pause.function.casefold(): pause}
            self._write(pauses, before.resumed, before)
        return before

    async def resume(self, function: str, clock: Clock) -> Pause | None:
        """End a function's pause and mark that somebody did so; the pause, if there was one.

        The mark is left without a pause as well, for whoever else keeps a function from its work.
        Raises ProjectError where that cannot be written.
        """
        async with _lock_in(self.path.parent, clock):
            before = self.read()
            pauses, name, now = _current(before, clock), function.casefold(), clock.utcnow()
            ended = pauses.pop(name, None)
            self._write(pauses, {**before.resumed, name: now.isoformat()}, before)
        return ended

    def _write(
        self, pauses: Mapping[str, Pause], resumed: Mapping[str, str], before: Written
    ) -> None:
        content = {
            "version": VERSION,
            "paused": {each.function: _plain(each) for each in pauses.values()},
            "resumed": dict(resumed),
        }
        new = self.path.with_suffix(".new")
        try:
            if before.problem:
                self.path.replace(self.path.with_suffix(".broken"))
            with new.open("w", encoding="utf-8") as file:
                share(file.fileno(), new.parent)
                json.dump(content, file, indent=2, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _broken(self, why: str) -> Written:
        return Written(problem=f"{self.path} cannot be read ({why})")


def _current(written: Written, clock: Clock) -> dict[str, Pause]:
    now = clock.utcnow()
    return {name: pause for name, pause in written.pauses.items() if not pause.over(now)}


def _written(content: Any) -> Written:
    if content["version"] != VERSION:
        raise ValueError(f"version {content['version']!r} is not {VERSION}")
    pauses = [_pause(name, each) for name, each in content.get("paused", {}).items()]
    resumed = {str(name).casefold(): str(mark) for name, mark in content.get("resumed", {}).items()}
    return Written(pauses={each.function.casefold(): each for each in pauses}, resumed=resumed)


def _pause(name: str, content: Mapping[str, Any]) -> Pause:
    until = content.get("until")
    return Pause(
        function=name,
        since=_time(content["since"]),
        until=None if until is None else _time(until),
        reason=writable(str(content.get("reason", ""))),
        by=writable(str(content.get("by", ""))),
    )


def writable(text: str) -> str:
    """The text with what UTF-8 cannot hold spelled out, such as an argument in another encoding."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone")
    return time


def _plain(pause: Pause) -> dict[str, str | None]:
    return {
        "since": pause.since.isoformat(),
        "until": pause.until.isoformat() if pause.until else None,
        "reason": writable(pause.reason),
        "by": writable(pause.by),
    }


@contextlib.asynccontextmanager
async def _lock_in(folder: Path, clock: Clock) -> AsyncIterator[None]:
    """Hold the folder's lock, so that of two who write at once neither loses what it wrote."""
    lock = _open_lock(folder)
    with _closing(lock):
        until = clock.monotonic() + LOCK_TIMEOUT_S
        while not _locked(lock, folder):
            if clock.monotonic() >= until:
                raise ProjectError(
                    f"{folder / 'lock'} is held by another process for more than "
                    f"{LOCK_TIMEOUT_S:g} s. Try again, or end that process."
                )
            await clock.sleep(LOCK_LOOK_S)
        yield


def _open_lock(folder: Path) -> int:
    """Make the folder, which no repository should take, and open its lock."""
    try:
        make_folder(folder)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unwritable(folder, error) from error
    share(lock, folder)
    return lock


@contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)  # the lock goes with it


def _locked(lock: int, folder: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # a file system that knows no locks
        raise _unwritable(folder, error) from error
    return True


def _unwritable(path: Path, error: OSError) -> ProjectError:
    return ProjectError(
        f"{path} cannot be written: {error.strerror or error}. Name a folder that can be, to "
        "qtrigger start as well, by --state or the environment variable QTRIGGER_STATE."
    )

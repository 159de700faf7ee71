"""Tells of what is still under way when its time has come.

Owns one timer for many waits, because most of them end long before they are due: what is watched
costs an entry, and no timer of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from types import TracebackType

from qtrigger.alarm import Alarm
from qtrigger.clock import Clock


class Overdue:
    """Calls back for each key that was not removed by its time, on the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._alarm = Alarm(clock, self._ring)
        self._entries: dict[Hashable, tuple[float, Callable[[], None]]] = {}

    def add(self, key: Hashable, due_at: float, late: Callable[[], None]) -> None:
        """Call `late` at `due_at`, unless the key is removed before."""
        self._entries[key] = (due_at, late)
        self._alarm.set(due_at)

    def remove(self, key: Hashable) -> None:
        """Forget a key; harmless when it is not there."""
        self._entries.pop(key, None)

    def _ring(self, now: float) -> None:
        """What was waited for may have ended since, and all is looked at: rings are rare."""
        for key in [key for key, (due_at, _) in self._entries.items() if due_at <= now]:
            entry = self._entries.pop(key, None)
            if entry is not None:  # not removed by one that was told before it
                _, late = entry
                late()
        if self._entries:
            self._alarm.set(min(due_at for due_at, _ in self._entries.values()))


class Limit(AbstractContextManager[None]):
    """Around awaits of one task: cancels them at `due_at`, and raises TimeoutError for it.

    What `asyncio.timeout` does, for those who set the same limit thousands of times a second.
    """

    __slots__ = ("_before", "_due_at", "_is_over", "_overdue", "_task")

    def __init__(self, overdue: Overdue, due_at: float) -> None:
        self._overdue = overdue
        self._due_at = due_at
        self._is_over = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a limit is for awaits, and those are made in a task")
        self._task = task
        self._before = task.cancelling()
        self._overdue.add(self, self._due_at, self._late)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._overdue.remove(self)
        # Somebody else may have cancelled the task as well: that one's wish goes before ours.
        ours = self._is_over and self._task.uncancel() <= self._before
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _late(self) -> None:
        self._is_over = True
        self._task.cancel()

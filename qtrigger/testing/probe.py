"""An event sink that remembers, and lets a test wait for an event instead of sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from qtrigger.events import Event

E = TypeVar("E")


class Probe:
    """Records every event; see `of` and `wait_for`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()

    def emit(self, event: Event) -> None:
        """Take one event."""
        self.events.append(event)
        self._changed.set()

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return True

    def of(self, kind: type[E]) -> list[E]:
        """The events of that kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(
        self, kind: type[E], *, count: int = 1, where: Callable[[E], bool] = lambda _event: True
    ) -> list[E]:
        """Wait until `count` events of that kind have come; the caller bounds the wait."""
        while True:
            found = [event for event in self.of(kind) if where(event)]
            if len(found) >= count:
                return found
            self._changed.clear()
            await self._changed.wait()

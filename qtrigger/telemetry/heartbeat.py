"""A sign of life each minute, for those who asked for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from qtrigger.clock import Clock
from qtrigger.events import EventSink, Heartbeat

EVERY_S: Final = 60.0


async def beat(clock: Clock, sink: EventSink, counts: Callable[[], Mapping[str, int]]) -> None:
    """Emit the counts each minute, until cancelled."""
    began = clock.monotonic()
    while True:
        await clock.sleep(EVERY_S)
        sink.emit(Heartbeat(counts=counts(), after_s=clock.monotonic() - began))

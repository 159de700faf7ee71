"""Small event sinks: several at once, and a count of how messages ended."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from qtrigger.events import Event, EventSink, HostLog, InvocationFinished, MessagePoisoned


class FanOut:
    """Passes each event on to every sink, in order."""

    def __init__(self, *sinks: EventSink) -> None:
        self._sinks = sinks

    def emit(self, event: Event) -> None:
        """Take one event."""
        for sink in self._sinks:
            sink.emit(event)


@dataclass(slots=True)
class Tally:
    """Counts messages by how their runs ended."""

    succeeded: int = 0
    failed: int = 0
    poisoned: int = 0
    handed_back: int = 0

    def emit(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, MessagePoisoned) and event.poison_queue:
            self.poisoned += 1
        elif isinstance(event, InvocationFinished):
            if event.disposition == "acked":
                self.succeeded += 1
            elif event.disposition == "released":
                self.handed_back += 1
            else:
                self.failed += 1

    def counts(self) -> Mapping[str, int]:
        """Return the counts by name."""
        return asdict(self)


class LibraryLogs(logging.Handler):
    """Passes records of the libraries we use on as events."""

    def __init__(self, sink: EventSink) -> None:
        super().__init__(logging.WARNING)
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record."""
        text = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self._sink.emit(
            HostLog(
                level=record.levelno,
                logger=record.name,
                message=record.getMessage(),
                traceback=text,
            )
        )

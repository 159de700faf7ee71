"""Small event sinks: several at once, and a count of how messages ended."""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from qtrigger.events import (
    Event,
    EventSink,
    HostLog,
    InvocationFinished,
    MessageHandedBack,
    MessagePoisoned,
)
from qtrigger.invocation import Failed, Interrupted, Succeeded, TimedOut, WorkerLost


class FanOut:
    """Passes each event on to every sink, in order; a sink that raises gets no more.

    A listener of events must never be able to keep a message from its end.
    """

    def __init__(self, *sinks: EventSink) -> None:
        self._sinks = list(sinks)

    def add(self, *sinks: EventSink) -> None:
        """Pass events on to more of them; before those who ask what is wanted are made."""
        self._sinks += sinks

    def emit(self, event: Event) -> None:
        """Take one event."""
        for sink in tuple(self._sinks):
            try:
                sink.emit(event)
            except Exception:  # noqa: BLE001  # whatever a sink raises ends the sink alone
                self._sinks.remove(sink)
                with contextlib.suppress(OSError, ValueError):
                    traceback.print_exc(file=sys.stderr)

    def wants(self, kind: type[Event]) -> bool:
        """Whether one of the sinks wants it."""
        return any(sink.wants(kind) for sink in self._sinks)


@dataclass(slots=True)
class Tally:
    """Counts messages by how their runs ended; the undecodable are among the poisoned as well."""

    succeeded: int = 0
    failed_tries: int = 0
    poisoned: int = 0
    undecodable: int = 0
    handed_back: int = 0

    def emit(self, event: Event) -> None:
        """Take one event."""
        match event:
            case InvocationFinished(outcome=Succeeded()):  # first: it is by far the commonest
                self.succeeded += 1
            case MessagePoisoned():
                self.poisoned += bool(event.poison_queue)
                self.undecodable += event.reason == "undecodable"
            case (
                MessageHandedBack()
                | InvocationFinished(outcome=Interrupted() | WorkerLost(alone=False))
            ):
                self.handed_back += 1
            case InvocationFinished(outcome=Failed() | TimedOut() | WorkerLost()):
                self.failed_tries += 1
            case _:
                pass

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind in (MessagePoisoned, MessageHandedBack, InvocationFinished)

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

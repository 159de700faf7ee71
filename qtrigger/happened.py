"""What has happened since the process began, by function: for whoever asks how a host stands.

Owns the counts, the last error and the last success of each function, and how many runs ended in
the last minute. Hears events and keeps no message.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from qtrigger.clock import Clock, Timer
from qtrigger.events import (
    BreakerClosed,
    BreakerOpened,
    Event,
    FunctionLoadFailed,
    HostReady,
    HostStopped,
    HostStopping,
    InvocationFinished,
    MessagePoisoned,
    QueueStateChanged,
    Reloaded,
    ReloadRejected,
)
from qtrigger.invocation import ErrorDetail, Failed, Rejected, Succeeded, TimedOut, WorkerLost
from qtrigger.retrying import error_of

MINUTE_S: Final = 60.0
# How often it is noted how far the counts have come.
LOOK_S: Final = 5.0
RELOAD: Final = "reload"


@dataclass(slots=True)
class LastError:
    """How a function failed last."""

    type: str
    message: str
    at: datetime


@dataclass(slots=True)
class Record:
    """What has become of one function's messages; `succeeded_at` is on the monotonic clock."""

    succeeded: int = 0
    failed: int = 0
    poisoned: int = 0
    other: int = 0
    succeeded_at: float | None = None
    last_error: LastError | None = None
    queue_message: str = ""
    breaker: str = ""
    load_failure: str = ""

    @property
    def finished(self) -> int:
        """How many runs have ended, however."""
        return self.succeeded + self.failed + self.other


@dataclass(slots=True)
class _Look:
    at: float
    finished: Mapping[str, int] = field(default_factory=dict)


class Happened:
    """An event sink; `plain` takes secrets out of what is kept of an error."""

    def __init__(self, clock: Clock, plain: Callable[[str], str] = str) -> None:
        self.plain = plain
        self.state = "starting"
        self.generation = 0
        self.rejected = 0
        self.rejection = ""
        self.stopped: HostStopped | None = None
        self._clock = clock
        self._time: Callable[[], float] = clock.monotonic
        self.began_at = clock.monotonic()
        self._records: dict[str, Record] = {}
        self._looks: deque[_Look] = deque([_Look(self.began_at)])
        self._changed = asyncio.Event()
        self._timer: Timer = clock.call_later(LOOK_S, self._look)

    def close(self) -> None:
        """Note no more."""
        self._timer.cancel()

    def of(self, function: str) -> Record:
        """What is known of a function."""
        record = self._records.get(function)
        if record is None:
            record = self._records[function] = Record()
        return record

    def per_second(self, function: str) -> float:
        """How many runs ended each second, over the last minute or so."""
        first = self._looks[0]
        span_s = self._time() - first.at
        count = self.of(function).finished - first.finished.get(function, 0)
        return count / span_s if span_s > 0 else 0.0

    async def moved(self) -> None:
        """Wait until the host's state moves."""
        await self._changed.wait()

    async def begun(self) -> None:
        """Wait until a host has been ready."""
        while not self.generation:
            await self.moved()

    def emit(self, event: Event) -> None:
        """Take one event."""
        if type(event) is InvocationFinished:  # first: it is by far the commonest
            record = self._records.get(event.function) or self.of(event.function)
            if type(event.outcome) is Succeeded:
                record.succeeded += 1
                record.succeeded_at = self._time()
            else:
                self._ended_otherwise(record, event)
        elif isinstance(event, MessagePoisoned):
            self.of(event.function).poisoned += bool(event.poison_queue)
        else:
            self._of_function(event)
            self._of_host(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`: nothing is to be made for this."""
        return kind in (InvocationFinished, MessagePoisoned)

    def _ended_otherwise(self, record: Record, event: InvocationFinished) -> None:
        outcome = event.outcome
        counts = isinstance(outcome, (Failed, TimedOut)) or (
            isinstance(outcome, WorkerLost) and outcome.alone
        )
        record.failed += counts
        record.other += not counts
        if isinstance(outcome, (Failed, TimedOut, WorkerLost)):
            error = error_of(outcome)
        elif isinstance(outcome, Rejected):
            error = ErrorDetail(type="Rejected", message=outcome.reason)
        else:
            return
        record.last_error = LastError(
            self.plain(error.type), self.plain(error.message), self._clock.utcnow()
        )

    def _of_function(self, event: Event) -> None:
        if isinstance(event, QueueStateChanged):
            self.of(event.function).queue_message = self.plain(event.message)
        elif isinstance(event, FunctionLoadFailed):
            self.of(event.function).load_failure = self.plain(event.message)
        elif isinstance(event, BreakerOpened):
            until = f"{event.failures} failures in a row, {event.error_type}: {event.error}"
            self.of(event.function).breaker = self.plain(until)
        elif isinstance(event, BreakerClosed):
            self.of(event.function).breaker = ""

    def _of_host(self, event: Event) -> None:
        if isinstance(event, HostReady):
            self.state = "ready"
            self.generation = self.generation or 1
        elif isinstance(event, Reloaded):
            self.generation += 1
            for name in event.mended:
                self.of(name).load_failure = ""
        elif isinstance(event, HostStopping) and event.reason != RELOAD:
            self.state = "draining"
        elif isinstance(event, HostStopped):
            self.state, self.stopped = "stopped", event
        elif isinstance(event, ReloadRejected):
            self.rejection = self.plain(event.message)
            self.rejected += 1
        else:
            return
        self._changed.set()
        self._changed = asyncio.Event()

    def _look(self) -> None:
        now = self._time()
        finished = {name: record.finished for name, record in self._records.items()}
        self._looks.append(_Look(now, finished))
        while len(self._looks) > 1 and self._looks[1].at <= now - MINUTE_S:
            self._looks.popleft()
        self._timer = self._clock.call_later(LOOK_S, self._look)

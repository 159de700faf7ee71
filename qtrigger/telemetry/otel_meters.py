"""The metrics of OpenTelemetry's messaging conventions, for those who have them pushed.

Owns what of the events they are made of: `messaging.process.duration`, and
`messaging.client.consumed.messages`, counted when messages are received and not again when they are
processed. It needs the extra `otel`. Richer ones, under names of ours, are `meters`'.
"""

from __future__ import annotations

from opentelemetry.metrics import Meter

from qtrigger.events import Event, InvocationFinished, PollFinished
from qtrigger.invocation import Failed, Interrupted, LeaseLost
from qtrigger.telemetry.error_types import ErrorTypes
from qtrigger.telemetry.metric_table import BUCKETS
from qtrigger.telemetry.outcome_words import error_type
from qtrigger.telemetry.traces import SYSTEM

Attributes = dict[str, str]


class OtelMeters:
    """An event sink."""

    def __init__(self, meter: Meter) -> None:
        self._duration = meter.create_histogram(
            "messaging.process.duration",
            unit="s",
            description="Duration of processing operation.",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._consumed = meter.create_counter(
            "messaging.client.consumed.messages",
            unit="{message}",
            description="Number of messages that were delivered to the application.",
        )
        self._error_types: dict[str, ErrorTypes] = {}
        self._attributes: dict[tuple[str, str, str, str], Attributes] = {}

    def emit(self, event: Event) -> None:
        """Take one event."""
        if type(event) is InvocationFinished:
            if not isinstance(event.outcome, (Interrupted, LeaseLost)):
                kind = self._error_type(event)
                found = self._of("process", event.function, event.queue, kind)
                self._duration.record(event.duration_s, found)
        elif isinstance(event, PollFinished) and event.found:
            self._consumed.add(event.found, self._of("receive", event.function, event.queue))

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind in (InvocationFinished, PollFinished)

    def _error_type(self, event: InvocationFinished) -> str:
        kind = error_type(event.outcome)
        if not isinstance(event.outcome, Failed):
            return kind
        return self._error_types.setdefault(event.function, ErrorTypes()).word(kind)

    def _of(self, operation: str, function: str, queue: str, kind: str = "") -> Attributes:
        key = (operation, function, queue, kind)
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = {
                "messaging.system": SYSTEM,
                "messaging.operation.name": operation,
                "messaging.operation.type": operation,
                "messaging.destination.name": queue,
                "faas.name": function,
                **({"error.type": kind} if kind else {}),
            }
        return found

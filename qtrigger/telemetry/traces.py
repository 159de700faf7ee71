"""Runs as spans of OpenTelemetry, with the names of its messaging conventions.

Owns what a span says. It needs the extra `otel`, and is imported by those alone who trace; where
spans go is for whoever makes the tracer. An error's text is in no span, for spans leave the house:
it stands in the log, whose lines name the trace. Source: OpenTelemetry's conventions for messaging
and for functions, both in development; the word for this queue service is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.span import TraceState

from qtrigger.invocation import Outcome, TriggerMessage
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.telemetry.outcome_words import WORDS, error_type
from qtrigger.trace_context import TraceContext, sent_with
from qtrigger.tracing import Traced

SYSTEM: Final = "azure_queue_storage"


class OtelTracing:
    """A `Tracing` that makes spans; `open_traces` is told which runs they are of."""

    def __init__(self, tracer: otel.Tracer, open_traces: OpenTraces) -> None:
        self._tracer = tracer
        self._open = open_traces

    def begin(
        self, traced: Traced, invocation_id: str, messages: Sequence[TriggerMessage]
    ) -> OtelTrace:
        """See `Tracing`: one span, linked to every sender that its messages name.

        With one message it may be the sender's child instead; with several it is nobody's, since
        a span has one parent.
        """
        senders = [found for each in messages if (found := sent_with(each.body)) is not None]
        adopts = traced.adopts and len(messages) == 1
        parent = _remote(senders[0]) if adopts and senders else None
        span = self._tracer.start_span(
            f"process {traced.queue}",
            context=otel.set_span_in_context(otel.NonRecordingSpan(parent), Context())
            if parent
            else Context(),
            kind=SpanKind.CONSUMER,
            links=None if parent else [Link(_remote(sender)) for sender in senders],
            attributes=_attributes(traced, invocation_id, messages),
        )
        context = _of_span(span)
        self._open.begin(invocation_id, context)
        return OtelTrace(span, context, lambda: self._open.end(invocation_id))


class OtelTrace:
    """A `Trace` that is one span."""

    def __init__(self, span: otel.Span, context: TraceContext, closed: Callable[[], None]) -> None:
        self.context = context
        self._span = span
        self._closed = closed

    def ended(self, outcome: Outcome, disposition: str, retries: int = 0) -> None:
        """See `Trace`."""
        span = self._span
        span.set_attribute("qtrigger.outcome", WORDS[type(outcome)])
        span.set_attribute("qtrigger.disposition", disposition)
        if retries:
            span.set_attribute("qtrigger.retries", retries)
        if kind := error_type(outcome):
            span.set_attribute("error.type", kind)
            span.set_status(Status(StatusCode.ERROR))

    def close(self) -> None:
        """See `Trace`."""
        self._span.end()
        self._closed()


def _attributes(
    traced: Traced, invocation_id: str, messages: Sequence[TriggerMessage]
) -> dict[str, str | int]:
    found: dict[str, str | int] = {
        "messaging.system": SYSTEM,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": traced.queue,
        "server.address": traced.server,
        "faas.name": traced.function,
        "faas.invocation_id": invocation_id,
        "faas.trigger": "pubsub",
    }
    if len(messages) == 1:
        (message,) = messages
        found["messaging.message.id"] = message.id
        found["messaging.message.body.size"] = len(message.body)
        found["qtrigger.dequeue_count"] = message.dequeue_count
    else:
        found["messaging.batch.message_count"] = len(messages)
    return found


def _remote(sender: TraceContext) -> SpanContext:
    return SpanContext(
        trace_id=int(sender.trace_id, 16),
        span_id=int(sender.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(sender.flags),
        trace_state=TraceState.from_header([sender.state]) if sender.state else None,
    )


def _of_span(span: otel.Span) -> TraceContext:
    context = span.get_span_context()
    flags = f"{int(context.trace_flags):02x}"
    return TraceContext(
        parent=f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags}",
        state=context.trace_state.to_header(),
    )

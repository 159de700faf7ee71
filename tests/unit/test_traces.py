"""Runs as spans: what they say, what they are tied to, and what carries them on."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
from opentelemetry.trace import SpanKind, StatusCode

from qtrigger.batches import Batch
from qtrigger.events import UserLog
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Invocation,
    Outcome,
    Output,
    OutputItem,
    Ran,
    Rejected,
    Succeeded,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.project.model import RetryPolicy
from qtrigger.project.options import TracingOptions
from qtrigger.telemetry.json_lines import JsonSink
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.telemetry.traces import OtelTracing
from qtrigger.trace_context import TraceContext, sent_with
from tests.unit.harness import Bench, Body, fail, output, succeed

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SENT = json.dumps({"id": 1, "traceparent": PARENT, "tracestate": "a=1"})


class Spans:
    """Spans kept in memory."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.open = OpenTraces()
        self.tracing = OtelTracing(provider.get_tracer("test"), self.open)

    @property
    def ended(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    def one(self) -> ReadableSpan:
        (span,) = self.ended
        return span


async def run(
    *texts: str,
    body: Body = succeed,
    options: TracingOptions | None = None,
    spans: Spans | None = None,
    **more: object,
) -> tuple[Spans, Bench]:
    """Let a function have these messages, tried once, until all have reached their end."""
    spans = spans or Spans()
    bench = Bench(body, tracing=spans.tracing, tracing_options=options, **more)  # type: ignore[arg-type]
    await bench.start(*texts)
    await bench.clock.advance(1.0)
    await bench.stop()
    return spans, bench


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


async def test_a_run_is_a_span_with_the_names_of_the_conventions() -> None:
    spans, bench = await run("hello")

    span = spans.one()
    (invocation,) = bench.invocations
    assert (span.name, span.kind, span.parent) == ("process orders", SpanKind.CONSUMER, None)
    assert attributes(span) == {
        "messaging.system": "azure_queue_storage",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "orders",
        "messaging.message.id": invocation.messages[0].id,
        "messaging.message.body.size": 5,
        "server.address": "memory",
        "faas.name": "charge",
        "faas.invocation_id": invocation.id,
        "faas.trigger": "pubsub",
        "qtrigger.dequeue_count": 1,
        "qtrigger.outcome": "succeeded",
        "qtrigger.disposition": "acked",
    }
    assert span.status.status_code is StatusCode.UNSET
    assert span.links == ()


async def timed_out(_message: TriggerMessage) -> Outcome:
    return TimedOut(after_s=3.0)


async def reject(_message: TriggerMessage) -> Outcome:
    return Rejected(reason="the secret reason")


@pytest.mark.parametrize(
    ("body", "error_type", "outcome", "disposition"),
    [
        (fail, "ValueError", "failed", "poisoned"),
        (timed_out, "timed_out", "timed_out", "poisoned"),
        (reject, None, "rejected", "poisoned"),
    ],
)
async def test_how_a_run_failed_is_a_kind_of_error_and_never_its_text(
    body: Body, error_type: str | None, outcome: str, disposition: str
) -> None:
    spans, _ = await run("hello", body=body)

    last = spans.ended[-1]
    found = attributes(last)
    assert found.get("error.type") == error_type
    assert (found["qtrigger.outcome"], found["qtrigger.disposition"]) == (outcome, disposition)
    wanted = StatusCode.ERROR if error_type else StatusCode.UNSET
    assert last.status.status_code is wanted
    assert last.status.description is None
    assert "secret" not in last.to_json()
    assert last.events == ()


async def test_each_try_of_a_message_is_a_span_of_its_own() -> None:
    spans, _ = await run("hello", body=fail)

    counts = [attributes(span)["qtrigger.dequeue_count"] for span in spans.ended]
    assert counts == [1, 2, 3, 4, 5]
    assert len({span.context.trace_id for span in spans.ended}) == 5


async def test_retries_within_a_receipt_are_one_span() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=0.1, maximum_s=0.1)
    ends: list[Outcome] = [
        Failed(error=ErrorDetail(type="ValueError", message="no")),
        Succeeded(),
    ]

    async def second_time_well(_message: TriggerMessage) -> Outcome:
        return ends.pop(0)

    spans, _ = await run("hello", body=second_time_well, retry=policy)

    found = attributes(spans.one())
    assert (found["qtrigger.retries"], found["qtrigger.outcome"]) == (1, "succeeded")


async def test_a_run_is_linked_to_the_span_that_sent_its_message() -> None:
    spans, _ = await run(SENT)

    span = spans.one()
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{link.context.span_id:016x}" == "b7ad6b7169203331"
    assert link.context.is_remote
    assert link.context.trace_state.to_header() == "a=1"
    assert span.parent is None
    assert span.context.trace_id != link.context.trace_id


async def test_it_is_a_child_of_that_where_the_project_says_so() -> None:
    spans, bench = await run(SENT, options=TracingOptions(adopts=True))

    span = spans.one()
    assert span.parent is not None
    assert f"{span.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{span.parent.span_id:016x}" == "b7ad6b7169203331"
    assert span.links == ()
    (invocation,) = bench.invocations
    assert invocation.trace is not None
    assert invocation.trace.context.state == "a=1"


async def test_the_run_is_given_its_place_in_the_trace() -> None:
    spans, bench = await run("hello")

    (invocation,) = bench.invocations
    assert invocation.trace is not None
    context = spans.one().context
    given = invocation.trace.context
    assert (given.trace_id, given.span_id, given.flags & 1) == (
        *(f"{context.trace_id:032x}", f"{context.span_id:016x}"),
        1,
    )


async def test_what_is_not_sampled_has_a_place_and_is_not_sent() -> None:
    spans, bench = await run("hello", spans=Spans(ALWAYS_OFF))

    assert spans.ended == ()
    (invocation,) = bench.invocations
    assert invocation.trace is not None
    assert invocation.trace.context.flags & 1 == 0


async def test_without_one_who_traces_a_run_has_no_trace() -> None:
    bench = Bench()
    await bench.start(SENT)
    await bench.clock.advance(1.0)
    await bench.stop()

    (invocation,) = bench.invocations
    assert invocation.trace is None


async def writes(_message: TriggerMessage) -> Outcome:
    items = (b'{"id": 7}', b"plain", b"[1]")
    written = tuple(OutputItem(body=each) for each in items)
    return Succeeded(outputs=(Output(binding="out", items=written),))


async def test_objects_that_are_written_carry_the_trace_on_where_that_is_wanted() -> None:
    options = TracingOptions(inject=True)
    spans, bench = await run("a", body=writes, options=options, outputs=(output("out", "next"),))

    first, *others = bench.left("next")
    context = spans.one().context
    sent = sent_with(first.encode())
    assert sent is not None
    assert sent.span_id == f"{context.span_id:016x}"
    assert first.endswith('"id": 7}')
    assert others == ["plain", "[1]"]


async def test_nothing_that_is_written_changes_where_nobody_asked() -> None:
    _, bench = await run("a", body=writes, outputs=(output("out", "next"),))

    assert bench.left("next") == ['{"id": 7}', "plain", "[1]"]


async def test_a_poison_copy_is_the_message_as_it_came() -> None:
    _, bench = await run('{"id": 1}', body=fail, options=TracingOptions(inject=True))

    assert bench.left("orders-poison") == ['{"id": 1}']


async def test_the_runs_of_a_list_are_one_span_with_all_of_its_senders() -> None:
    class Lists(Bench):
        async def _run(self, invocation: Invocation) -> Ran:
            self.invocations.append(invocation)
            return Ran(outcomes=(Succeeded(),) * len(invocation.messages), duration_s=0.1)

    spans = Spans()
    bench = Lists(tracing=spans.tracing, many=True, tracing_options=TracingOptions(adopts=True))
    await bench.start(SENT, "other", SENT.replace("b7ad", "aaaa"))
    await bench.clock.advance(1.0)
    await bench.stop()

    span = spans.one()
    found = attributes(span)
    assert (found["messaging.batch.message_count"], found["qtrigger.outcome"]) == (3, "succeeded")
    assert "messaging.message.id" not in found
    assert (len(span.links), span.parent) == (2, None)
    (invocation,) = bench.invocations
    assert invocation.trace is not None
    assert invocation.trace.context.span_id == f"{span.context.span_id:016x}"


class Watched:
    """A trace that says when it was closed."""

    context = TraceContext(parent=PARENT)
    closed = 0

    def ended(self, outcome: Outcome, disposition: str, retries: int = 0) -> None:
        """Nothing is made of it."""

    def close(self) -> None:
        self.closed += 1


def test_the_trace_of_a_list_ends_with_the_last_of_its_messages() -> None:
    batch, trace = Batch(["a", "b"], lambda _batch: None), Watched()
    batch.trace = trace

    batch.done("b")
    first = trace.closed
    batch.done("a")

    assert (first, trace.closed) == (0, 1)


async def test_a_list_of_one_suspect_is_a_span_as_well() -> None:
    ends: list[Outcome] = [WorkerLost(how="signal 9", alone=False), Succeeded()]

    async def ends_once(_message: TriggerMessage) -> Outcome:
        return ends.pop(0)

    spans, _ = await run("a", body=ends_once, many=True)

    outcomes = [attributes(span)["qtrigger.outcome"] for span in spans.ended]
    assert outcomes == ["worker_lost", "succeeded"]
    assert spans.open.of(attributes(spans.ended[1])["faas.invocation_id"]) is None


async def test_lines_of_a_run_name_its_trace_and_others_do_not() -> None:
    spans, stream = Spans(), io.StringIO()
    sink = JsonSink(stream, level=10, traces=spans.open)
    traced: list[str] = []

    def line(invocation_id: str) -> None:
        sink.emit(
            UserLog(
                function="charge",
                invocation_id=invocation_id,
                message_id="m",
                level=20,
                logger="root",
                message="hello",
            )
        )

    async def says(message: TriggerMessage) -> Outcome:
        (invocation,) = bench.invocations
        traced.append(invocation.id)
        line(invocation.id)
        return Succeeded()

    bench = Bench(says, tracing=spans.tracing)
    await bench.start("a")
    await bench.clock.advance(1.0)
    await bench.stop()
    line(traced[0])
    line("")

    during, *after = [json.loads(text) for text in stream.getvalue().splitlines()]
    context = spans.one().context
    assert during["trace_id"] == f"{context.trace_id:032x}"
    assert during["span_id"] == f"{context.span_id:016x}"
    assert not [each for each in after if "trace_id" in each]

"""A host sends its runs as spans to a receiver, and does without one that is not there."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from qtrigger.trace_context import sent_with
from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CODE = """
import logging
def main(msg, out, context):
    logging.info("charging")
    out.set('{"id": 1}')
    note(context.trace_context.trace_parent)
"""


class Receiver:
    """Takes OTLP over HTTP and keeps the spans."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.metrics: dict[str, Any] = {}
        self._more = threading.Condition()
        receiver = self

        class Post(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                if self.path == "/v1/metrics":
                    receiver.take_metrics(ExportMetricsServiceRequest.FromString(body))
                else:
                    receiver.take(self.path, ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Post)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path: str, request: Any) -> None:
        assert path == "/v1/traces"
        with self._more:
            for each in request.resource_spans:
                self.resources.append(texts(each.resource.attributes))
                self.spans += [span for scope in each.scope_spans for span in scope.spans]
            self._more.notify_all()

    def take_metrics(self, request: Any) -> None:
        for each in request.resource_metrics:
            for scope in each.scope_metrics:
                self.metrics |= {metric.name: metric for metric in scope.metrics}

    def wait_for(self, count: int) -> None:
        with self._more:
            assert self._more.wait_for(lambda: len(self.spans) >= count, 20.0)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()


def texts(attributes: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in attributes}


async def test_a_run_is_sent_with_its_sender_and_its_lines_name_it(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json(tracing={"inject": True})
    folder.function("charge", CODE, queue="charges", out={"out": "next"})
    sent = {"id": 1, "traceparent": PARENT}
    await service.put(folder.queue("charges"), [json.dumps(sent)])

    with receiving() as receiver:
        folder.environ |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with running(folder, "--log-format", "json", "--exit-when-idle", "0.5") as host:
            assert host.wait() == 0
        receiver.wait_for(1)

    # The last numbers come with the host's end.
    (duration,) = receiver.metrics["messaging.process.duration"].histogram.data_points
    (consumed,) = receiver.metrics["messaging.client.consumed.messages"].sum.data_points
    assert (duration.count, consumed.as_int) == (1, 1)
    (span,) = receiver.spans
    assert span.name == f"process {folder.queue('charges')}"
    assert [link.trace_id.hex() for link in span.links] == [PARENT[3:35]]
    assert texts(span.attributes)["faas.name"] == "charge"
    assert receiver.resources[0]["service.name"] == folder.root.name
    own = (span.trace_id.hex(), span.span_id.hex())
    (noted,) = folder.notes()
    assert (noted[3:35], noted[36:52]) == own
    (written,) = await service.bodies(folder.queue("next"))
    carried = sent_with(written)
    assert carried is not None
    assert (carried.trace_id, carried.span_id) == own
    lines = [json.loads(line) for line in host.lines]
    named = {each["kind"] for each in lines if each.get("trace_id") == own[0]}
    assert {"user.log", "invocation.finished"} <= named
    assert not [each for each in lines if each["kind"] == "host.log"]


async def test_a_receiver_that_is_gone_is_one_warning_and_keeps_nothing_up(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("charge", "def main(msg): note('ran')", queue="charges")
    await service.put(folder.queue("charges"), ["a"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = taken.getsockname()[1]
    folder.environ |= {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{closed}/v1/traces?key=s3cret",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }

    with running(folder) as host:
        host.wait_for("are not sent as they should be")
        host.wait_for("  ok  ")
        host.signal(signal.SIGTERM)
        assert host.wait(15.0) == 0

    assert folder.notes() == ["ran"]
    assert host.output.count("are not sent as they should be") == 1
    assert "s3cret" not in host.output


async def test_what_keeps_traces_from_being_sent_is_one_line(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("charge", "def main(msg): note('ran')", queue="charges")
    await service.put(folder.queue("charges"), ["a", "b"])
    folder.hide("opentelemetry")
    folder.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:4318"

    with running(folder, "--exit-when-idle", "0.3") as host:
        assert host.wait() == 0

    (line,) = [each for each in host.lines if "no traces are sent" in each]
    assert "OTEL_EXPORTER_OTLP_ENDPOINT is set, and no traces are sent" in line
    assert "Install qtrigger[otel]" in line
    assert folder.notes() == ["ran", "ran"]

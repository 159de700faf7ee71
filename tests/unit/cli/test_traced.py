"""Whether traces are sent is for OpenTelemetry's own variables to say."""

from __future__ import annotations

import pytest

from qtrigger.cli.traced import Signal, open_traced, wanted
from qtrigger.events import HostLog
from qtrigger.telemetry.open_traces import OpenTraces
from qtrigger.testing.probe import Probe

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("environ", "asked"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "false"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "otlp"}, True),
    ],
)
def test_traces_are_sent_where_an_endpoint_for_them_is_named(
    environ: dict[str, str], *, asked: bool
) -> None:
    assert wanted(environ, "TRACES") is asked


@pytest.mark.parametrize(
    ("environ", "signals"),
    [
        (ENDPOINT, ["TRACES", "METRICS"]),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:4318/v1/metrics"}, ["METRICS"]),
        ({**ENDPOINT, "OTEL_METRICS_EXPORTER": "none"}, ["TRACES"]),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, ["METRICS"]),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, []),
    ],
)
def test_each_signal_is_sent_by_itself(environ: dict[str, str], signals: list[Signal]) -> None:
    every: tuple[Signal, ...] = ("TRACES", "METRICS")

    assert [each for each in every if wanted(environ, each)] == signals


async def test_a_protocol_that_is_not_spoken_is_one_warning_and_no_traces() -> None:
    probe = Probe()
    environ = {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}

    traced = open_traced("orders", environ, OpenTraces(), probe)

    (line,) = probe.of(HostLog)
    assert (
        "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc', and no traces or metrics are sent" in line.message
    )
    assert "http/protobuf" in line.message
    assert traced.tracing is None
    await traced.close()


async def test_where_nobody_asks_nothing_is_said_and_nothing_is_traced() -> None:
    probe = Probe()

    traced = open_traced("orders", {}, OpenTraces(), probe)

    assert (traced.tracing, probe.events) == (None, [])

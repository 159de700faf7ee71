"""OpenTelemetry's messaging metrics: what of the events they are made of."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from qtrigger.events import PollFinished
from qtrigger.invocation import Interrupted, LeaseLost, Succeeded, TimedOut
from qtrigger.telemetry.metric_table import BUCKETS, MOST_ERROR_TYPES
from qtrigger.telemetry.otel_meters import OtelMeters
from tests.unit.test_measuring import failed, finished


class Read:
    """Meters, and what a reader of theirs sees."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        provider = MeterProvider([self._reader], shutdown_on_exit=False)
        self.meters = OtelMeters(provider.get_meter("test"))

    def points(self, name: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


def test_each_run_has_its_duration_with_the_names_of_the_conventions() -> None:
    read = Read()
    read.meters.emit(finished(Succeeded(), duration_s=0.2))
    read.meters.emit(finished(Succeeded(), duration_s=0.4))
    read.meters.emit(finished(Interrupted()))
    read.meters.emit(finished(LeaseLost()))

    (point,) = read.points("messaging.process.duration")
    assert (point.count, round(point.sum, 3)) == (2, 0.6)
    assert tuple(point.explicit_bounds) == BUCKETS
    assert dict(point.attributes) == {
        "messaging.system": "azure_queue_storage",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "orders",
        "faas.name": "charge",
    }


def test_a_failure_has_a_kind_of_error_and_those_are_bounded() -> None:
    read = Read()
    read.meters.emit(finished(TimedOut(after_s=1.0)))
    for number in range(MOST_ERROR_TYPES + 5):
        read.meters.emit(finished(failed(f"Error{number}")))

    points = read.points("messaging.process.duration")
    kinds = {point.attributes["error.type"]: point.count for point in points}
    assert len(kinds) == MOST_ERROR_TYPES + 2
    assert (kinds["timed_out"], kinds["Error0"], kinds["_OTHER"]) == (1, 1, 5)


def test_messages_are_counted_when_they_are_received() -> None:
    read = Read()
    for found in (16, 0, 3):
        read.meters.emit(PollFinished(function="charge", queue="orders", found=found, took_s=0.01))
    read.meters.emit(finished(Succeeded()))

    (point,) = read.points("messaging.client.consumed.messages")
    assert point.value == 19
    assert point.attributes["messaging.operation.name"] == "receive"

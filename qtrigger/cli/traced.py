"""Whether traces and metrics are sent: what OpenTelemetry's variables say, and what is missing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from qtrigger.events import EventSink, HostLog
from qtrigger.telemetry.open_traces import OpenTraces

if TYPE_CHECKING:
    from qtrigger.telemetry.otel_meters import OtelMeters
    from qtrigger.telemetry.otlp import Export
    from qtrigger.telemetry.traces import OtelTracing

Signal = Literal["TRACES", "METRICS"]

EXPORTERS: Final[Mapping[Signal, str]] = {
    "TRACES": "OTEL_TRACES_EXPORTER",
    "METRICS": "OTEL_METRICS_EXPORTER",
}
# The signal's own goes before that for all.
ENDPOINTS: Final[Mapping[Signal, tuple[str, str]]] = {
    "TRACES": ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
    "METRICS": ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
}
PROTOCOLS: Final[Mapping[Signal, tuple[str, str]]] = {
    "TRACES": ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"),
    "METRICS": ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"),
}
HTTP: Final = "http/protobuf"


class Traced:
    """What a process of `qtrigger start` sends; `tracing` is None where it sends no traces.

    `sinks` must hear all events.
    """

    def __init__(
        self,
        tracing: OtelTracing | None = None,
        meters: OtelMeters | None = None,
        export: Export | None = None,
    ) -> None:
        self.tracing = tracing
        self.sinks: tuple[EventSink, ...] = () if meters is None else (meters,)
        self._export = export

    async def close(self) -> None:
        """Send what is left, within seconds."""
        if self._export is not None:
            await self._export.close()


def wanted(environ: Mapping[str, str], signal: Signal) -> bool:
    """Whether the environment asks for that to be sent."""
    off = environ.get("OTEL_SDK_DISABLED", "").strip().casefold() == "true"
    others = environ.get(EXPORTERS[signal], "").strip().casefold() not in ("", "otlp")
    return not (off or others) and bool(_first(environ, ENDPOINTS[signal])[1])


def open_traced(
    service: str, environ: Mapping[str, str], open_traces: OpenTraces, sink: EventSink
) -> Traced:
    """Begin to send what is wanted; what keeps it from being sent is one warning."""
    signals: list[Signal] = [each for each in EXPORTERS if wanted(environ, each)]
    if not signals:
        return Traced()
    for signal in signals:
        if problem := _problem(environ, signal):
            _warn(sink, problem)
            return Traced()
    try:
        from qtrigger.telemetry.otel_meters import OtelMeters
        from qtrigger.telemetry.otlp import Export
        from qtrigger.telemetry.traces import OtelTracing
    except ImportError as error:
        given = _first(environ, ENDPOINTS[signals[0]])[0]
        _warn(
            sink,
            f"{given} is set, and no traces are sent: OpenTelemetry is not installed here "
            f"({error}). Install qtrigger[otel], or unset it.",
        )
        return Traced()
    loop = asyncio.get_running_loop()

    def tell(text: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_warn, sink, text)

    export = Export(service, environ, tell)
    return Traced(
        OtelTracing(export.tracer(), open_traces) if "TRACES" in signals else None,
        OtelMeters(export.meter()) if "METRICS" in signals else None,
        export,
    )


def _problem(environ: Mapping[str, str], signal: Signal) -> str:
    """Why it cannot be sent as the environment says, "" when it can."""
    name, protocol = _first(environ, PROTOCOLS[signal])
    if protocol in ("", HTTP):
        return ""
    return (
        f"{name} is {protocol!r}, and no traces or metrics are sent: they go by {HTTP} alone. Set "
        "it to that, and the endpoint to the receiver's port for it (4318 with most)."
    )


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, str]:
    """The first of the variables that says something, and what; two empty texts for none."""
    for name in names:
        if value := environ.get(name, "").strip():
            return name, value
    return "", ""


def _warn(sink: EventSink, text: str) -> None:
    sink.emit(HostLog(level=logging.WARNING, logger="qtrigger", message=text))

"""Whether runs are traced: what OpenTelemetry's variables say, and what is missing for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from qtrigger.events import EventSink, HostLog
from qtrigger.telemetry.open_traces import OpenTraces

if TYPE_CHECKING:
    from qtrigger.telemetry.otlp import SpanExport
    from qtrigger.telemetry.traces import OtelTracing

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
HTTP: Final = "http/protobuf"


class Traced:
    """The traces of a process of `qtrigger start`; `tracing` is None where there are none."""

    def __init__(
        self, tracing: OtelTracing | None = None, export: SpanExport | None = None
    ) -> None:
        self.tracing = tracing
        self._export = export

    async def close(self) -> None:
        """Send what is left, within seconds."""
        if self._export is not None:
            await self._export.close()


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for traces to be sent."""
    off = environ.get("OTEL_SDK_DISABLED", "").strip().casefold() == "true"
    others = environ.get("OTEL_TRACES_EXPORTER", "").strip().casefold() not in ("", "otlp")
    return not (off or others) and any(environ.get(name, "").strip() for name in ENDPOINTS)


def open_traced(
    service: str, environ: Mapping[str, str], open_traces: OpenTraces, sink: EventSink
) -> Traced:
    """Begin to trace where that is wanted; what keeps it from being done is one warning."""
    if not wanted(environ):
        return Traced()
    if problem := _problem(environ):
        _warn(sink, problem)
        return Traced()
    try:
        from qtrigger.telemetry.otlp import SpanExport
        from qtrigger.telemetry.traces import OtelTracing
    except ImportError as error:
        given = next(name for name in ENDPOINTS if environ.get(name, "").strip())
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

    export = SpanExport(service, environ, tell)
    return Traced(OtelTracing(export.tracer, open_traces), export)


def _problem(environ: Mapping[str, str]) -> str:
    """Why spans cannot be sent as the environment says, "" when they can."""
    for name in PROTOCOLS:
        protocol = environ.get(name, "").strip()
        if protocol:
            if protocol == HTTP:
                return ""
            return (
                f"{name} is {protocol!r}, and no traces are sent: they go by {HTTP} alone. Set it "
                "to that, and the endpoint to the receiver's port for it (4318 with most)."
            )
    return ""


def _warn(sink: EventSink, text: str) -> None:
    sink.emit(HostLog(level=logging.WARNING, logger="qtrigger", message=text))

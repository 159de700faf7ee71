"""Sends spans and metrics by OTLP over HTTP, as OpenTelemetry's own variables say.

Owns the tracer, the meter, what is said when something cannot be sent, and that a host's end never
waits long for it. It needs the extra `otel`. All is sent from threads, spans in batches that drop
what does not fit; no message waits for them.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from opentelemetry import metrics as otel_metrics
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from qtrigger import __version__

# For the last spans and numbers, when a host ends.
CLOSING_S: Final = 3.0
# What cannot be sent is said once in so long; it is tried again and again.
SAY_AGAIN_S: Final = 60.0
LIBRARY: Final = "opentelemetry"
_NAME: Final = "OTEL_SERVICE_NAME"
_MOST_CHARACTERS: Final = 300


class _Provider(Protocol):
    def shutdown(self) -> None:
        """Send what is left."""


class Export:
    """What is sent, until `close`; `tell` is told what goes wrong, in any thread.

    `service` is the service's name where the environment says none.
    """

    def __init__(
        self, service: str, environ: Mapping[str, str], tell: Callable[[str], None]
    ) -> None:
        named = environ.get(_NAME) or "service.name" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
        own = {SERVICE_VERSION: __version__, **({} if named else {SERVICE_NAME: service})}
        self._resource = Resource.create(own)
        self._providers: list[_Provider] = []
        self._troubles = _Troubles(tell)
        logger = logging.getLogger(LIBRARY)
        logger.addHandler(self._troubles)
        self._propagated, logger.propagate = logger.propagate, False

    def tracer(self) -> otel.Tracer:
        """What makes spans that are sent."""
        # The end is ours: at the process's own end nobody would bound it.
        provider = TracerProvider(resource=self._resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._providers.append(provider)
        return provider.get_tracer("qtrigger", __version__)

    def meter(self) -> otel_metrics.Meter:
        """What makes metrics that are sent, once a minute unless the environment says otherwise."""
        # Here alone: who sends spans only need not have them in memory.
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415
            OTLPMetricExporter,
        )
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
        from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415
            PeriodicExportingMetricReader,
        )

        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        provider = MeterProvider([reader], resource=self._resource, shutdown_on_exit=False)
        self._providers.append(provider)
        return provider.get_meter("qtrigger", __version__)

    async def close(self) -> None:
        """Send what is left, for three seconds at most."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CLOSING_S):
                ends = [_ending(provider, loop) for provider in self._providers]
                await asyncio.gather(*(end.wait() for end in ends))
        except TimeoutError:
            pass
        finally:
            logger = logging.getLogger(LIBRARY)
            logger.removeHandler(self._troubles)
            logger.propagate = self._propagated


def _ending(provider: _Provider, loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """Set once the provider has sent what is left, or never."""
    ended = asyncio.Event()

    def end() -> None:
        provider.shutdown()
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set)

    # A thread that nobody waits for: a receiver that hangs must not keep the host.
    threading.Thread(target=end, name="last spans", daemon=True).start()
    return ended


class _Troubles(logging.Handler):
    """What the library logs, said once in a while and without an address's query."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._said_at: float | None = None

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if self._said_at is not None and now - self._said_at < SAY_AGAIN_S:
            return
        self._said_at = now
        text = " ".join(re.sub(r"url: \S+", "", record.getMessage()).split())
        self._tell(f"traces or metrics are not sent as they should be: {text[:_MOST_CHARACTERS]}")

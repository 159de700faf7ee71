"""Sends spans by OTLP over HTTP, as OpenTelemetry's own variables say.

Owns the tracer, what is said when spans cannot be sent, and that a host's end never waits long for
them. It needs the extra `otel`. Spans are sent from a thread in batches; what does not fit into its
queue is dropped, and no message waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from qtrigger import __version__

# For the last spans, when a host ends.
CLOSING_S: Final = 3.0
# What cannot be sent is said once in so long; it is tried again and again.
SAY_AGAIN_S: Final = 60.0
LIBRARY: Final = "opentelemetry"
_MOST_CHARACTERS: Final = 300
_NAMED = ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES")


class SpanExport:
    """A tracer whose spans are sent, from its making until `close`.

    `service` is the service's name where the environment says none; `tell` is told what goes
    wrong, in any thread.
    """

    def __init__(
        self, service: str, environ: Mapping[str, str], tell: Callable[[str], None]
    ) -> None:
        named = any("service.name" in environ.get(name, "") for name in _NAMED[1:])
        named = named or bool(environ.get(_NAMED[0]))
        own = {SERVICE_VERSION: __version__, **({} if named else {SERVICE_NAME: service})}
        # The end is ours: at the process's own end nobody would bound it.
        self._provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._troubles = _Troubles(tell)
        logger = logging.getLogger(LIBRARY)
        logger.addHandler(self._troubles)
        self._propagated, logger.propagate = logger.propagate, False

    @property
    def tracer(self) -> otel.Tracer:
        """What makes spans."""
        return self._provider.get_tracer("qtrigger", __version__)

    async def close(self) -> None:
        """Send what is left, for three seconds at most."""
        loop, sent = asyncio.get_running_loop(), asyncio.Event()

        def end() -> None:
            self._provider.shutdown()
            loop.call_soon_threadsafe(sent.set)

        # A thread that nobody waits for: a receiver that hangs must not keep the host.
        threading.Thread(target=end, name="last spans", daemon=True).start()
        try:
            async with asyncio.timeout(CLOSING_S):
                await sent.wait()
        except TimeoutError:
            pass
        finally:
            logger = logging.getLogger(LIBRARY)
            logger.removeHandler(self._troubles)
            logger.propagate = self._propagated


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
        self._tell(f"traces are not sent as they should be: {text[:_MOST_CHARACTERS]}")

"""One HTTP exchange, behind a seam.

Owns what a request and its answer are, and the ways in which there can be no answer. Knows no
queue, no signature and no HTTP library, so that a leaner one can take aiohttp's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from qtrigger.values import value

# A full answer: 32 messages of 64 KiB, each character escaped as `&quot;`, and room to spare.
MAX_ANSWER_BYTES = 16 * 1024 * 1024

# Below the emulators' five seconds, so that they do not close a connection while a request is
# on its way; the service itself keeps them longer, but a fresh handshake now and then is cheap.
KEEP_ALIVE_S = 4.0

# Callers' slots bound the requests in flight; this bounds a burst of outputs.
MAX_CONNECTIONS = 128


@value(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer. `headers` are looked up without regard to case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Silence(Enum):
    """Why a request got no answer; the values are for comparing and for reports."""

    NOT_CONNECTED = "CannotConnect"
    UNKNOWN_HOST = "NameNotKnown"
    UNTRUSTED = "CertificateNotTrusted"
    NO_TLS = "NoTls"
    PROXY = "ProxyFailed"
    TIMED_OUT = "TimedOut"
    BROKEN_OFF = "BrokenOff"
    TOO_LONG = "AnswerTooLong"
    CLOSED = "Closed"


class NoAnswer(Exception):
    """There was no answer, or none that could be read; `detail` is free of secrets."""

    def __init__(self, reason: Silence, detail: str = "") -> None:
        super().__init__(f"{reason.name}: {detail}")
        self.reason = reason
        self.detail = detail


class Transport(Protocol):
    """Connections to one origin, kept alive between requests."""

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Send and read in full; `target` goes out as it stands, path and query.

        How long that may take is for the caller, who cancels it; the connection is closed then.
        Raises NoAnswer and nothing else.
        """

    async def close(self) -> None:
        """End all connections; a later request raises NoAnswer."""

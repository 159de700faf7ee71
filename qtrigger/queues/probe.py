"""What listens on a local port: a queue service, something else, or nothing.

Owns one unauthenticated look; starts nothing and stops nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from enum import Enum, auto

from qtrigger.clock import Clock

HOST = "127.0.0.1"

# Loopback connects at once or not at all. An Azurite that is busy or only just up answers late,
# and to take it for a stranger would end the start.
CONNECT_TIMEOUT_S = 0.25
ANSWER_TIMEOUT_S = 6.0
# Where a stranger's head is longer than that, it says enough.
MOST_BYTES = 16_384

# Storage answers a request without a signature with 4xx and its own headers.
_SIGNS = (b"\r\nx-ms-", b"\r\nserver: azurite-queue", b"\r\nserver: qtrigger-emulator")


class Listening(Enum):
    """What a port holds."""

    NOTHING = auto()
    QUEUE_SERVICE = auto()
    SOMETHING_ELSE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a look; `server` is what the listener calls itself, "" when it does not."""

    listening: Listening
    server: str = ""


async def probe(port: int, clock: Clock) -> Found:
    """Look at `port` on loopback: a quarter of a second at most, six more if it is held."""
    try:
        async with clock.timeout(CONNECT_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(HOST, port)
    except (TimeoutError, OSError):
        return Found(listening=Listening.NOTHING)
    answer = b""
    with contextlib.suppress(TimeoutError, OSError):
        async with clock.timeout(ANSWER_TIMEOUT_S):
            try:
                writer.write(f"GET / HTTP/1.0\r\nHost: {HOST}:{port}\r\n\r\n".encode())
                while b"\r\n\r\n" not in answer and len(answer) < MOST_BYTES:
                    if not (more := await reader.read(4096)):
                        break
                    answer += more
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    lower = answer.lower()
    genuine = any(sign in lower for sign in _SIGNS)
    return Found(
        listening=Listening.QUEUE_SERVICE if genuine else Listening.SOMETHING_ELSE,
        server=_server(answer),
    )


def _server(answer: bytes) -> str:
    for line in answer.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "server":
            # From a stranger, and on its way to a terminal.
            return "".join(char for char in value.strip() if char.isprintable())[:60]
    return ""

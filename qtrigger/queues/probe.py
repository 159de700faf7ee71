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

# Loopback refuses at once where nothing listens. What takes its time, to connect or to answer, is
# a program that is busy or only just up, and to take it for nothing would start a second one.
CONNECT_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 6.0
# Where a stranger's head is longer than that, it says enough.
MOST_BYTES = 16_384

# Storage answers a request without a signature with 4xx and its own headers.
_SIGNS = (b"\r\nx-ms-", b"\r\nserver: azurite-queue", b"\r\nserver: qtrigger-emulator")


class Listening(Enum):
    """What a port holds; SILENT is a program that gave no answer in time."""

    NOTHING = auto()
    QUEUE_SERVICE = auto()
    SOMETHING_ELSE = auto()
    SILENT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a look; `server` is what the listener calls itself, "" when it does not."""

    listening: Listening
    server: str = ""


async def probe(port: int, clock: Clock, *, answer_s: float = ANSWER_TIMEOUT_S) -> Found:
    """Look at `port` on loopback: two seconds at most, and `answer_s` more if it is held."""
    try:
        async with clock.timeout(CONNECT_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(HOST, port)
    except TimeoutError:
        return Found(listening=Listening.SILENT)
    except OSError:
        return Found(listening=Listening.NOTHING)
    answer, silent = b"", False
    try:
        async with clock.timeout(answer_s):
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
    except TimeoutError:
        silent = not answer
    except OSError:
        pass  # What came before the connection broke says what it is.
    if silent:
        return Found(listening=Listening.SILENT)
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

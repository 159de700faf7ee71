"""A server that keeps what it was sent and plays the answers it was given.

Owns reading a request down to its parts, and the check of a shared key's signature from nothing
but what came over the wire.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote
from xml.etree import ElementTree as ET

from qtrigger.testing.clock import settle
from tests.contract.sockets import listening

# One part goes out after the other; a server that is told to close does so after the last.
Parts = Sequence[bytes]

TIMES = (
    b"<InsertionTime>Tue, 01 Dec 2026 03:29:55 GMT</InsertionTime>"
    b"<ExpirationTime>Tue, 08 Dec 2026 03:29:55 GMT</ExpirationTime>"
)
NEXT_VISIBLE = b"<TimeNextVisible>Tue, 01 Dec 2026 03:39:55 GMT</TimeNextVisible>"
SENT = (
    b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage>'
    b"<MessageId>m1</MessageId>" + TIMES + b"<PopReceipt>AgA+/b==</PopReceipt>"
    b"" + NEXT_VISIBLE + b"</QueueMessage></QueueMessagesList>"
)
NO_MESSAGES = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?><QueueMessagesList />'

# The lines of a signature between the method and the headers of the service.
_SIGNED = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A request as it came: `path` still escaped, names of headers in small letters."""

    method: str
    path: str
    raw_query: str
    headers: dict[str, str]
    body: bytes

    @property
    def query(self) -> list[tuple[str, str]]:
        """Names and values, unescaped and sorted."""
        return sorted(parse_qsl(self.raw_query, keep_blank_values=True, strict_parsing=True))

    @property
    def text(self) -> str | None:
        """The text of the message in the body; None where there is no body."""
        if not self.body:
            return None
        root = ET.fromstring(self.body)
        (element,) = root
        assert (root.tag, element.tag) == ("QueueMessage", "MessageText")
        return element.text or ""

    def signature(self, account: str, key: str) -> str:
        """What Authorization must be, computed as the reference of the service describes it."""
        lines = [self.method]
        lines += [self._signed(name) for name in _SIGNED]
        named = sorted((n, v) for n, v in self.headers.items() if n.startswith("x-ms-"))
        lines += [f"{name}:{value.strip()}" for name, value in named]
        resource = f"/{account}{self.path}"
        pairs = [pair.partition("=") for pair in self.raw_query.split("&") if pair]
        for name, value in sorted((unquote(n).lower(), unquote(v)) for n, _, v in pairs):
            resource += f"\n{name}:{value}"
        lines.append(resource)
        digest = hmac.new(base64.b64decode(key), "\n".join(lines).encode(), hashlib.sha256)
        return f"SharedKey {account}:{base64.b64encode(digest.digest()).decode()}"

    def _signed(self, name: str) -> str:
        value = self.headers.get(name, "")
        return "" if name == "content-length" and value == "0" else value


Playing = Callable[[Recorded], Parts]


class Recording:
    """What a server was sent, and what it plays."""

    def __init__(self, plays: Playing) -> None:
        self.port = 0
        self.seen: list[Recorded] = []
        self.connections = 0
        self._plays = plays

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        while True:
            request = await _read(reader)
            self.seen.append(request)
            parts = self._plays(request)
            for part in parts:
                writer.write(part)
                await writer.drain()
                await settle()  # a part arrives as a part
            if b"connection: close" in b"".join(parts).lower():
                return


@asynccontextmanager
async def recording(plays: Playing, tls: ssl.SSLContext | None = None) -> AsyncIterator[Recording]:
    """A recording server on a free port."""
    recorder = Recording(plays)
    async with listening(recorder.serve, tls) as port:
        recorder.port = port
        yield recorder


def answer(status: str, body: bytes = b"", **headers: str) -> bytes:
    """An answer of the service with a length; underscores stand for hyphens in headers' names."""
    lines = [f"HTTP/1.1 {status}", "Server: Windows-Azure-Queue/1.0", "x-ms-version: 2021-12-02"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body and "Content_Type" not in headers:
        lines.append("Content-Type: application/xml")
    if not status.startswith("204"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def success(request: Recorded) -> Parts:
    """What the service says to a request that it can do."""
    match request.method, request.path.rpartition("/messages")[1:]:
        case "GET", ("", _):
            return [answer("200 OK", x_ms_approximate_messages_count="7")]
        case "GET", _:
            return [answer("200 OK", NO_MESSAGES)]
        case "POST", _:
            return [answer("201 Created", SENT)]
        case "PUT", ("", _):
            return [answer("201 Created")]
        case "PUT", _:
            return [
                answer(
                    "204 No Content",
                    x_ms_popreceipt="AgB+/c==",
                    x_ms_time_next_visible="Tue, 01 Dec 2026 03:39:55 GMT",
                )
            ]
        case _:
            return [answer("204 No Content")]


async def _read(reader: asyncio.StreamReader) -> Recorded:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
    (first, *lines) = head.removesuffix("\r\n\r\n").split("\r\n")
    method, target, version = first.split(" ")
    assert version == "HTTP/1.1"
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        assert name.lower() not in headers, f"{name} twice"
        headers[name.lower()] = value.strip()
    assert "transfer-encoding" not in headers, "the service wants a length"
    path, _, query = target.partition("?")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method=method, path=path, raw_query=query, headers=headers, body=body)

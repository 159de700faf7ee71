"""Just enough HTTP/1.1 to tell one request from the next, and what it asks of a queue service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

_BODILESS = (204, 304)


def verb_of(head: str) -> str:
    """What a request asks of the queue service, by the names that a queue client has for it."""
    method, target, _ = head.split(" ", 2)
    parts = urlsplit(target)
    path = parts.path.strip("/").split("/")[1:]
    if len(path) == 1:
        return {"PUT": "create", "GET": "exists", "HEAD": "exists"}.get(method, "other")
    if len(path) == 2:
        if method == "GET":
            return "peek" if "peekonly" in parse_qs(parts.query) else "receive"
        return {"POST": "send", "DELETE": "clear"}.get(method, "other")
    return {"PUT": "update", "DELETE": "delete"}.get(method, "other")


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    """The first line and the whole of the next request; None when there is no more."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    body = await _body(reader, _headers(head))
    return head.split(b"\r\n", 1)[0].decode("latin-1"), head + body


async def read_answer(reader: asyncio.StreamReader, *, bodiless: bool) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    if bodiless or status in _BODILESS:
        return head
    return head + await _body(reader, _headers(head))


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """The body as it stands on the wire, chunks and all."""
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    raw = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        raw += line + await reader.readexactly(size + 2)
        if size == 0:
            return raw

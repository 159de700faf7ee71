"""Reads a request's body, within its bounds.

Owns when it is not read at all: what says to be too large, or comes in a form that would have to
be unpacked.
"""

from __future__ import annotations

from aiohttp import web

from qtrigger.admin.security import Refused
from qtrigger.clock import Clock


async def body_of(
    request: web.BaseRequest, largest: int, *, clock: Clock, within_s: float
) -> bytes | Refused:
    """The body, of at most so many bytes, or why there is none."""
    if request.headers.get("Content-Encoding", "identity").casefold() != "identity":
        text = "send the body as it is, with no Content-Encoding"
        return Refused(status=415, reason="encoding", text=text)
    if (request.content_length or 0) > largest:
        return _too_large(largest)
    if not request.body_exists:
        return b""
    if request.headers.get("Expect", "").casefold() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer is still to come
    try:
        async with clock.timeout(within_s):
            return await _read(request, largest)
    except TimeoutError:
        text = f"the body did not come within {within_s:g} s"
        return Refused(status=408, reason="slow", text=text)
    except web.RequestPayloadError:
        return Refused(status=400, reason="malformed", text="the body is not as it says to be")


async def _read(request: web.BaseRequest, largest: int) -> bytes | Refused:
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > largest:
            return _too_large(largest)
    return bytes(body)


def _too_large(largest: int) -> Refused:
    text = f"the body may have {largest} bytes" if largest else "no body is taken here"
    return Refused(status=413, reason="size", text=text)

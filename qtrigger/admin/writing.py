"""Writes answers to whoever asked, and cuts off those who do not take them.

Owns the headers of every answer and the end of streams: with who asked, or with the server.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from aiohttp import web

from qtrigger.admin.limits import Limits
from qtrigger.admin.route import Answer, Stream, as_json
from qtrigger.admin.security import HEADERS, Refused
from qtrigger.clock import Clock


class Writing:
    """Writes the answers of one server; `closing` ends its streams."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.closing = asyncio.Event()
        self._clock = clock
        self._limits = limits

    async def whole(
        self, request: web.BaseRequest, answer: Answer, *, last: bool
    ) -> web.StreamResponse:
        """Write an answer; `last` closes the connection after it."""
        headers = {**HEADERS, "Content-Type": answer.content_type, **answer.headers}
        response = web.Response(status=answer.status, body=answer.body, headers=headers)
        # What is refused may have more of its body on the way.
        if last or answer.status in (400, 408, 413, 415) or self.closing.is_set():
            response.force_close()
        async with self._taken(request):
            await response.prepare(request)
            await response.write_eof()
        return response

    async def stream(
        self, request: web.BaseRequest, stream: Stream, gone: asyncio.Event
    ) -> web.StreamResponse:
        """Write an answer until it ends, who asked has gone, or the server closes."""
        headers = {**HEADERS, "Content-Type": stream.content_type}
        response = web.StreamResponse(headers=headers)
        response.force_close()
        ends = [asyncio.ensure_future(each.wait()) for each in (gone, self.closing)]
        try:
            async with self._taken(request):
                await response.prepare(request)
            if request.method != "HEAD":
                async for chunk in _until(stream.chunks, ends):
                    async with self._taken(request):
                        await response.write(chunk)
            async with self._taken(request):
                await response.write_eof()
        finally:
            for each in ends:
                each.cancel()
            await _closed(stream.chunks)
        return response

    @contextlib.asynccontextmanager
    async def _taken(self, request: web.BaseRequest) -> AsyncIterator[None]:
        """Raises ConnectionError, with the connection cut, where it is not taken in time."""
        try:
            async with self._clock.timeout(self._limits.write_s):
                yield
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError("the answer was not taken") from None


def refusal_of(refused: Refused, *, allow: str = "") -> Answer:
    """The answer to those who are refused."""
    answer = as_json({"error": refused.text}, refused.status)
    headers = {}
    if allow:
        headers["Allow"] = allow
    if refused.wait_s > 0:
        headers["Retry-After"] = str(int(refused.wait_s) + 1)
    return Answer(status=refused.status, body=answer.body + b"\n", headers=headers)


async def _until(
    chunks: AsyncIterator[bytes], ends: Sequence[asyncio.Future[Any]]
) -> AsyncIterator[bytes]:
    """The chunks until one of the ends is there."""
    while True:
        coming: asyncio.Future[Any] = asyncio.ensure_future(_next(chunks))
        try:
            await asyncio.wait([coming, *ends], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return
            chunk = coming.result()
        finally:
            coming.cancel()
            await asyncio.wait([coming])
        if chunk is None:
            return
        yield chunk


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


async def _closed(chunks: AsyncIterator[bytes]) -> None:
    """Let whoever makes them see to their end now, rather than when they are collected."""
    if isinstance(chunks, AsyncGenerator):
        await chunks.aclose()

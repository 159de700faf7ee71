"""One HTTP connection: a request out, its answer in.

Owns the parsing of one answer at a time and the bound on its size. Whether a connection is kept,
and for how long, is the pool's; what an answer means is for others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import httptools

from qtrigger.queues.transport import MAX_ANSWER_BYTES, NoAnswer, Response, Silence


class Headers(Mapping[str, str]):
    """The headers of an answer, read when somebody asks: most answers' headers nobody does."""

    __slots__ = ("_raw", "_read")

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw
        self._read: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._all()[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, str]:
        if self._read is None:
            self._read = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self._raw
            }
        return self._read


class Connection(asyncio.Protocol):
    """A connection's protocol; `ended` is called with it once it is closed for good."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, ended: Callable[[Connection], None]
    ) -> None:
        self._loop = loop
        self._ended = ended
        self._gone = loop.create_future()
        self._answer: asyncio.Future[Response] | None = None
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._size = 0
        self._in_body = False
        self._whole: Response | None = None
        self._kept = True
        self._idle_since = loop.time()

    def usable(self, for_s: float) -> bool:
        """Whether it can take a request, having been idle for less than `for_s` seconds."""
        return self._kept and self._answer is None and self._loop.time() - self._idle_since < for_s

    async def exchange(self, sent: bytes) -> Response:
        """Send that and wait for the answer; the connection ends when the wait is cancelled."""
        transport = self._transport
        if transport is None or not self._kept:
            raise NoAnswer(Silence.BROKEN_OFF, "closed")
        answer: asyncio.Future[Response] = self._loop.create_future()
        self._answer = answer
        transport.write(sent)
        try:
            return await answer
        except asyncio.CancelledError:
            self.end(Silence.CLOSED)
            raise
        finally:
            self._answer = None
            self._idle_since = self._loop.time()

    def end(self, why: Silence, detail: str = "") -> asyncio.Future[None]:
        """Close at once; an exchange under way raises NoAnswer. The future tells when it is so."""
        self._kept = False
        self._fail(NoAnswer(why, detail))
        if self._transport is not None:
            self._transport.abort()
        return self._gone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._answer is None or self._answer.done():
            self.end(Silence.BROKEN_OFF)  # nobody has asked
            return
        self._size += len(data)
        if self._size > MAX_ANSWER_BYTES:
            self.end(Silence.TOO_LONG, f"{MAX_ANSWER_BYTES:,} bytes")
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.end(Silence.BROKEN_OFF, type(error).__name__)
            return
        self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._kept = False
        if exc is None and self._ends_with_connection():
            self.on_message_complete()
            self._settle()
        self._fail(NoAnswer(Silence.BROKEN_OFF, type(exc).__name__ if exc else "closed"))
        if not self._gone.done():
            self._gone.set_result(None)
        self._ended(self)

    def on_message_begin(self) -> None:
        """See httptools."""
        if self._whole is not None:
            self._kept = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._in_body = True

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        status = self._parser.get_status_code()
        headers, self._headers = self._headers, []
        body, self._body = self._body, []
        self._in_body = False
        if status < 200 or self._whole is not None:
            return  # more is to come, or too much came
        self._size = 0
        if not self._parser.should_keep_alive():
            self._kept = False
        self._whole = Response(
            status=status,
            headers=Headers(headers),
            body=body[0] if len(body) == 1 else b"".join(body),
        )

    def _ends_with_connection(self) -> bool:
        """Whether an answer is under way that has no length, and so lasts until the end."""
        if not self._in_body or self._whole is not None:
            return False
        framed = (b"content-length", b"transfer-encoding")
        return not any(name.lower() in framed for name, _ in self._headers)

    def _settle(self) -> None:
        whole, self._whole = self._whole, None
        if whole is not None and self._answer is not None and not self._answer.done():
            self._answer.set_result(whole)

    def _fail(self, failure: NoAnswer) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(failure)

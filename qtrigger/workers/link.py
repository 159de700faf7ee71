"""The host's end of the socket to a worker process.

Owns frames in and frames out on the host's event loop: writes are joined once per turn of the
loop, and so are requests for runs. It does not know what other frames mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from qtrigger.workers import answers
from qtrigger.workers.python.wire import Header, Parser, WireError, encode, frame

# So many requests go at once, so that a worker begins with a batch while the rest is made ready.
MOST_TOGETHER = 8


class Link(asyncio.Protocol):
    """An open connection to a worker process.

    `on_frame` gets each frame's header and blob; `on_closed` is called once, with ""
    when the other end did it, else with what is wrong in words.
    """

    def __init__(
        self, on_frame: Callable[[Header, bytes], None], on_closed: Callable[[str], None]
    ) -> None:
        self._on_frame = on_frame
        self._on_closed = on_closed
        self._parser = Parser()
        self._unsent: list[bytes] = []
        self._requests: list[str] = []
        self._bodies: list[bytes] = []
        self._flush_due = False
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._broke = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        # Other event loops have transports of this shape that are no subclass.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        try:
            for header, blob in self._parser.feed(data):
                self._on_frame(header, blob)
        except WireError as error:
            self._break(str(error))
        except (LookupError, TypeError, ValueError) as error:
            self._break(f"{type(error).__name__}: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._transport = None
        self._on_closed(self._broke)

    def send(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        """Send a frame; without effect when the connection is gone."""
        self._join_requests()  # it may be about one of them
        self._unsent.append(encode(header, blob))
        self._flush_soon()

    def invoke(self, request: str, bodies: bytes) -> None:
        """Send a request for a run, in one frame with others; see `answers.invoke_request`."""
        self._requests.append(request)
        self._bodies.append(bodies)
        if len(self._requests) >= MOST_TOGETHER:
            self._flush()
        else:
            self._flush_soon()

    def close(self) -> None:
        """Close at once; without effect when it is closed."""
        if self._transport is not None:
            self._transport.abort()

    def _break(self, what: str) -> None:
        self._broke = f"it broke the protocol: {what}"
        self.close()

    def _join_requests(self) -> None:
        if not self._requests:
            return
        requests, self._requests = self._requests, []
        bodies, self._bodies = self._bodies, []
        try:
            frames = [frame(answers.invoke_header(requests), b"".join(bodies))]
        except WireError:  # together they are too large for a frame, which hardly one is alone
            alone = zip(requests, bodies, strict=True)
            try:
                frames = [frame(answers.invoke_header([each]), body) for each, body in alone]
            except WireError as error:  # its run would wait for an answer for ever
                self._broke = f"qtrigger could not ask it for a run: {error}"
                self.close()
                return
        self._unsent += frames

    def _flush_soon(self) -> None:
        if not self._flush_due:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        self._join_requests()
        data, self._unsent = self._unsent, []
        if data and self._transport is not None:
            self._transport.write(b"".join(data))

"""The connections to the HTTP server: how many there may be, and which goes for one too many.

Owns aiohttp's own kind of connection, with nothing of its texts: what it answers by itself, to
what is no HTTP, reads as all else here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from qtrigger.admin.security import HEADERS

Malformed = Callable[[web.BaseRequest, str], None]
"""Hears of a request that is no HTTP, and why."""

# A browser opens six; the oldest that asks for nothing makes room for one more.
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"


class Connection(RequestHandler):
    """One connection. `gone` is set once the other side has gone; `asks` while one is answered."""

    __slots__ = ("asks", "count", "gone", "malformed")

    def __init__(self, server: Connections, malformed: Malformed, **limits: Any) -> None:
        super().__init__(server, **limits)
        self.malformed = malformed
        self.gone = asyncio.Event()
        self.asks = False
        self.count = 0

    def connection_lost(self, exc: BaseException | None) -> None:
        """See asyncio."""
        self.gone.set()
        super().connection_lost(exc)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Tell a defect; what clients send is none, and is told as refused."""
        error = kw.get("exc_info")
        asyncio.get_running_loop().call_exception_handler(
            {"message": "HTTP: " + str(args[0] if args else ""), "exception": error}
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what could not be parsed, with no word of what it was."""
        del message
        if isinstance(exc, ConnectionError) or request.writer.output_size > 0:
            raise ConnectionResetError("who asked has gone") from exc
        if status >= 500:
            self.log_exception("a request was not answered", exc_info=exc)
            return web.Response(status=500, headers=HEADERS)
        self.malformed(request, "malformed")
        answer = web.Response(status=status, text="this is no HTTP request\n", headers=HEADERS)
        answer.force_close()
        return answer


class Connections(web.Server):
    """All connections of one server, `most` at once; `limits` are aiohttp's for each."""

    def __init__(
        self,
        answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        malformed: Malformed,
        *,
        most: int,
        **limits: Any,
    ) -> None:
        super().__init__(answer)
        self._malformed = malformed
        self._most = most
        self._limits = limits
        self._here: dict[Connection, asyncio.Transport] = {}

    def __call__(self) -> RequestHandler:
        """Make the connection for somebody who has come."""
        return Connection(self, self._malformed, loop=self._loop, **self._limits)

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Keep it, in the place of one that is idle where there are too many."""
        super().connection_made(handler, transport)
        assert isinstance(handler, Connection)
        if len(self._here) >= self._most:
            idle = next((each for each in self._here if not each.asks), None)
            if idle is None:
                transport.write(_FULL)
                transport.close()
                return
            self._here.pop(idle).abort()
        self._here[handler] = transport

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Forget it."""
        super().connection_lost(handler, exc)
        if isinstance(handler, Connection):
            self._here.pop(handler, None)

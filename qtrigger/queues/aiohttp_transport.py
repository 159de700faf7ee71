"""HTTP by aiohttp, for where a proxy stands between.

Owns when the library is imported: with the first request, since most starts need none of it, and
it would cost them a third of their time. Knows nothing of queues. The proxy is looked up once, by
the caller: aiohttp's own look-up (`trust_env`) costs two thread hops on every request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qtrigger.queues.transport import NoAnswer, Response, Silence

if TYPE_CHECKING:
    from qtrigger.queues.aiohttp_session import AiohttpSession


class AiohttpTransport:
    """A `Transport` for `origin`, such as `https://acme.queue.core.windows.net`.

    `proxy` is an HTTP proxy's URL, credentials included, or None.
    """

    def __init__(self, origin: str, *, proxy: str | None = None) -> None:
        self._origin = origin
        self._proxy = proxy
        self._session: AiohttpSession | None = None
        self._closed = False

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """See `Transport`."""
        return await self._open().request(method, target, headers, body)

    async def close(self) -> None:
        """See `Transport`."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    def _open(self) -> AiohttpSession:
        if self._closed:
            raise NoAnswer(Silence.CLOSED)
        from qtrigger.queues.aiohttp_session import AiohttpSession, bare  # noqa: PLC0415 - see above

        if self._proxy is not None and not self._proxy.startswith(("http://", "https://")):
            raise NoAnswer(Silence.PROXY, f"{bare(self._proxy)}: no HTTP proxy")
        if self._session is None:
            # Not at construction: a session belongs to a running loop.
            self._session = AiohttpSession(self._origin, self._proxy)
        return self._session

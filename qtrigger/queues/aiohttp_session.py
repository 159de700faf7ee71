"""A session of aiohttp's with one origin by a proxy: what `aiohttp_transport` holds.

The only module of the client side that knows aiohttp, and so imported only when there is a
request to make by it. Knows nothing of queues, nor whether the transport was closed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import aiohttp
from yarl import URL

from qtrigger.queues.reach import reason, trusting
from qtrigger.queues.transport import (
    KEEP_ALIVE_S,
    MAX_ANSWER_BYTES,
    MAX_CONNECTIONS,
    NoAnswer,
    Response,
    Silence,
)


class AiohttpSession:
    """An open session; see `AiohttpTransport`. Made inside the loop that it is used in."""

    def __init__(self, origin: str, proxy: str | None) -> None:
        self._origin = origin
        self._proxy = proxy
        # The certificates to trust are read now.
        secure = origin.startswith("https:")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=MAX_CONNECTIONS,
                keepalive_timeout=KEEP_ALIVE_S,
                ttl_dns_cache=30,
                ssl=trusting(os.environ) if secure else True,
            ),
            # The deadline is the caller's, over the whole exchange.
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            # A compressed answer could grow past any bound while it is unpacked.
            auto_decompress=False,
            headers={"Accept-Encoding": "identity"},
            middlewares=(_once,),
            # It would put a type on a request without a body, where none was signed.
            skip_auto_headers=("Content-Type",),
        )

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """See `Transport`."""
        try:
            async with self._session.request(
                method,
                URL(self._origin + target, encoded=True),
                headers=headers,
                data=body or None,
                proxy=self._proxy,
                allow_redirects=False,
            ) as answer:
                return Response(
                    status=answer.status, headers=answer.headers, body=await _read(answer)
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # No chain: the library's errors can hold the whole address, and so a signature.
            raise self._no_answer(error) from None

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()

    def _no_answer(self, error: Exception) -> NoAnswer:
        why, detail = Silence.BROKEN_OFF, _reason(error)
        match error:
            case aiohttp.ClientConnectorCertificateError():
                why = Silence.UNTRUSTED
            case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
                why, detail = Silence.PROXY, f"{bare(self._proxy)}: {_reason(error)}"
            case aiohttp.ClientConnectorDNSError() if self._proxy is not None:
                why, detail = Silence.PROXY, f"{bare(self._proxy)}: its name is not known"
            case aiohttp.ClientConnectorDNSError() | aiohttp.InvalidURL():
                why, detail = Silence.UNKNOWN_HOST, ""
            case aiohttp.ClientConnectorSSLError():
                why = Silence.NO_TLS
            case aiohttp.ClientConnectorError():
                why = Silence.NOT_CONNECTED
        return NoAnswer(why, detail)


async def _once(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep the library from sending anything but a POST again when a kept connection dies.

    A second Get Messages would take a second batch, and the first, whose answer was lost, would
    stay hidden with nobody to work it. The library repeats two of its own errors after the
    middlewares have seen them; what is no error of its own it lets through.
    """
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise  # nothing was sent, and it is not repeated
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise NoAnswer(Silence.BROKEN_OFF, _reason(error)) from None


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in answer.content.iter_any():
        size += len(chunk)
        if size > MAX_ANSWER_BYTES:
            answer.close()
            raise NoAnswer(Silence.TOO_LONG, f"{MAX_ANSWER_BYTES:,} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def bare(proxy: str | None) -> str:
    """The proxy's address without user name and password."""
    return (proxy or "").rpartition("@")[2].rpartition("://")[2]


def _reason(error: BaseException) -> str:
    """The system's own words, without the address that the library puts around them."""
    match error:
        case (
            aiohttp.ClientConnectorCertificateError(certificate_error=inner)
            | aiohttp.ClientConnectorError(os_error=inner)
        ):
            return reason(inner)
        case aiohttp.ClientHttpProxyError(status=status):
            return f"answered {status}"
        case _:
            return reason(error)

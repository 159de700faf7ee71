"""Servers that do as a test bids, and a client for them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

from qtrigger.clock import SystemClock
from qtrigger.queues.account import EMULATOR_KEY, Account, SharedKey
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from qtrigger.queues.transport import Transport

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

Way = Callable[[str], Transport]
QueueAt = Callable[..., AbstractAsyncContextManager[RestQueueClient]]

HEAD = b"HTTP/1.1 200 OK\r\nx-ms-version: 2021-12-02\r\nContent-Type: application/xml\r\n"
EMPTY = b"<QueueMessagesList/>"


@asynccontextmanager
async def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on a free port; each connection is served until the test is over."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def queue_by(
    way: Way, endpoint: str, timeout_s: float = 5.0
) -> AsyncIterator[RestQueueClient]:
    """A client of the queue `orders` at `endpoint`, by that way of HTTP."""
    account = Account(
        name="acme", endpoint=endpoint, credential=SharedKey(account="acme", key=EMULATOR_KEY)
    )
    transport = way("{0.scheme}://{0.netloc}".format(urlsplit(endpoint)))
    service = RestQueueService(account, SystemClock(), timeout_s=timeout_s, transport=transport)
    try:
        yield service.queue("orders")
    finally:
        await service.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One request's head."""
    return await reader.readuntil(b"\r\n\r\n")


def chunked(body: bytes) -> bytes:
    """One chunk of an answer without a length."""
    return b"%x\r\n%s\r\n" % (len(body), body)

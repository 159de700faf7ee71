"""A queue server that is no limit: in memory, no signatures checked, as little work as can be.

Owns the wire: requests are cut out of the stream by hand, because they come from known clients
and a parser would cost more than everything else here. What the queues hold is `store`'s.
For measuring only; `python -m benchmarks.server --port 10101`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
import ssl
from typing import cast
from urllib.parse import parse_qsl, unquote

import uvloop

from benchmarks.store import Reply, Store

ACCOUNT = "devstoreaccount1"
LENGTH = b"\r\ncontent-length:"


class Connection(asyncio.Protocol):
    """One client; its requests are answered in order."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._data = b""
        self._out: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        # uvloop's transports are of this shape without being of this class.
        self._out = cast("asyncio.WriteTransport", transport)
        self._store.stats["connections"] += 1

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._data = self._data + data if self._data else data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end]
            at = head.lower().find(LENGTH)
            length = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            whole = end + 4 + length
            if len(self._data) < whole:
                return
            body, self._data = self._data[end + 4 : whole], self._data[whole:]
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            self._answer(method, target, body)

    def _answer(self, method: str, target: str, body: bytes) -> None:
        path, _, query = target.partition("?")
        if path.startswith("/_ctl/"):
            reply = self._store.control(path[6:], dict(parse_qsl(query)))
            self._write(reply)
            return
        reply = self._store.serve(method, parts_of(path), query_of(query), body)
        if self._store.latency_s:
            self._loop.call_later(self._store.latency_s, self._write, reply)
        else:
            self._write(reply)

    def _write(self, reply: Reply) -> None:
        if self._out is not None and not self._out.is_closing():
            self._out.write(reply)


def parts_of(path: str) -> list[str]:
    """The parts of a path after the account."""
    parts = [unquote(part) if "%" in part else part for part in path.split("/") if part]
    return parts[1:] if parts and parts[0] == ACCOUNT else parts


def query_of(text: str) -> dict[str, str]:
    """The query's names and values."""
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    return {name: unquote(value) if "%" in value else value for name, _, value in pairs}


async def serve(port: int, certificate: str | None) -> None:
    """Serve until told to stop; first tell the ports, the one with TLS second, 0 without."""
    loop = asyncio.get_running_loop()
    store = Store()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)

    def connection() -> Connection:
        return Connection(store, loop)

    servers = [await loop.create_server(connection, "127.0.0.1", port)]
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        servers.append(await loop.create_server(connection, "127.0.0.1", 0, ssl=tls))
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    print("listening on ports", *(ports if certificate else [*ports, 0]), flush=True)
    try:
        await stopped.wait()
    finally:
        for server in servers:
            server.close()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=10101, help="0 takes a free one")
    parser.add_argument("--certificate", help="a file with key and certificate; adds a TLS port")
    options = parser.parse_args()
    # A million messages are no cycles, and looking through them would show in every figure.
    gc.disable()
    uvloop.run(serve(options.port, options.certificate))


if __name__ == "__main__":
    main()

"""What the queue server can do at all, to show that it is not what is measured.

The client here does next to nothing: requests without headers over two dozen plain sockets, one in
flight on each. What it is answered in a second is the least that the server can do.
"""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass

from benchmarks.measure import TEXT
from benchmarks.processes import usage
from benchmarks.service import ACCOUNT, Service

CONNECTIONS = 24
PAGE = 16
MESSAGES = 60_000
QUEUE = "limit"
TIMEOUT_S = 10.0
_RECEIPT = re.compile(rb"<MessageId>([^<]*)<.*?<PopReceipt>([^<]*)<")
_END = b"</QueueMessagesList>"


@dataclass(frozen=True, slots=True)
class Limit:
    """What a bare client has seen."""

    per_s: float
    request_us: float
    """CPU of the server for one request."""


def measure(service: Service) -> Limit:
    """Empty a queue as fast as can be."""
    service.reset()
    service.fill(QUEUE, MESSAGES, TEXT)
    address = ("127.0.0.1", service.port)
    sockets = [socket.create_connection(address, TIMEOUT_S) for _ in range(CONNECTIONS)]
    try:
        cpu, began = usage([service.pid], []), time.monotonic()
        while waiting := _receive(sockets[0]):
            while waiting:
                used = sockets[: len(waiting)]
                for connection in used:
                    connection.sendall(waiting.pop())
                for connection in used:
                    connection.recv(4096)
        seconds = time.monotonic() - began
    finally:
        for connection in sockets:
            connection.close()
    requests = service.stats().requests
    used_s = usage([service.pid], []).since(cpu).all_s
    return Limit(requests / seconds, used_s / requests * 1e6)


def _receive(connection: socket.socket) -> list[bytes]:
    """The requests that delete the next messages."""
    asked = f"numofmessages={PAGE}&visibilitytimeout=600"
    connection.sendall(f"GET /{ACCOUNT}/{QUEUE}/messages?{asked} HTTP/1.1\r\n\r\n".encode())
    data = b""
    while not data.endswith(_END) and (more := connection.recv(65536)):
        data += more
    return [
        b"DELETE /%s/%s/messages/%s?popreceipt=%s HTTP/1.1\r\n\r\n"
        % (ACCOUNT.encode(), QUEUE.encode(), found[1], found[2])
        for found in _RECEIPT.finditer(data)
    ]

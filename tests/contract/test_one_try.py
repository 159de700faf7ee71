"""A verb is one request on the wire, whatever becomes of it; counted by a server of our own."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable

import pytest

from qtrigger.errors import QueueUnavailable
from qtrigger.queues.rest import RestQueueClient
from tests.contract.sockets import EMPTY, HEAD, QueueAt, listening, read_request

Verb = Callable[[RestQueueClient], Awaitable[object]]

VERBS: dict[str, Verb] = {
    "receive": lambda queue: queue.receive(32, 30),
    "peek": lambda queue: queue.peek(1),
    "update": lambda queue: queue.update("m", "r", 30),
    "delete": lambda queue: queue.delete("m", "r"),
    "send": lambda queue: queue.send("x"),
    "create": lambda queue: queue.create(),
    "count": lambda queue: queue.approximate_count(),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
async def test_a_kept_connection_that_dies_is_not_tried_again(
    queue_at: QueueAt, verb: Verb, reset: bool
) -> None:
    requests = 0

    async def dying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        await read_request(reader)
        requests += 1
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(EMPTY), EMPTY))
        await read_request(reader)
        requests += 1  # the second on this connection: taken, and never answered
        if reset:
            no_linger = struct.pack("ii", 1, 0)
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)

    async with listening(dying) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        await queue.receive(1, 30)
        with pytest.raises(QueueUnavailable) as broken:
            await verb(queue)

    assert broken.value.code == "BrokenOff"
    assert requests == 2

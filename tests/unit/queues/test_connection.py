"""One connection, fed by hand."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.queues.connection import Connection
from qtrigger.queues.transport import NoAnswer, Response, Silence
from qtrigger.testing.clock import settle

TO_THE_END = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<QueueMessagesList>"


class Sent(asyncio.Transport):
    """Takes what is sent."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """It goes nowhere."""

    def abort(self) -> None:
        """There is nothing to close."""


async def exchange(received: bytes, end: Exception | None) -> Response:
    """Ask, receive that, and be closed, for a reason or in good order."""
    ended: list[Connection] = []
    connection = Connection(asyncio.get_running_loop(), ended.append)
    connection.connection_made(Sent())
    asking = asyncio.ensure_future(connection.exchange(b"GET / HTTP/1.1\r\n\r\n"))
    await settle()
    connection.data_received(received)
    connection.connection_lost(end)
    assert ended == [connection]
    return await asking


async def test_an_answer_without_a_length_is_whole_when_its_connection_is_closed() -> None:
    answer = await exchange(TO_THE_END, None)

    assert (answer.status, answer.body) == (200, b"<QueueMessagesList>")


async def test_an_answer_without_a_length_is_no_answer_when_its_connection_breaks() -> None:
    with pytest.raises(NoAnswer) as failure:
        await exchange(TO_THE_END, ConnectionResetError())

    assert failure.value.reason is Silence.BROKEN_OFF

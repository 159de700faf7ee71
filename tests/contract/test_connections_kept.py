"""The pool of connections: never more than its bound, and no room in it is ever lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from qtrigger.clock import SystemClock
from qtrigger.queues.httptools_transport import HttptoolsTransport
from qtrigger.queues.transport import KEEP_ALIVE_S, MAX_CONNECTIONS, NoAnswer, Response, Silence
from qtrigger.testing.clock import settle
from tests.contract.sockets import EMPTY, HEAD, Serve, listening, read_request

CLOCK = SystemClock()
ANSWER = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(EMPTY), EMPTY)


class Server:
    """Answers when it is let; counts its open connections."""

    def __init__(self) -> None:
        self.open = 0
        self.most = 0
        self.made = 0
        self.let = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.made += 1
        self.most = max(self.most, self.open)
        try:
            while await read_request(reader):
                await self.let.wait()
                writer.write(ANSWER)
        finally:
            self.open -= 1


@asynccontextmanager
async def transport_to(
    serve: Serve, keep_alive_s: float = KEEP_ALIVE_S
) -> AsyncIterator[HttptoolsTransport]:
    async with listening(serve) as port:
        transport = HttptoolsTransport(f"http://127.0.0.1:{port}", keep_alive_s=keep_alive_s)
        try:
            yield transport
        finally:
            await transport.close()


async def get(transport: HttptoolsTransport) -> Response:
    async with CLOCK.timeout(10):
        return await transport.request("GET", "/acme/orders/messages", {}, b"")


async def test_more_requests_than_connections_wait_and_are_all_answered() -> None:
    server = Server()
    async with transport_to(server.serve) as transport:
        requests = [asyncio.ensure_future(get(transport)) for _ in range(3 * MAX_CONNECTIONS)]
        while server.open < MAX_CONNECTIONS:
            await settle()
        server.let.set()
        answers = await asyncio.gather(*requests)

    assert {answer.status for answer in answers} == {200}
    assert server.most <= MAX_CONNECTIONS


async def test_requests_that_are_given_up_at_any_point_leave_their_room() -> None:
    server = Server()
    random = Random(1)
    async with transport_to(server.serve) as transport:
        for _ in range(5):
            requests = [asyncio.ensure_future(get(transport)) for _ in range(2 * MAX_CONNECTIONS)]
            random.shuffle(requests)
            for request in requests:
                if random.random() < 0.2:
                    await settle()
                request.cancel()
            await asyncio.gather(*requests, return_exceptions=True)
        server.let.set()

        answers = await asyncio.gather(*(get(transport) for _ in range(2 * MAX_CONNECTIONS)))

    assert {answer.status for answer in answers} == {200}


async def test_who_is_given_up_when_its_turn_has_come_leaves_the_turn_to_the_next() -> None:
    server = Server()
    async with transport_to(server.serve) as transport:
        requests = [asyncio.ensure_future(get(transport)) for _ in range(MAX_CONNECTIONS)]
        while server.open < MAX_CONNECTIONS:
            await settle()
        first, second = (asyncio.ensure_future(get(transport)) for _ in range(2))
        await settle()
        requests[0].cancel()
        for _ in range(100):
            await asyncio.sleep(0)
            if transport.open < MAX_CONNECTIONS:
                break  # it is the first's turn, which has not noticed yet
        first.cancel()
        async with CLOCK.timeout(30):
            while server.made == MAX_CONNECTIONS:
                await settle()
        server.let.set()

        assert (await second).status == 200
        await asyncio.gather(first, *requests, return_exceptions=True)


async def test_a_close_ends_what_waits_what_connects_and_what_is_under_way() -> None:
    server = Server()
    async with transport_to(server.serve) as transport:
        requests = [asyncio.ensure_future(get(transport)) for _ in range(MAX_CONNECTIONS + 20)]
        while server.open < MAX_CONNECTIONS // 2:
            await settle()
        await transport.close()
        ends = await asyncio.gather(*requests, return_exceptions=True)

        assert all(isinstance(end, NoAnswer) for end in ends), ends
        assert {end.reason for end in ends if isinstance(end, NoAnswer)} == {Silence.CLOSED}
        with pytest.raises(NoAnswer):
            await get(transport)


async def test_what_a_burst_has_opened_is_closed_once_it_was_idle_for_long() -> None:
    server = Server()
    server.let.set()
    async with transport_to(server.serve, keep_alive_s=0.2) as transport:
        await asyncio.gather(*(get(transport) for _ in range(50)))
        assert transport.open > 1
        async with CLOCK.timeout(10):
            while transport.open > 1:
                await get(transport)
                await CLOCK.sleep(0.02)


async def test_a_connection_that_the_other_side_has_closed_is_not_used_again() -> None:
    made = 0

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal made
        made += 1
        await read_request(reader)
        writer.write(ANSWER)

    async with transport_to(once) as transport:
        for number in range(1, 4):
            assert (await get(transport)).status == 200
            while transport.open:
                await settle()
            assert made == number


@pytest.mark.parametrize(
    ("beginning", "status", "body"),
    [
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            200,
            b"hi",
        ),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end", 200, b"to the end"),
        (b"HTTP/1.0 200 OK\r\n\r\nold", 200, b"old"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-A: b\r\n\r\n",
            200,
            b"abc",
        ),
    ],
    ids=["continue", "to the end", "http 1.0", "no content", "trailers"],
)
async def test_every_way_to_end_an_answer_is_understood(
    beginning: bytes, status: int, body: bytes
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(beginning)

    async with transport_to(serve) as transport:
        answer = await get(transport)

    assert (answer.status, answer.body) == (status, body)


async def test_what_comes_unasked_ends_the_connection_and_is_no_answer_to_the_next() -> None:
    made = 0

    async def talkative(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal made
        made += 1
        await read_request(reader)
        writer.write(ANSWER + b"HTTP/1.1 500 Odd\r\nContent-Length: 0\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            await reader.read()

    async with transport_to(talkative) as transport:
        assert [(await get(transport)).status for _ in range(2)] == [200, 200]
        assert made == 2


@pytest.mark.parametrize("character", ["\u20ac", "\n", "\r", "\r\nX-Other: 1\r\n\r\n"])
async def test_what_http_cannot_carry_is_no_answer_and_is_not_shown(character: str) -> None:
    server = Server()
    server.let.set()
    async with transport_to(server.serve) as transport:
        for target, token in (
            (f"/orders?sig=secret{character}", "t"),
            ("/orders", f"secret{character}"),
        ):
            with pytest.raises(NoAnswer, match="cannot carry") as failure:
                await transport.request("GET", target, {"Authorization": token}, b"")
            assert "secret" not in str(failure.value)
        assert (await get(transport)).status == 200
        assert server.made == 1


async def test_headers_without_end_are_bounded() -> None:
    async def flooding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD)
        while True:
            writer.write(b"X-More: " + b"x" * 60_000 + b"\r\n")
            await writer.drain()

    async with transport_to(flooding) as transport:
        with pytest.raises(NoAnswer) as failure:
            await get(transport)

    assert failure.value.reason in (Silence.TOO_LONG, Silence.BROKEN_OFF)

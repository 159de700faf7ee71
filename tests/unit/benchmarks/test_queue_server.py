"""The queue server that is measured on behaves as the service does, as far as consumers see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from benchmarks.server import Connection
from benchmarks.service import ACCOUNT, KEY
from benchmarks.store import Store
from qtrigger.clock import SystemClock
from qtrigger.errors import LeaseLostError, QueueMissing
from qtrigger.queues.account import Account, SharedKey
from qtrigger.queues.rest import RestQueueService

LEASE_S = 30.0


@dataclass
class Hand:
    """A clock that is moved by hand."""

    at: float = 100.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Serving:
    """The server, its clock, and a client of qtrigger's own."""

    service: RestQueueService
    address: tuple[str, int]
    store: Store
    clock: Hand = field(default_factory=Hand)

    def counted(self, verb: str = "stats", **query: str) -> dict[str, float]:
        told: dict[str, float] = json.loads(
            self.store.control(verb, query).rpartition(b"\r\n\r\n")[2]
        )
        return told


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    clock = Hand()
    store = Store(clock)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(store, loop), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    account = Account(
        name=ACCOUNT,
        endpoint=f"http://{host}:{port}/{ACCOUNT}",
        credential=SharedKey(account=ACCOUNT, key=KEY),
    )
    service = RestQueueService(account, SystemClock())
    try:
        yield Serving(service, (host, port), store, clock)
    finally:
        await service.close()
        server.close()


async def test_what_is_sent_is_received_once_and_hidden(serving: Serving) -> None:
    queue = serving.service.queue("orders")
    await queue.create()
    await queue.send("&<one>")
    (message,) = await queue.receive(16, LEASE_S)
    assert (message.text, message.dequeue_count) == ("&<one>", 1)
    assert await queue.receive(16, LEASE_S) == []
    assert await queue.peek(16) == []
    assert await queue.approximate_count() == 1


async def test_a_lease_that_ends_delivers_again_and_is_counted(serving: Serving) -> None:
    serving.counted("fill", queue="orders", n="1", text="a")
    queue = serving.service.queue("orders")
    (first,) = await queue.receive(1, LEASE_S)
    serving.clock.at += LEASE_S
    (second,) = await queue.receive(1, LEASE_S)
    assert (second.id, second.dequeue_count) == (first.id, 2)
    assert second.pop_receipt != first.pop_receipt
    assert (serving.counted()["handed"], serving.counted()["again"]) == (2, 1)
    with pytest.raises(LeaseLostError):
        await queue.delete(first.id, first.pop_receipt)
    assert serving.counted()["left"] == 1


async def test_a_renewal_replaces_the_receipt_and_lasts(serving: Serving) -> None:
    serving.counted("fill", queue="orders", n="1", text="a")
    queue = serving.service.queue("orders")
    (message,) = await queue.receive(1, LEASE_S)
    serving.clock.at += LEASE_S / 2
    renewed = await queue.update(message.id, message.pop_receipt, LEASE_S)
    serving.clock.at += LEASE_S / 2
    assert await queue.receive(1, LEASE_S) == []
    with pytest.raises(LeaseLostError):
        await queue.delete(message.id, message.pop_receipt)
    await queue.delete(message.id, renewed.pop_receipt)
    assert (serving.counted()["delete"], serving.counted()["left"]) == (1, 0)


async def test_a_delete_counts_once_and_says_when(serving: Serving) -> None:
    serving.counted("fill", queue="orders", n="3", text="a")
    queue = serving.service.queue("orders")
    messages = await queue.receive(2, LEASE_S)
    serving.clock.at = 123.0
    for message in messages:
        await queue.delete(message.id, message.pop_receipt)
    serving.clock.at = 124.0
    with pytest.raises(LeaseLostError):
        await queue.delete(messages[0].id, messages[0].pop_receipt)
    counted = serving.counted()
    assert (counted["get"], counted["delete"], counted["left"]) == (1, 2, 1)
    assert counted["last_delete_at"] == 123.0


async def test_a_missing_queue_is_said_to_be_missing(serving: Serving) -> None:
    queue = serving.service.queue("nothing")
    assert not await queue.exists()
    with pytest.raises(QueueMissing):
        await queue.receive(1, LEASE_S)


async def test_a_reset_forgets_all_and_a_recount_the_counts_alone(serving: Serving) -> None:
    serving.counted("fill", queue="orders", n="3", text="a")
    await serving.service.queue("orders").receive(1, LEASE_S)
    recounted = serving.counted("recount")
    assert (recounted["left"], recounted.get("get", 0)) == (3, 0)
    serving.counted("latency", ms="20")
    assert serving.store.latency_s == 0.02
    assert serving.counted("reset")["left"] == 0
    assert serving.store.latency_s == 0.0


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_requests_are_cut_out_of_whatever_pieces_they_come_in(
    serving: Serving, size: int
) -> None:
    body = b"<QueueMessage><MessageText>hello</MessageText></QueueMessage>"
    put = b"POST /%s/orders/messages HTTP/1.1\r\ncontent-LENGTH: %d\r\n\r\n%s"
    asked = b"PUT /%s/orders HTTP/1.1\r\n\r\n" % ACCOUNT.encode()
    asked += put % (ACCOUNT.encode(), len(body), body) * 2
    reader, writer = await asyncio.open_connection(*serving.address)
    for at in range(0, len(asked), size):
        writer.write(asked[at : at + size])
        await writer.drain()
    async with asyncio.timeout(10):
        for _ in range(3):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 201 ")
            await reader.readexactly(int(head.rpartition(b"Content-Length: ")[2]))
    writer.close()
    await writer.wait_closed()
    assert serving.counted()["left"] == 2


async def test_an_answer_waits_for_the_latency(serving: Serving) -> None:
    later: list[tuple[float, Callable[..., object]]] = []

    class Loop(asyncio.SelectorEventLoop):
        def call_later(self, delay: float, callback: Callable[..., object], *_: object) -> None:  # type: ignore[override]
            later.append((delay, callback))

    loop = Loop()
    try:
        connection = Connection(serving.store, loop)
        serving.counted("latency", ms="50")
        connection.data_received(b"GET /%s HTTP/1.1\r\n\r\n" % ACCOUNT.encode())
        connection.data_received(b"GET /_ctl/stats? HTTP/1.1\r\n\r\n")
    finally:
        loop.close()
    assert [delay for delay, _ in later] == [0.05]

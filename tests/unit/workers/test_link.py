"""The host's end of the socket to a worker."""

from __future__ import annotations

import asyncio

from qtrigger.workers.link import MOST_TOGETHER, Link
from qtrigger.workers.python.wire import Parser


class Written(asyncio.Transport):
    """A transport that keeps what it is given, a list of frames for each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[int] = []
        self._parser = Parser()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        frames = self._parser.feed(bytes(data))
        self.writes.append(sum(len(header["runs"]) for header, _ in frames))


async def test_requests_of_one_turn_of_the_loop_go_together() -> None:
    written, link = Written(), Link(lambda _header, _blob: None, lambda _broke: None)
    link.connection_made(written)

    for number in range(3):
        link.invoke({"id": number}, b"")
    assert written.writes == []
    await asyncio.sleep(0)

    assert written.writes == [3]


async def test_a_worker_begins_with_a_batch_before_the_last_of_it_is_made_ready() -> None:
    written, link = Written(), Link(lambda _header, _blob: None, lambda _broke: None)
    link.connection_made(written)

    for number in range(MOST_TOGETHER):
        link.invoke({"id": number}, b"")

    assert written.writes == [MOST_TOGETHER]
    await asyncio.sleep(0)
    assert written.writes == [MOST_TOGETHER]

"""What the host sends to a worker process, and in which frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from qtrigger.testing.clock import settle
from qtrigger.workers.link import MOST_TOGETHER, Link
from qtrigger.workers.python.wire import MAX_HEADER, Frame, Parser


class Pipe(asyncio.Transport):
    """Keeps what is written, a piece for each time."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.aborted: Callable[[], None] = lambda: None

    def write(self, data: Any) -> None:
        self.pieces.append(bytes(data))

    def abort(self) -> None:
        self.aborted()

    def frames(self) -> list[Frame]:
        return Parser().feed(b"".join(self.pieces))


def connected() -> tuple[Link, Pipe]:
    link, pipe = Link(lambda _header, _blob: None, lambda _broke: None), Pipe()
    link.connection_made(pipe)
    return link, pipe


async def test_the_requests_of_one_turn_go_as_one_frame() -> None:
    link, pipe = connected()

    link.invoke('{"id":1}', b"one")
    link.invoke('{"id":2}', b"two")
    assert pipe.pieces == []
    await settle()
    link.invoke('{"id":3}', b"three")
    await settle()

    assert pipe.frames() == [
        ({"t": "invoke", "runs": [{"id": 1}, {"id": 2}]}, b"onetwo"),
        ({"t": "invoke", "runs": [{"id": 3}]}, b"three"),
    ]


async def test_a_worker_begins_with_a_batch_before_the_last_of_it_is_made_ready() -> None:
    link, pipe = connected()

    for number in range(MOST_TOGETHER):
        link.invoke(f'{{"id":{number}}}', b"")
    assert len(pipe.pieces) == 1
    await settle()

    assert len(pipe.pieces) == 1
    ((header, _bodies),) = pipe.frames()
    assert len(header["runs"]) == MOST_TOGETHER


async def test_a_question_about_a_run_comes_behind_the_request_for_it_in_the_same_piece() -> None:
    link, pipe = connected()

    link.invoke('{"id":1}', b"")
    link.send({"t": "cancel", "id": 1})
    link.invoke('{"id":2}', b"")
    await settle()

    assert [header["t"] for header, _blob in pipe.frames()] == ["invoke", "cancel", "invoke"]
    assert len(pipe.pieces) == 1


async def test_requests_that_are_too_large_together_go_alone() -> None:
    link, pipe = connected()
    text = "x" * (MAX_HEADER * 2 // 3)

    link.invoke(json.dumps({"id": 1, "retry": text}), b"one")
    link.invoke(json.dumps({"id": 2, "retry": text}), b"two")
    await settle()

    assert [([run["id"] for run in header["runs"]], blob) for header, blob in pipe.frames()] == [
        ([1], b"one"),
        ([2], b"two"),
    ]


async def test_a_request_too_large_for_any_frame_ends_the_connection() -> None:
    closed = list[str]()
    link, pipe = Link(lambda _header, _blob: None, closed.append), Pipe()
    pipe.aborted = lambda: link.connection_lost(None)
    link.connection_made(pipe)

    link.invoke(json.dumps({"id": 1, "retry": "x" * MAX_HEADER}), b"")
    await settle()

    (why,) = closed
    assert "over the limits" in why
    assert pipe.pieces == []

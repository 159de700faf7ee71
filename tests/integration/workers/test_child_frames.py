"""A worker process and its frames alone: what the host would rarely send in just this order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from qtrigger.clock import SystemClock
from qtrigger.workers import answers
from qtrigger.workers.launch import launch
from qtrigger.workers.python.wire import Header, Parser, encode
from qtrigger.workers.spawn import Process
from tests.integration.workers.support import RETURN, TRIGGER, invocation, write_function

ASYNC = """
    import asyncio

    async def main(msg: str):
        await asyncio.Event().wait()
"""
PLAIN = """
    import threading

    def main(msg: str):
        threading.Event().wait()
"""
QUICK = """
    async def main(msg: str):
        if msg:
            print(msg)
"""

ECHO = """
    def main(msg: str) -> str:
        return msg
"""

BLOCKS = """
    import threading

    async def main(msg: str):
        threading.Event().wait(5)
"""

RETRIED = """
    import json

    def main(msg: str, context) -> str:
        retry = context.retry_context
        seen = [retry.retry_count, retry.max_retry_count]
        assert retry.exception is retry.rpc_exception
        if retry.exception is not None:
            told = retry.exception
            seen += [told.type, told.message, told.stack_trace, told.source]
        return json.dumps(seen)
"""


class Child:
    """A process that has loaded the functions that the `child` fixture writes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._parser = Parser()
        self.came: list[tuple[Header, bytes]] = []

    def send(self, *frames: tuple[dict[str, Any], bytes]) -> None:
        """All in one piece, so that they are read together."""
        self._writer.write(b"".join(encode(header, blob) for header, blob in frames))

    async def receive(self, kind: str) -> Header:
        """The first of that kind."""
        return (await self.received(kind))[0]

    async def received(self, kind: str) -> tuple[Header, bytes]:
        """As `receive`, with its blob."""
        async with asyncio.timeout(30):
            while True:
                for header, blob in self.came:
                    if header["t"] == kind:
                        return header, blob
                await self.read()

    async def read(self) -> None:
        """Take what comes next."""
        data = await self._reader.read(65536)
        assert data, "the process has ended"
        self.came += self._parser.feed(data)

    def results(self) -> dict[int, bytes]:
        """What runs have written, by their numbers; nothing for one that was refused."""
        return {header["id"]: blob for header, blob in self.came if header["t"] == "result"}


def invoke(number: int, function: str, body: str = "") -> tuple[dict[str, Any], bytes]:
    """A frame that asks for one run."""
    request, blob = answers.invoke_request(number, invocation(function, body))
    return json.loads(answers.invoke_header([request])), blob


@pytest.fixture
async def child(tmp_path: Path) -> AsyncIterator[Child]:
    functions = [
        write_function(tmp_path, "waits", ASYNC),
        write_function(tmp_path, "plain", PLAIN),
        write_function(tmp_path, "quick", QUICK),
        write_function(tmp_path, "blocks", BLOCKS),
        write_function(tmp_path, "echo", ECHO, bindings=(TRIGGER, RETURN)),
        write_function(tmp_path, "retried", RETRIED, bindings=(TRIGGER, RETURN), outputs="exact"),
    ]
    process = Process(SystemClock(), lambda _stream, _line: None, lambda: None)
    socket = await launch(
        process, interpreter=Path(sys.executable), root=tmp_path, env=dict(os.environ)
    )
    reader, writer = await asyncio.open_connection(sock=socket)
    made = Child(reader, writer)
    made.send((answers.load_request(tmp_path, functions), b""))
    await made.receive("ready")
    yield made
    await process.end()
    writer.close()


async def test_a_run_may_be_cancelled_before_its_first_step(child: Child) -> None:
    child.send(
        invoke(1, "waits"),
        ({"t": "cancel", "id": 1}, b""),
    )

    result = await child.receive("result")

    assert (result["id"], result["ends"]) == (1, [{"end": "cancelled"}])


async def test_runs_that_succeed_together_are_answered_by_one_frame(child: Child) -> None:
    child.send(*(invoke(number, "quick") for number in (1, 2, 3)))

    succeeded = await child.receive("succeeded")

    assert sorted(number for number, _took_us in succeeded["runs"]) == [1, 2, 3]


@pytest.mark.parametrize("question", [{"t": "overdue", "limit": 1.0}, {"t": "cancel"}])
async def test_a_question_brings_the_answer_that_a_blocked_loop_holds_back(
    child: Child, question: dict[str, Any]
) -> None:
    child.send(invoke(1, "quick", "over"), invoke(2, "blocks"))
    await child.receive("log")

    async with asyncio.timeout(2):  # the loop is blocked for longer
        while not any(header["t"] == "succeeded" for header, _blob in child.came):
            child.send(({**question, "id": 1}, b""))
            with contextlib.suppress(TimeoutError):  # it was asked before the run had ended
                async with asyncio.timeout(0.2):
                    await child.read()

    assert (await child.receive("succeeded"))["runs"][0][0] == 1


async def test_one_frame_may_ask_for_many_runs_each_with_its_own_body(child: Child) -> None:
    asked = [
        answers.invoke_request(number, invocation(function, body))
        for number, function, body in ((1, "echo", "one"), (2, "nobody", "?"), (3, "echo", "three"))
    ]
    header = json.loads(answers.invoke_header([request for request, _body in asked]))

    child.send((header, b"".join(body for _request, body in asked)))
    async with asyncio.timeout(30):
        while len(child.results()) < 3:
            await child.read()

    assert child.results() == {1: b"one", 2: b"", 3: b"three"}


async def test_a_runs_lines_come_before_its_answer(child: Child) -> None:
    child.send(invoke(1, "quick", "line"))

    await child.receive("succeeded")

    assert [header["t"] for header, _blob in child.came][-2:] == ["log", "succeeded"]


async def test_a_plain_run_says_that_it_cannot_be_cancelled(child: Child) -> None:
    child.send(
        invoke(1, "plain"),
        ({"t": "cancel", "id": 1}, b""),
    )

    assert (await child.receive("uncancelled"))["id"] == 1


@pytest.mark.parametrize(
    ("retry", "seen"),
    [
        (None, [0, 0]),
        ({"count": 0, "max": 3}, [0, 3]),
        (
            {
                "count": 2,
                "max": -1,
                "error": {
                    "type": "ValueError",
                    "message": "no",
                    "traceback": "Traceback …",
                    "place": "functions/retried/__init__.py:5",
                },
            },
            [2, -1, "ValueError", "no", "Traceback …", "functions/retried/__init__.py:5"],
        ),
    ],
)
async def test_a_run_sees_the_retry_policys_count_and_what_the_try_before_ended_with(
    child: Child, retry: dict[str, Any] | None, seen: list[Any]
) -> None:
    header, body = invoke(1, "retried")
    header["runs"][0]["retry"] = retry
    child.send((header, body))

    _, text = await child.received("result")

    assert json.loads(text) == seen

"""A proxy between a host and a queue service that answers as badly as the test wants.

Speaks just enough HTTP/1.1 to tell one request from the next: it reads a request whole, looks
for the first scripted fault that strikes it, and passes it on when there is none. Loopback alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from types import TracebackType
from typing import Final, Self, assert_never
from urllib.parse import urlsplit

from tests.faults.exchange import read_answer, read_request, verb_of

HOST: Final = "127.0.0.1"
VERBS: Final = ("exists", "create", "receive", "update", "delete", "send")


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection before anything was passed on."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and never answer."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Pass it on, then break off in the middle of the answer."""


@dataclass(frozen=True, slots=True)
class Lose:
    """Pass it on, then close without a byte of the answer."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Wait first, then pass it on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer oneself; by default as the service does."""

    status: int
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def raw(self) -> bytes:
        """The answer as it goes out."""
        headers = {
            "Content-Length": str(len(self.body)),
            "x-ms-version": "2021-12-02",
            **({"x-ms-error-code": self.code} if self.code else {}),
            **self.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 {self.status} Scripted\r\n{lines}\r\n".encode() + self.body


Fault = Drop | Hang | Reset | Lose | Slow | Answer


@dataclass(slots=True)
class _Rule:
    fault: Fault
    verb: str
    times: int | None
    chance: float

    def strikes(self, verb: str, random: Random) -> bool:
        if self.times == 0 or self.verb not in ("", verb):
            return False
        return self.chance >= 1.0 or random.random() < self.chance


class FaultProxy:
    """Listens on a free port and passes requests on to `upstream` on loopback.

    `requests` counts by verb what arrived, `struck` by verb what a fault met, and `struck_paths`
    the same by path; `accepted` counts connections, and `most_open` is how many were
    open at once at most.
    """

    def __init__(self, upstream: int, *, seed: int = 0) -> None:
        self.port = 0
        self.requests: Counter[str] = Counter()
        self.struck: Counter[str] = Counter()
        self.struck_paths: Counter[str] = Counter()
        self.most_open = 0
        self.accepted = 0
        self._upstream = upstream
        self._random = Random(seed)
        self._rules: list[_Rule] = []
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.down()

    async def up(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = await asyncio.start_server(self._accept, HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """Refuse connections from now on, and end those that are open."""
        if self._server is not None:
            self._server.close()
            self._server = None
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def script(
        self, fault: Fault, *, verb: str = "", times: int | None = None, chance: float = 1.0
    ) -> None:
        """Let the next `times` requests of `verb` ("": of any) meet `fault`, with that chance."""
        self._rules.append(_Rule(fault, verb, times, chance))

    def mend(self) -> None:
        """Forget all faults."""
        self._rules.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._open.add(task)
        self.accepted += 1
        self.most_open = max(self.most_open, len(self._open))
        task.add_done_callback(self._open.discard)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                head, raw = request
                verb = verb_of(head)
                self.requests[verb] += 1
                fault = self._fault(verb)
                if fault is not None:
                    self.struck[verb] += 1
                    self.struck_paths[urlsplit(head.split(" ", 2)[1]).path] += 1
                if not await self._meet(fault, raw, head, writer):
                    break
        except (OSError, EOFError):
            pass
        finally:
            writer.transport.abort()

    def _fault(self, verb: str) -> Fault | None:
        rule = next((each for each in self._rules if each.strikes(verb, self._random)), None)
        if rule is None:
            return None
        if rule.times is not None:
            rule.times -= 1
        return rule.fault

    async def _meet(
        self, fault: Fault | None, raw: bytes, head: str, writer: asyncio.StreamWriter
    ) -> bool:
        """Deal with one request; says whether the connection goes on."""
        match fault:
            case None:
                writer.write(await self._pass_on(raw, head))
            case Slow(seconds=seconds):
                await asyncio.sleep(seconds)
                writer.write(await self._pass_on(raw, head))
            case Answer():
                writer.write(fault.raw())
            case Drop():
                return False
            case Hang():
                await asyncio.Event().wait()
            case Lose():
                await self._pass_on(raw, head)
                return False
            case Reset():
                answer = await self._pass_on(raw, head)
                writer.write(answer[: len(answer) // 2])
                await writer.drain()
                return False
            case _:
                assert_never(fault)
        await writer.drain()
        return True

    async def _pass_on(self, raw: bytes, head: str) -> bytes:
        reader, writer = await asyncio.open_connection(HOST, self._upstream, limit=1 << 20)
        try:
            writer.write(raw)
            return await read_answer(reader, bodiless=head.startswith("HEAD"))
        finally:
            writer.close()

"""What must not be answered, against the real server over real sockets: refused and told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from qtrigger.admin.keys import Guesses, Keys, Sessions
from qtrigger.admin.limits import Limits
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, Stream, as_json
from qtrigger.admin.security import HEADERS, Gate, Place
from qtrigger.admin.server import Server
from qtrigger.admin.telling import MOST_LINES, Telling
from qtrigger.clock import SystemClock
from qtrigger.events import AdminAction, HttpRefused
from qtrigger.testing.probe import Probe

KEY, READ_KEY = "admin-key-that-nobody-may-see", "reader-key-that-nobody-may-see"

NO_KEYS = Keys()


@dataclass
class Served:
    """A server on a free port, what it told, and whom it answered."""

    port: int
    probe: Probe
    asked: list[Asked] = field(default_factory=list)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def raw(self, data: bytes, *, chunks: int = 0, chunk: bytes = b"") -> bytes:
        """Send bytes as they are, `chunk` so often after them, and read to the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            with contextlib.suppress(ConnectionError):
                for _ in range(chunks):
                    writer.write(chunk)
                    await writer.drain()
            async with asyncio.timeout(10):
                with contextlib.suppress(ConnectionError):
                    return await reader.read()
            return b""
        finally:
            writer.close()

    async def ask(
        self, method: str, target: str, *headers: str, body: bytes = b"", host: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        """Ask properly; status, headers and body."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'localhost:{self.port}'}"]
        lines += [*headers, "Connection: close"]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        data = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        return parsed(await self.raw(data))

    @property
    def refused(self) -> list[str]:
        """Why, of each that was told as refused."""
        return [each.reason for each in self.probe.of(HttpRefused)]


def parsed(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    found = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]) if first else 0, found, body


@asynccontextmanager
async def serving(keys: Keys = NO_KEYS, limits: Limits | None = None) -> AsyncIterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    served = Served(listening.getsockname()[1], Probe())

    async def note(asked: Asked) -> Answer:
        served.asked.append(asked)
        return as_json({"name": asked.parts.get("name", ""), "who": asked.who})

    async def wait(_asked: Asked) -> Answer:
        served.asked.append(_asked)
        await served.release.wait()
        return Answer()

    async def large(_asked: Asked) -> Answer:
        return Answer(body=b"x" * 30_000_000)

    async def broken(_asked: Asked) -> Answer:
        raise ValueError("a defect that nobody may read")

    async def refuse(_asked: Asked) -> Answer:
        raise Refusal(409, "not now")

    async def stream(_asked: Asked) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            try:
                yield b"data: 1\n\n"
                await asyncio.Event().wait()
            finally:
                served.closed.set()

        return Stream(chunks=chunks())

    read, act = Right.READ, Right.ACT
    routes = [
        Route(method="GET", path="/open", right=Right.OPEN, answer=note),
        Route(method="GET", path="/read/{name}", right=read, answer=note),
        Route(method="POST", path="/act/{name}", right=act, answer=note, action="act"),
        Route(method="POST", path="/refuse", right=act, answer=refuse, action="refuse"),
        Route(method="GET", path="/wait", right=read, answer=wait),
        Route(method="GET", path="/probe", right=Right.OPEN, answer=wait),
        Route(method="GET", path="/large", right=read, answer=large),
        Route(method="GET", path="/broken", right=read, answer=broken),
        Route(method="GET", path="/stream", right=read, answer=stream),
    ]
    clock = SystemClock()
    gate = Gate(Place(port=served.port), keys, Sessions(clock), Guesses(clock))
    server = Server(routes, gate, clock=clock, telling=Telling(clock, served.probe), limits=limits)
    await server.open([listening])
    try:
        yield served
    finally:
        await server.close()
        listening.close()


async def test_what_is_asked_rightly_is_answered_with_every_header() -> None:
    async with serving() as served:
        status, headers, body = await served.ask("GET", "/read/ship%20it?a=1")
        assert (status, json.loads(body)) == (200, {"name": "ship it", "who": "local"})
        assert {name: headers[name] for name in HEADERS} == dict(HEADERS)
        assert not any(name.casefold().startswith("access-control") for name in headers)
        status, headers, body = await served.ask("HEAD", "/read/x")
        assert (status, body) == (200, b"")
        assert served.refused == []


@pytest.mark.parametrize(
    ("host", "header", "reason"),
    [
        ("evil.example", "", "host"),
        ("evil.example:{port}", "", "host"),
        ("localhost:1", "", "host"),
        ("", "Host: evil.example", "malformed"),
        ("", "Origin: http://evil.example", "origin"),
        ("", "Origin: null", "origin"),
        ("", "Sec-Fetch-Site: cross-site", "site"),
        ("", "Sec-Fetch-Site: same-site", "site"),
        ("", "Sec-Fetch-Site: same-origin", "action header"),
        ("", "Origin: http://localhost:{port}", "action header"),
    ],
)
async def test_pages_of_others_change_nothing(host: str, header: str, reason: str) -> None:
    async with serving() as served:
        extra = [header.format(port=served.port)] if header else []
        host = host.format(port=served.port)
        status, _, _ = await served.ask("POST", "/act/x", *extra, host=host)
        assert status in (400, 403)
        assert served.asked == []
        assert served.refused == [reason]
        assert served.probe.of(AdminAction) == []


async def test_an_action_is_told_with_who_and_how_it_ended() -> None:
    async with serving(Keys.of(KEY, READ_KEY)) as served:
        assert (await served.ask("POST", "/act/ship", f"x-functions-key: {KEY}"))[0] == 200
        assert (await served.ask("POST", "/refuse", f"x-functions-key: {KEY}"))[0] == 409
        told = [
            (each.action, each.who, each.target, each.status)
            for each in served.probe.of(AdminAction)
        ]
        assert told == [("act", "admin", "ship", 200), ("refuse", "admin", "", 409)]


@pytest.mark.parametrize(
    ("target", "header", "status", "reason"),
    [
        ("/read/x", "", 401, "no key"),
        (f"/read/x?code={KEY}", "", 401, "no key"),
        ("/read/x", "x-functions-key: wrong-key-wrong-key", 401, "wrong key"),
        ("/read/x", "Cookie: qtrigger-{port}=" + KEY, 401, "no key"),
        ("/act/x", f"x-functions-key: {READ_KEY}", 403, "read key"),
    ],
)
async def test_without_its_key_nothing_is_shown(
    target: str, header: str, status: int, reason: str
) -> None:
    async with serving(Keys.of(KEY, READ_KEY)) as served:
        method = "POST" if target.startswith("/act") else "GET"
        extra = [header.format(port=served.port)] if header else []
        found, _, body = await served.ask(method, target, *extra)
        assert (found, served.refused, served.asked) == (status, [reason], [])
        told = repr(served.probe.events) + body.decode()
        for secret in (KEY, READ_KEY, "wrong-key"):
            assert secret not in told
        assert (await served.ask("GET", "/open"))[0] == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../etc/passwd",
        "/read/../x",
        "/read/%2e%2e",
        "/read/%2E%2e%2fx",
        "//evil.example/read/x",
        "/read//x",
        "/read/a%2fb",
        "/read/a%5cb",
        "/read/%00",
        "/read/%ff",
        "/read/x#y",
        "http://localhost/read/x",
        "/read/" + "a" * 3000,
    ],
)
async def test_an_address_with_two_readings_is_refused(target: str) -> None:
    async with serving() as served:
        status, _, _ = await served.ask("GET", target)
        assert status == 400
        assert served.asked == []
        assert served.refused in (["address"], ["malformed"])
        assert all(len(each.path) < 130 for each in served.probe.of(HttpRefused))


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "OPTIONS", "PUT", "DELETE", "PATCH"])
async def test_other_methods_are_not_answered(method: str) -> None:
    async with serving() as served:
        target = f"localhost:{served.port}" if method == "CONNECT" else "/read/x"
        status, headers, _ = await served.ask(method, target)
        assert status in (400, 405)
        assert served.asked == []
        if method == "PUT":
            assert headers["Allow"] == "GET, HEAD"


SMUGGLED = "GET /read/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +5",
        "Content-Length: -1",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "X: a\r\n b",
        "X: a\x00b",
        "No colon",
    ],
)
async def test_what_could_be_two_requests_is_none(head: str) -> None:
    async with serving() as served:
        data = f"POST /act/x HTTP/1.1\r\nHost: localhost:{served.port}\r\n{head}\r\n\r\n0\r\n\r\n"
        status, headers, body = parsed(await served.raw((data + SMUGGLED).encode()))
        assert status == 400
        assert headers["Content-Security-Policy"]
        assert b"smuggled" not in body
        assert served.asked == []
        assert served.refused[:1] == ["malformed"]


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
async def test_a_request_without_host_is_refused(version: str) -> None:
    async with serving() as served:
        data = f"GET /read/x {version}\r\nConnection: close\r\n\r\n"
        assert parsed(await served.raw(data.encode()))[0] == 400
        assert served.asked == []


async def test_what_is_no_http_is_told_once_and_shows_nothing() -> None:
    async with serving() as served:
        answer = await served.raw(b"\x16\x03\x01\x02\x00secret-of-tls\r\n\r\n")
        assert parsed(answer)[0] == 400
        assert b"secret-of-tls" not in answer
        assert "secret-of-tls" not in repr(served.probe.events)
        assert served.refused == ["malformed"]


async def test_large_heads_are_refused() -> None:
    async with serving() as served:
        for extra in (["X: " + "a" * 20_000], [f"X-{number}: a" for number in range(100)]):
            assert (await served.ask("GET", "/read/x", *extra))[0] == 400
        assert served.asked == []


TEN_MB = 10 * 1024 * 1024


async def test_a_large_body_is_refused_before_it_is_read() -> None:
    async with serving() as served:
        head = f"POST /act/x HTTP/1.1\r\nHost: localhost:{served.port}\r\n"
        said = f"{head}Content-Length: {TEN_MB}\r\n\r\n".encode()
        assert parsed(await served.raw(said))[0] == 413  # not a byte of it was sent
        assert parsed(await served.raw(said, chunks=160, chunk=b"x" * 65536))[0] in (413, 0)
        expects = f"{head}Content-Length: {TEN_MB}\r\nExpect: 100-continue\r\n\r\n".encode()
        assert parsed(await served.raw(expects))[0] == 413
        assert served.asked == []
        assert set(served.refused) == {"size"}


async def test_a_large_body_in_chunks_is_refused_while_it_comes() -> None:
    async with serving() as served:
        head = f"POST /act/x HTTP/1.1\r\nHost: localhost:{served.port}\r\n"
        data = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        assert parsed(await served.raw(data, chunks=160, chunk=chunk))[0] in (413, 0)
        assert served.asked == []
        assert served.refused == ["size"]


async def test_packed_bodies_and_bodies_of_reads_are_refused() -> None:
    async with serving() as served:
        status, _, _ = await served.ask("POST", "/act/x", "Content-Encoding: gzip", body=b"xx")
        assert status == 415
        assert (await served.ask("GET", "/read/x", body=b"x"))[0] == 413
        assert served.asked == []


async def test_whoever_waits_for_a_hundred_is_told_to_go_on() -> None:
    async with serving() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = f"POST /act/x HTTP/1.1\r\nHost: localhost:{served.port}\r\nContent-Length: 2\r\n"
        writer.write(f"{head}Expect: 100-continue\r\nConnection: close\r\n\r\n".encode())
        async with asyncio.timeout(5):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"{}")
            assert parsed(await reader.read())[0] == 200
        writer.close()
        assert served.asked[0].body == b"{}"


async def test_slow_senders_are_cut_off() -> None:
    async with serving(limits=Limits(head_s=0.2, body_s=0.2)) as served:
        assert await served.raw(b"") == b""
        assert await served.raw(b"GET /read/x HTTP/1.1\r\nHost: loc") == b""
        head = f"POST /act/x HTTP/1.1\r\nHost: localhost:{served.port}\r\nContent-Length: 9\r\n\r\n"
        assert parsed(await served.raw(head.encode() + b"x"))[0] == 408
        assert served.asked == []


async def _write_on(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.to_thread(os.sched_yield)


async def test_slow_readers_are_cut_off() -> None:
    async with serving(limits=Limits(write_s=0.2)) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=1024)
        writer.write(f"GET /large HTTP/1.1\r\nHost: localhost:{served.port}\r\n\r\n".encode())
        transport = writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        await writer.drain()
        # Another is answered meanwhile; what it has not taken in time, it never gets.
        assert (await served.ask("GET", "/read/x"))[0] == 200
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(_write_on(writer), 10)
        del reader
        writer.close()


async def test_too_many_connections_make_room_by_the_oldest_idle_one() -> None:
    async with serving(limits=Limits(connections=4)) as served:
        idle = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(8)]
        assert (await served.ask("GET", "/read/x"))[0] == 200
        async with asyncio.timeout(5):
            for reader, _ in idle[:4]:
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
        for _, writer in idle:
            writer.close()


async def test_too_many_requests_are_put_off_and_probes_are_not() -> None:
    async with serving(limits=Limits(requests=2)) as served:
        waiting = [asyncio.ensure_future(served.ask("GET", "/wait")) for _ in range(2)]
        async with asyncio.timeout(5):
            while len(served.asked) < 2:
                await asyncio.to_thread(os.sched_yield)
        status, headers, _ = await served.ask("GET", "/read/x")
        assert (status, headers["Retry-After"]) == (503, "2")
        assert (await served.ask("GET", "/open"))[0] == 200
        served.release.set()
        assert [answer[0] for answer in await asyncio.gather(*waiting)] == [200, 200]


async def test_answers_have_deadlines_and_defects_say_nothing() -> None:
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
    async with serving(limits=Limits(answer_s=0.05, probe_s=0.05)) as served:
        for target in ("/wait", "/probe"):
            assert (await served.ask("GET", target))[0] == 503
        status, _, body = await served.ask("GET", "/broken")
        assert status == 500
        assert b"defect that nobody" not in body
    assert [each["message"] for each in told] == ["GET /broken was not answered"]


async def test_streams_end_with_the_client_and_with_the_server() -> None:
    async with serving() as served:
        ask = f"GET /stream HTTP/1.1\r\nHost: localhost:{served.port}\r\n\r\n".encode()
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(ask)
            await reader.readuntil(b"data: 1\n\n")
            writer.close()
            await served.closed.wait()
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(ask)
            await reader.readuntil(b"data: 1\n\n")
    async with asyncio.timeout(5):
        assert (await reader.read()).endswith(b"0\r\n\r\n")
    writer.close()


async def test_a_flood_of_refusals_is_no_flood_of_lines() -> None:
    async with serving() as served:
        for _ in range(MOST_LINES + 5):
            await served.ask("GET", "/read/x", host="evil.example")
        assert len(served.refused) == MOST_LINES
    assert [each.count for each in served.probe.of(HttpRefused)][-2:] == [1, 5]


async def test_a_key_given_at_the_page_opens_a_session_that_is_not_the_key() -> None:
    async with serving(Keys.of(KEY, "")) as served:
        status, _, page = await served.ask("GET", "/read/x", "Accept: text/html")
        assert status == 401
        assert b'<form method="post" action="/login">' in page
        assert b'name="next" value="/read/x"' in page
        ours = f"Origin: http://localhost:{served.port}"
        form = "Content-Type: application/x-www-form-urlencoded"
        body = f"key={KEY}&next=/read/x".encode()
        status, headers, _ = await served.ask("POST", "/login", ours, form, body=body)
        assert (status, headers["Location"]) == (303, "/read/x")
        cookie = headers["Set-Cookie"]
        assert re.fullmatch(
            rf"qtrigger-{served.port}=[\w-]{{43}}; Path=/; Max-Age=43200; HttpOnly; "
            "SameSite=Strict",
            cookie,
        )
        assert KEY not in cookie
        send = f"Cookie: {cookie.partition(';')[0]}"
        assert (await served.ask("GET", "/read/x", send))[0] == 200
        action = (send, ours, "Sec-Fetch-Site: same-origin")
        assert (await served.ask("POST", "/act/x", *action))[0] == 403
        assert (await served.ask("POST", "/act/x", *action, "x-qtrigger-action: 1"))[0] == 200
        assert (await served.ask("POST", "/logout", send, ours))[0] == 303
        assert (await served.ask("GET", "/read/x", send))[0] == 401
        other = "Origin: http://evil.example"
        assert (await served.ask("POST", "/login", other, form, body=body))[0] == 403
        elsewhere = f"key={KEY}&next=//evil.example".encode()
        _, headers, _ = await served.ask("POST", "/login", ours, form, body=elsewhere)
        assert headers["Location"] == "/"
        status, _, page = await served.ask("POST", "/login", ours, form, body=b"key=wrong-guess")
        assert status == 401
        assert b"wrong-guess" not in page
        assert KEY not in repr(served.probe.events)


async def test_guessing_is_slowed() -> None:
    async with serving(Keys.of(KEY, "")) as served:
        answers = [
            (await served.ask("GET", "/read/x", f"x-functions-key: guess-{number}"))[0]
            for number in range(12)
        ]
        assert answers == [401] * 10 + [429] * 2
        assert "guess" not in repr(served.probe.events)

"""Real sockets that misbehave: each ends in time, as one of our errors that says what to do."""

from __future__ import annotations

import asyncio
import gc
import ssl
import traceback
import uuid
from pathlib import Path

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import QueueUnavailable
from qtrigger.queues.aiohttp_transport import AiohttpTransport
from qtrigger.queues.httptools_transport import HttptoolsTransport
from qtrigger.queues.transport import MAX_ANSWER_BYTES, MAX_CONNECTIONS, NoAnswer, Silence
from qtrigger.testing.clock import settle
from tests.contract.certificates import write_certificate
from tests.contract.sockets import EMPTY, HEAD, QueueAt, Way, chunked, listening, read_request


async def test_nothing_listens(queue_at: QueueAt) -> None:
    async with listening(read_request) as port:  # type: ignore[arg-type]  # only for a free port
        pass
    async with queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable, match=r"refused; is the emulator running\?"):
            await queue.receive(1, 30)


async def test_an_unknown_host(queue_at: QueueAt) -> None:
    async with queue_at("http://acme.queue.invalid") as queue:
        with pytest.raises(QueueUnavailable, match="is it spelt right"):
            await queue.receive(1, 30)


async def test_a_server_that_never_answers_is_left_at_the_deadline(queue_at: QueueAt) -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with (
        listening(silent) as port,
        queue_at(f"http://127.0.0.1:{port}/acme", timeout_s=0.2) as queue,
    ):
        with pytest.raises(QueueUnavailable, match=r"did not answer within 0\.2 s"):
            await queue.receive(1, 30)


async def test_a_server_that_dribbles_is_left_at_the_deadline_too(queue_at: QueueAt) -> None:
    async def dribbling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(chunked(b" "))
            await writer.drain()
            await SystemClock().sleep(0.02)

    async with (
        listening(dribbling) as port,
        queue_at(f"http://127.0.0.1:{port}/acme", timeout_s=0.2) as queue,
    ):
        with pytest.raises(QueueUnavailable, match="did not answer within"):
            await queue.receive(1, 30)


@pytest.mark.parametrize(
    "cut", [b"", b"HTTP/1.1 200 OK\r\n", HEAD + b"Content-Length: 99\r\n\r\n<Queue", b"SSH-2.0\r\n"]
)
async def test_a_broken_off_answer(queue_at: QueueAt, cut: bytes) -> None:
    async def cutting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(cut)

    async with listening(cutting) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable, match="broke off"):
            await queue.receive(1, 30)


async def test_an_answer_that_changes_the_protocol_is_none_and_no_defect(queue_at: QueueAt) -> None:
    async def changing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
        writer.write(b"Connection: Upgrade\r\nUpgrade: other\r\n\r\n")

    defects: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: defects.append(what))
    async with listening(changing) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable):
            await queue.receive(1, 30)
    assert defects == []


async def test_an_answer_without_end_is_bounded(queue_at: QueueAt) -> None:
    async def flooding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(chunked(b" " * 1_048_576))
            await writer.drain()

    async with listening(flooding) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable, match=f"more than {MAX_ANSWER_BYTES:,} bytes"):
            await queue.receive(1, 30)


async def test_a_chunked_answer_is_read_in_full_and_the_connection_kept(queue_at: QueueAt) -> None:
    connections = 0

    async def keeping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            await read_request(reader)
            parts = chunked(EMPTY[:7]) + chunked(EMPTY[7:]) + b"0\r\n\r\n"
            writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + parts)

    async with listening(keeping) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        for _ in range(5):
            assert list(await queue.receive(1, 30)) == []

    assert connections == 1


async def test_redirects_are_not_followed(queue_at: QueueAt) -> None:
    async def redirecting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        )

    async with listening(redirecting) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable, match="status 302"):
            await queue.receive(1, 30)


async def test_a_signature_and_path_go_out_as_they_were_signed(queue_at: QueueAt) -> None:
    seen: list[bytes] = []

    async def noting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await read_request(reader))
        writer.write(b"HTTP/1.1 204 No Content\r\nx-ms-version: 2021-12-02\r\n\r\n")

    async with listening(noting) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        await queue.delete("1b-c", "a+b/c=d e")

    (line, *headers) = seen[0].decode().split("\r\n")
    names = {header.partition(":")[0].lower() for header in headers if header}
    assert line == "DELETE /acme/orders/messages/1b-c?popreceipt=a%2Bb%2Fc%3Dd%20e HTTP/1.1"
    assert {"authorization", "x-ms-date", "x-ms-version", "user-agent"} <= names
    assert "content-type" not in names


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for localhost with its key, in one file."""
    return write_certificate(tmp_path / "cert.pem")


def tls_with(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(EMPTY), EMPTY))


async def test_a_certificate_of_an_unknown_authority_names_the_cure(
    queue_at: QueueAt, certificate: Path
) -> None:
    async with (
        listening(answering, tls_with(certificate)) as port,
        queue_at(f"https://localhost:{port}/acme") as queue,
    ):
        with pytest.raises(QueueUnavailable, match=r"self.signed certificate.*SSL_CERT_FILE"):
            await queue.receive(1, 30)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_the_cure_works(
    queue_at: QueueAt, certificate: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(certificate))
    async with (
        listening(answering, tls_with(certificate)) as port,
        queue_at(f"https://localhost:{port}/acme") as queue,
    ):
        assert list(await queue.receive(1, 30)) == []


async def test_a_server_without_tls_is_called_so(queue_at: QueueAt) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    async with listening(plain) as port, queue_at(f"https://127.0.0.1:{port}/acme") as queue:
        with pytest.raises(QueueUnavailable, match="does not speak TLS"):
            await queue.receive(1, 30)


async def test_no_printed_chain_of_errors_shows_the_signature(
    way: Way,
) -> None:
    async def babbling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"SSH-2.0\r\n")

    signature = uuid.uuid4().hex  # not to be found in the printed lines of this test itself
    async with listening(babbling) as port:
        transport = way(f"http://127.0.0.1:{port}")
        with pytest.raises(NoAnswer) as failure:
            await transport.request("GET", f"/orders?sig={signature}", {}, b"")
        await transport.close()

    assert signature not in "".join(traceback.format_exception(failure.value))


@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        ("http://user:pa55@127.0.0.1:1", "127.0.0.1:1: "),
        ("http://user:pa55@proxy.invalid:3128", "proxy.invalid:3128: its name is not known"),
        ("socks5://user:pa55@127.0.0.1:1", "127.0.0.1:1: no HTTP proxy"),
    ],
)
async def test_a_proxy_that_fails_is_named_without_its_password(proxy: str, says: str) -> None:
    transport = AiohttpTransport("http://acme.queue.invalid", proxy=proxy)

    with pytest.raises(NoAnswer) as failure:
        await transport.request("GET", "/", {}, b"")
    await transport.close()

    assert failure.value.reason is Silence.PROXY
    assert says in failure.value.detail
    assert "pa55" not in str(failure.value)


async def test_a_proxy_gets_the_whole_address() -> None:
    seen: list[bytes] = []

    async def proxying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await read_request(reader))
        writer.write(HEAD + b"Content-Length: 0\r\n\r\n")

    async with listening(proxying) as port:
        transport = AiohttpTransport("http://acme.queue.invalid", proxy=f"http://127.0.0.1:{port}")
        response = await transport.request("GET", "/orders?comp=metadata", {}, b"")
        await transport.close()

    assert response.status == 200
    assert seen[0].startswith(b"GET http://acme.queue.invalid/orders?comp=metadata HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "beginning",
    [b"", HEAD + b"Content-Length: 99\r\n\r\n<Queue"],
    ids=["before the answer", "within the answer"],
)
async def test_a_verb_can_be_left_at_any_moment(queue_at: QueueAt, beginning: bytes) -> None:
    reached, left = asyncio.Event(), asyncio.Event()
    reports: list[object] = []

    async def first_hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        if left.is_set():
            writer.write(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(EMPTY), EMPTY))
            return
        writer.write(beginning)
        reached.set()
        await reader.read()  # until the other side closes
        left.set()

    asyncio.get_running_loop().set_exception_handler(lambda _loop, report: reports.append(report))
    async with listening(first_hangs) as port, queue_at(f"http://127.0.0.1:{port}/acme") as queue:
        verb = asyncio.ensure_future(queue.receive(1, 30))
        await reached.wait()
        await settle()  # what was sent is read

        verb.cancel()

        with pytest.raises(asyncio.CancelledError):
            await verb
        async with SystemClock().timeout(30):
            await left.wait()
        assert list(await queue.receive(1, 30)) == []
    del verb
    gc.collect()

    assert reports == []


async def test_a_turn_that_is_not_taken_goes_to_the_next_in_line() -> None:
    """One that waits for room is cancelled at the very moment when its turn has come."""
    answers = asyncio.Semaphore(0)
    asked = 0
    full, one_more = asyncio.Event(), asyncio.Event()

    async def holding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        while await read_request(reader):
            asked += 1
            if asked == MAX_CONNECTIONS:
                full.set()
            if asked > MAX_CONNECTIONS:
                one_more.set()
            await answers.acquire()
            writer.write(HEAD + b"Content-Length: 0\r\n\r\n")

    async with listening(holding) as port:
        transport = HttptoolsTransport(f"http://127.0.0.1:{port}")
        in_line: list[asyncio.Task[None]] = []

        async def ask(*, then_cancel: bool) -> None:
            await transport.request("GET", "/", {}, b"")
            if then_cancel:
                in_line[0].cancel()

        busy = [asyncio.create_task(ask(then_cancel=True)) for _ in range(MAX_CONNECTIONS)]
        async with asyncio.timeout(10):
            await full.wait()
            in_line += [asyncio.create_task(ask(then_cancel=False)) for _ in range(2)]
            await settle()
            answers.release()

            await one_more.wait()
        await asyncio.wait(in_line[:1])
        assert in_line[0].cancelled()
        for task in [*busy, *in_line]:
            task.cancel()
        await asyncio.gather(*busy, *in_line, return_exceptions=True)
        await transport.close()

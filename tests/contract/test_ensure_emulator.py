"""The rungs to a local queue service, with real ports, processes and files."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import EmulatorError
from qtrigger.queues.azurite import Emulator, ensure_emulator
from qtrigger.queues.azurite_find import Machine
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.probe import Listening, probe
from qtrigger.queues.rest import RestQueueService
from qtrigger.testing.clock import ManualClock
from tests.contract.sockets import listening

CLOCK = SystemClock()

# Runs an emulator and waits to be killed.
HOST_PROGRAM = """
import asyncio, sys
from pathlib import Path
from qtrigger.clock import SystemClock
from qtrigger.queues.azurite import ensure_emulator

async def main():
    emulator = await ensure_emulator(
        Path(sys.argv[1]), 0, choice="azurite", progress=print, clock=SystemClock()
    )
    print(emulator.port, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine without Node.js."""
    return Machine(environment={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}, wheel=None)


@pytest.fixture
def lines() -> list[str]:
    """What the person at the terminal is told."""
    return []


@pytest.fixture
async def free_port() -> int:
    emulator = BuiltinEmulator(CLOCK)
    port = await emulator.start(0)
    await emulator.stop()
    return port


@pytest.fixture
async def stranger() -> AsyncIterator[int]:
    """A port held by something else."""

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\nServer: nginx\x1b[31m\r\n\r\nhello")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def works(emulator: Emulator) -> bool:
    service = RestQueueService(emulator.account, CLOCK)
    queue = service.queue("orders")
    await queue.create()
    await queue.send("x")
    received = await queue.receive(1, 30)
    await service.close()
    return [message.text for message in received] == ["x"]


async def test_a_running_emulator_is_used_and_never_stopped(
    tmp_path: Path, lines: list[str], bare: Machine
) -> None:
    running = BuiltinEmulator(CLOCK)
    port = await running.start(0)

    emulator = await ensure_emulator(
        tmp_path, port, progress=lines.append, clock=CLOCK, machine=bare
    )
    await emulator.stop()

    assert not emulator.started
    assert "already running" in emulator.description
    assert lines == []
    assert await works(emulator)
    await running.stop()


async def test_azurite_is_known_by_its_answer(azurite: AzuriteProcess) -> None:
    found = await probe(azurite.port, CLOCK)

    assert found.listening is Listening.QUEUE_SERVICE
    assert found.server.startswith("Azurite-Queue/")


async def test_a_stranger_on_the_port_is_an_error_that_names_the_cure(
    tmp_path: Path, lines: list[str], stranger: int
) -> None:
    with pytest.raises(EmulatorError) as error:
        await ensure_emulator(tmp_path, stranger, progress=lines.append, clock=CLOCK)

    text = str(error.value)
    assert f"port {stranger}" in text
    assert "nginx" in text
    assert "\x1b" not in text
    assert "QueueEndpoint" in text
    assert "qtrigger start --emulator none" in text


async def test_a_program_that_never_answers_is_waited_for_and_then_told_apart(
    tmp_path: Path, lines: list[str]
) -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    clock = ManualClock()
    async with listening(silent) as port:
        with pytest.raises(EmulatorError, match=f"port {port} .*gives no answer.*QueueEndpoint"):
            await clock.run(
                ensure_emulator(tmp_path, port, progress=lines.append, clock=clock), limit_s=60
            )

    assert clock.monotonic() > 30
    assert lines == [f"port {port} is held and gives no answer yet; waiting up to 30 s"]
    assert not (tmp_path / ".azurite").exists()


async def test_a_port_too_busy_to_connect_to_is_held_and_not_free() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            clock = ManualClock()
            found = await clock.run(probe(port, clock), limit_s=10)

    assert found.listening is Listening.SILENT


async def test_an_emulator_that_answers_at_the_second_look_is_used(
    tmp_path: Path, lines: list[str]
) -> None:
    asked: asyncio.Queue[None] = asyncio.Queue()

    async def stalled_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        first = not answered
        answered.append(None)
        asked.put_nowait(None)
        if first:
            await reader.read()
        else:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nServer: Azurite-Queue/3.35.0\r\n\r\n")

    answered: list[None] = []
    clock = ManualClock()
    async with listening(stalled_once) as port:
        bringing = asyncio.create_task(
            ensure_emulator(tmp_path, port, progress=lines.append, clock=clock)
        )
        await asked.get()
        await clock.advance(7)
        emulator = await bringing

    assert emulator.started is False


async def test_a_busy_emulator_is_given_time_to_answer() -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def busy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await answer.wait()
        writer.write(b"HTTP/1.1 400 Bad Request\r\nServer: Azurite-Queue/3.35.0\r\n\r\n")
        writer.close()

    clock = ManualClock()
    server = await asyncio.start_server(busy, "127.0.0.1", 0)
    looking = asyncio.create_task(probe(server.sockets[0].getsockname()[1], clock))
    await asked.wait()

    await clock.advance(1.5)
    answer.set()

    assert (await looking).listening is Listening.QUEUE_SERVICE
    server.close()


async def test_without_node_the_built_in_one_serves_and_says_so(
    tmp_path: Path, lines: list[str], bare: Machine, free_port: int
) -> None:
    emulator = await ensure_emulator(
        tmp_path, free_port, progress=lines.append, clock=CLOCK, machine=bare
    )

    assert emulator.started
    assert emulator.port == free_port
    assert await works(emulator)
    assert "qtrigger[azurite]" in lines[0]
    assert "not Microsoft's" in lines[1]
    assert not (tmp_path / ".azurite").exists()
    await emulator.stop()
    await emulator.stop()
    assert (await probe(free_port, CLOCK)).listening is Listening.NOTHING


async def test_an_azurite_that_must_be_and_cannot_is_an_error(
    tmp_path: Path, lines: list[str], bare: Machine
) -> None:
    with pytest.raises(EmulatorError, match=r"Node\.js"):
        await ensure_emulator(
            tmp_path, 0, choice="azurite", progress=lines.append, clock=CLOCK, machine=bare
        )


async def test_an_install_that_fails_leaves_nothing_and_goes_on_to_the_next_rung(
    tmp_path: Path, lines: list[str]
) -> None:
    node, npm = tmp_path / "bin" / "node", tmp_path / "bin" / "npm"
    node.parent.mkdir()
    for path, script in (
        (node, "#!/bin/sh\nexit 1\n"),
        (npm, "#!/bin/sh\necho npm error code ENOTFOUND\necho npm error no network\nexit 1\n"),
    ):
        path.write_text(script)
        path.chmod(0o755)
    machine = Machine(environment={"PATH": str(node.parent), "HOME": str(tmp_path)}, wheel=None)

    waited: list[str] = []

    @contextmanager
    def waiting(what: str) -> Iterator[Callable[[], None]]:
        waited.append(what)
        yield lambda: None

    emulator = await ensure_emulator(
        tmp_path, 0, progress=lines.append, clock=CLOCK, machine=machine, waiting=waiting
    )
    await emulator.stop()

    assert "built-in" in emulator.description
    assert [what.rstrip("0123456789.") for what in waited] == ["installing Azurite "]
    assert lines[1] == "npm could not install Azurite: no network"
    assert list(machine.our_copy().parent.iterdir()) == []


async def test_an_azurite_that_does_not_come_up_shows_the_end_of_its_log(
    tmp_path: Path, lines: list[str]
) -> None:
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\necho 'SyntaxError: this Node.js is too old' >&2\nexit 1\n")
    node.chmod(0o755)
    machine = Machine(environment={"PATH": str(node.parent), "HOME": str(tmp_path)}, wheel=None)
    machine.our_main().parent.mkdir(parents=True)
    machine.our_main().touch()

    with pytest.raises(EmulatorError, match=r"status 1: SyntaxError.*--emulator builtin"):
        await ensure_emulator(tmp_path, 0, progress=lines.append, clock=CLOCK, machine=machine)

    assert (tmp_path / ".azurite" / "azurite.log").exists()


async def test_azurite_keeps_its_data_apart_and_over_a_stop(
    azurite: AzuriteProcess, tmp_path: Path, lines: list[str]
) -> None:
    assert azurite.pid  # installed by now

    first = await ensure_emulator(tmp_path, 0, progress=lines.append, clock=CLOCK)
    assert await works(first)
    await first.stop()
    second = await ensure_emulator(tmp_path, 0, progress=lines.append, clock=CLOCK)
    service = RestQueueService(second.account, CLOCK)
    kept = await service.queue("orders").exists()
    await service.close()
    await second.stop()

    assert kept
    assert first.started
    assert "Azurite" in first.description
    assert str(first.port) in first.connection_string
    assert (tmp_path / ".azurite" / ".gitignore").read_text() == "*\n"
    assert lines == []
    assert (await probe(second.port, CLOCK)).listening is Listening.NOTHING


async def test_one_data_folder_has_one_azurite(
    azurite: AzuriteProcess, tmp_path: Path, lines: list[str], free_port: int
) -> None:
    assert azurite.pid
    first = await ensure_emulator(tmp_path, 0, progress=lines.append, clock=CLOCK)

    second = await ensure_emulator(tmp_path, 0, progress=lines.append, clock=CLOCK)
    with pytest.raises(EmulatorError, match=f"port {first.port}; .*QueueEndpoint"):
        await ensure_emulator(tmp_path, free_port, progress=lines.append, clock=CLOCK)
    await second.stop()

    assert (first.started, second.started) == (True, False)
    assert first.port == second.port
    assert await works(second)
    await first.stop()


async def test_two_hosts_at_once_share_one_azurite(
    azurite: AzuriteProcess, tmp_path: Path, lines: list[str], free_port: int
) -> None:
    assert azurite.pid

    both = await asyncio.gather(
        *[
            ensure_emulator(tmp_path, free_port, progress=lines.append, clock=CLOCK)
            for _ in range(2)
        ]
    )

    assert sorted(emulator.started for emulator in both) == [False, True]
    for emulator in both:
        await emulator.stop()


async def test_a_host_that_is_killed_takes_its_azurite_along(
    azurite: AzuriteProcess, tmp_path: Path
) -> None:
    assert azurite.pid
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOST_PROGRAM,
        str(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert host.stdout is not None
    async with CLOCK.timeout(20):
        port = int(await host.stdout.readline())
    assert (await probe(port, CLOCK)).listening is Listening.QUEUE_SERVICE

    host.send_signal(signal.SIGKILL)
    await host.wait()

    async with CLOCK.timeout(30):
        while (await probe(port, CLOCK)).listening is not Listening.NOTHING:
            await CLOCK.sleep(0.05)


async def test_a_service_that_takes_its_time_to_answer_is_used(
    tmp_path: Path, lines: list[str]
) -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await CLOCK.sleep(0.5)
        writer.write(b"HTTP/1.1 400 Bad\r\nServer: Azurite-Queue/3.35.0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    emulator = await ensure_emulator(tmp_path, port, progress=lines.append, clock=CLOCK)

    assert emulator.started is False
    server.close()
    await server.wait_closed()


async def test_a_service_whose_answer_comes_in_pieces_is_one_all_the_same() -> None:
    rest_may_come = asyncio.Event()

    async def in_pieces(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\n")
        await writer.drain()
        await rest_may_come.wait()
        writer.write(b"Server: Azurite-Queue/3.35.0\r\n\r\n")

    async with listening(in_pieces) as port:
        looking = asyncio.create_task(probe(port, CLOCK))
        asyncio.get_running_loop().call_later(0.2, rest_may_come.set)
        found = await looking

    assert found.listening is Listening.QUEUE_SERVICE

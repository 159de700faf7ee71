"""Whom the end of a process signals: its own group, and never whoever has its number next."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest

from qtrigger.testing.clock import ManualClock
from qtrigger.workers.spawn import Process

NOBODY = 2**22 + 1  # above the largest process id


class Transport(asyncio.SubprocessTransport):
    """A process under the test's hand."""

    def __init__(self) -> None:
        super().__init__()
        self.pid = NOBODY
        self.returncode: int | None = None

    def get_pid(self) -> int:
        return self.pid

    def get_returncode(self) -> int | None:
        return self.returncode

    def close(self) -> None:
        """There are no pipes."""


@pytest.fixture
async def stranger() -> AsyncIterator[asyncio.subprocess.Process]:
    """The leader of a group of its own."""
    made = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    yield made
    if made.returncode is None:
        made.kill()
        await made.wait()


def running() -> tuple[Process, Transport, ManualClock]:
    clock, transport = ManualClock(), Transport()
    process = Process(clock, lambda _stream, _line: None, lambda: None)
    process.connection_made(transport)
    return process, transport, clock


async def test_a_process_that_runs_is_signalled_with_its_group(
    stranger: asyncio.subprocess.Process,
) -> None:
    process, transport, clock = running()
    transport.pid = stranger.pid

    await clock.run(process.end())

    assert await stranger.wait() == -signal.SIGTERM


async def test_what_is_left_of_its_group_is_killed_when_it_exits(
    stranger: asyncio.subprocess.Process,
) -> None:
    process, transport, _clock = running()
    transport.pid, transport.returncode = stranger.pid, 0

    process.process_exited()

    assert await stranger.wait() == -signal.SIGKILL


@pytest.mark.parametrize("told", [True, False])
async def test_after_it_is_reaped_its_number_is_never_signalled(
    stranger: asyncio.subprocess.Process, told: bool
) -> None:
    process, transport, clock = running()
    transport.returncode = 0
    if told:
        process.process_exited()
    transport.pid = stranger.pid

    await clock.run(process.end())
    await clock.run(process.end())

    stranger.terminate()
    assert await stranger.wait() == -signal.SIGTERM

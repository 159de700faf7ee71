"""Several hosts on one queue: one is killed, one is stopped, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from qtrigger.clock import SystemClock
from qtrigger.queues.emulator.server import BuiltinEmulator
from tests.chaos import project
from tests.chaos.account import settle_account
from tests.chaos.hosts import Hosts

CLOCK = SystemClock()
MESSAGES = 5_000
LIMIT_S = 120.0


@pytest.mark.timeout(180)
async def test_three_hosts_of_which_one_is_killed_and_one_stopped_half_way(tmp_path: Path) -> None:
    project.write_project(tmp_path)
    emulator = BuiltinEmulator(CLOCK)
    hosts = Hosts(tmp_path, await emulator.start(0))
    queue = emulator.service.queue(project.QUEUE)
    await queue.create()
    sent = {f"quick-{n}": await queue.send(f"quick-{n}") for n in range(MESSAGES)}

    async def until_left(count: int) -> None:
        while len(emulator.service.peek_all(project.QUEUE)) > count:  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    try:
        for _ in range(3):
            hosts.start()
        async with CLOCK.timeout(LIMIT_S):
            await until_left(MESSAGES // 2)
            hosts.kill_host(Random(1), replace=False)
            await hosts.stop_one(Random(1), replace=False)
            await until_left(0)
        await hosts.stop_all()
    finally:
        hosts.end()
        await emulator.stop()

    done = project.read_notes(tmp_path / "notes.txt").done
    account = settle_account(sent, done, (), (), hosts.kills, ())
    assert account.balances, "\n".join(account.lines())
    assert account.processed == MESSAGES
    assert hosts.odd_exits == []

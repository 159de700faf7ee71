"""Several hosts on one queue: one is killed, one is stopped, and nothing is lost.

On the built-in emulator, which can tell what was in flight at the kill; `tests.chaos.several` runs
the same on Azurite by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.queues.emulator.server import BuiltinEmulator
from tests.chaos import project
from tests.chaos.several import IN_HAND, several

MESSAGES = 5_000
LIMIT_S = 150.0


@pytest.mark.timeout(200)
async def test_three_hosts_of_which_one_is_killed_and_one_stopped_half_way(tmp_path: Path) -> None:
    clock = SystemClock()
    emulator = BuiltinEmulator(clock)
    port = await emulator.start(0)
    service = emulator.service

    def in_flight() -> set[str]:
        now = clock.utcnow()
        return {each.text for each in service.store(project.QUEUE) if each.next_visible > now}

    try:
        queue = service.queue(project.QUEUE)
        outcome = await several(tmp_path, port, queue, MESSAGES, LIMIT_S, in_flight)
    finally:
        await emulator.stop()

    assert outcome.account.balances, "\n".join(outcome.account.lines())
    assert outcome.account.processed == MESSAGES
    assert len(outcome.in_flight) <= IN_HAND
    assert outcome.interrupted | outcome.repeated, "the kill struck nothing"
    assert outcome.interrupted | outcome.repeated <= outcome.in_flight
    assert outcome.exits == [ExitCode.OK, ExitCode.OK]

"""Bounded waits for what only real time brings.

The bounds only end a test that hangs: an emulator that shares two processors with three other
test processes has taken seconds for one answer. How soon something is there is told by the
service's own times, never by these.
"""

from __future__ import annotations

from datetime import datetime

from qtrigger.clock import SystemClock
from qtrigger.queues.client import QueueClient, QueueMessage


async def receive_soon(
    queue: QueueClient, *, hidden_s: float = 30.0, within_s: float = 30.0
) -> QueueMessage:
    """The next message, asked for until it is there."""
    clock = SystemClock()
    async with clock.timeout(within_s):
        while not (messages := await queue.receive(1, hidden_s)):
            await clock.sleep(0.05)
    return messages[0]


async def until(moment: datetime) -> None:
    """Wait for a moment of wall time that lies a few seconds ahead."""
    clock = SystemClock()
    async with clock.timeout(30):
        await clock.sleep((moment - clock.utcnow()).total_seconds())

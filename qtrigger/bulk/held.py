"""One message that is ours for a while, and those that wait to be given back.

Owns receipts and when a lease must be renewed: before each deed there is time left for two requests
of the longest kind, so that a message is never copied when another may have it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from qtrigger.bulk.requests import persist
from qtrigger.clock import Clock
from qtrigger.errors import QueueError
from qtrigger.queues.client import REQUEST_TIMEOUT_S, QueueClient, QueueMessage

# What a killed run has in hand is seen again after so long.
LEASE_S: Final = 180.0
# A copy and a deletion, each at its longest.
ENOUGH_S: Final = 2 * REQUEST_TIMEOUT_S + 5.0
GIVEN_BACK_AT_ONCE: Final = 32


class Held:
    """A received message; `message.pop_receipt` is always the newest one."""

    def __init__(
        self, queue: QueueClient, message: QueueMessage, received_at: float, clock: Clock
    ) -> None:
        self.message = message
        self.until = received_at + LEASE_S
        self._queue = queue
        self._clock = clock
        # The service hides nothing beyond its expiry; told by its own times alone.
        self._ends_at = self.until + (message.expires - message.next_visible).total_seconds()

    async def secure(self) -> None:
        """See that there is time for a deed. Raises LeaseLostError when another may have it."""
        now = self._clock.monotonic()
        if self.until - now >= ENOUGH_S:
            return
        hidden_s = min(LEASE_S, self._ends_at - now - 2.0)
        if hidden_s < 1.0:
            return  # it is about to expire; an update would only show it
        receipt = await persist(
            lambda: self._queue.update(self.message.id, self.message.pop_receipt, hidden_s),
            self._clock,
        )
        self.message = replace(self.message, pop_receipt=receipt.pop_receipt)
        self.until = now + hidden_s

    async def delete(self) -> None:
        """Remove it for good. Raises the `QueueError` family."""
        await self._queue.delete(self.message.id, self.message.pop_receipt)

    async def give_back(self) -> None:
        """Let it be seen at once. Raises the `QueueError` family."""
        await persist(
            lambda: self._queue.update(self.message.id, self.message.pop_receipt, 0.0),
            self._clock,
        )

    def forget_text(self) -> None:
        """Keep no more of it than giving it back needs."""
        self.message = replace(self.message, text="")


class Aside:
    """Messages that a run keeps hidden until its end, so that it does not meet them again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: list[Held] = []

    def __len__(self) -> int:
        return len(self._held)

    def put(self, held: Held) -> None:
        """Keep it until the end."""
        held.forget_text()
        self._held.append(held)

    async def keep(self) -> None:
        """Renew what would be seen too early, until cancelled; what cannot be is let go."""
        while True:
            await self._clock.sleep(ENOUGH_S / 2)
            await _each(self._held, Held.secure)

    async def give_back(self) -> int:
        """Let all be seen; return how many could not be, which come back when their lease ends."""
        held, self._held = self._held, []
        return await _each(held, Held.give_back)


async def _each(held: list[Held], deed: Callable[[Held], Awaitable[None]]) -> int:
    """Do it to all, many at a time; return how many it failed for."""
    left, failed = iter(list(held)), 0

    async def some() -> None:
        nonlocal failed
        for each in left:
            failed += 1
            with contextlib.suppress(QueueError):
                await deed(each)
                failed -= 1

    await asyncio.gather(*(some() for _ in range(GIVEN_BACK_AT_ONCE)))
    return failed

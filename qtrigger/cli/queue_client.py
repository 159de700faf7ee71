"""A queue as the verbs use it: taken from, looked at and cleared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from qtrigger.cli import wiring
from qtrigger.cli.targets import Target
from qtrigger.clock import Clock
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueService, WholeQueue

__all__ = ["Queues", "WholeQueue", "open_queues"]


class Queues:
    """Clients of queues in several accounts; one service for each account."""

    def __init__(self, open_service: Callable[[Account], QueueService], stack: AsyncExitStack):
        self._open_service = open_service
        self._stack = stack
        self._services: dict[Account, QueueService] = {}

    def of(self, target: Target) -> WholeQueue:
        """The client of a target. Raises AccessDenied for a credential that cannot work."""
        return self.named(target.account, target.name)

    def named(self, account: Account, name: str) -> WholeQueue:
        """The client of a queue of an account."""
        if account not in self._services:
            service = self._open_service(account)
            self._stack.push_async_callback(service.close)
            self._services[account] = service
        return cast("WholeQueue", self._services[account].queue(name))


@asynccontextmanager
async def open_queues(clock: Clock) -> AsyncIterator[Queues]:
    """Yield clients over HTTP; all connections end with it."""
    async with AsyncExitStack() as stack:
        yield Queues(wiring.open_service_with(clock), stack)

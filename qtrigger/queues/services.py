"""One connection pool for each storage account, however many functions use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueService
from qtrigger.queues.watched import RequestWatcher, WatchedService


class QueueServices:
    """Opens a service for each distinct account when it is first asked for; closes them all."""

    def __init__(self, open_service: Callable[[Account], QueueService]) -> None:
        self._open_service = open_service
        self._services: dict[Account, QueueService] = {}

    def of(self, account: Account) -> QueueService:
        """Return the account's service, the same one each time; no request is made."""
        if account not in self._services:
            self._services[account] = self._open_service(account)
        return self._services[account]

    def watched(self, watcher: Callable[[Account], RequestWatcher]) -> QueueServices:
        """The same services, each told of to a watcher of its account; they close together."""
        return QueueServices(lambda account: WatchedService(self.of(account), watcher(account)))

    async def close(self) -> None:
        """Close all of them, also when some do not close well.

        Raises nothing: it is the last that is done with them, and what is left of a connection
        ends with the process.
        """
        services, self._services = list(self._services.values()), {}
        await asyncio.gather(*(service.close() for service in services), return_exceptions=True)

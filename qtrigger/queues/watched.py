"""Queues whose every request is watched, without a part in it.

Owns the passing on of each verb and the report on how it ended. Draws no conclusion: what
requests and refusals mean is for the watchers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar, cast

from qtrigger.errors import QueueError
from qtrigger.queues.client import (
    QueueClient,
    QueueInspector,
    QueueMessage,
    QueueService,
    QueueUpkeep,
    Receipt,
)

T = TypeVar("T")


class RequestWatcher(Protocol):
    """Who wants to hear how requests end; `verb` is the name of a `QueueClient`'s method."""

    def answered(self, verb: str) -> None:
        """The service did as asked."""

    def failed(self, verb: str, error: QueueError) -> None:
        """It did not, or did not answer."""


def watched(queue: QueueClient, watcher: RequestWatcher) -> WatchedQueue:
    """The queue with a watcher, besides those that it may have."""
    return queue.also(watcher) if isinstance(queue, WatchedQueue) else WatchedQueue(queue, watcher)


class WatchedService:
    """A `QueueService` that tells one watcher of all that is asked of its queues."""

    def __init__(self, service: QueueService, watcher: RequestWatcher) -> None:
        self._service = service
        self._watcher = watcher

    def queue(self, name: str) -> WatchedQueue:
        """See `QueueService`."""
        return watched(self._service.queue(name), self._watcher)

    async def close(self) -> None:
        """See `QueueService`."""
        await self._service.close()


class WatchedQueue:
    """A `QueueClient`, `QueueInspector` and `QueueUpkeep` around another one."""

    def __init__(self, queue: QueueClient, *watchers: RequestWatcher) -> None:
        self._queue = queue
        self._watchers = watchers

    def also(self, watcher: RequestWatcher) -> WatchedQueue:
        """The queue with one more watcher; in one row, because a layer costs every request."""
        return WatchedQueue(self._queue, *self._watchers, watcher)

    @property
    def name(self) -> str:
        """See `QueueClient`."""
        return self._queue.name

    @property
    def address(self) -> str:
        """See `QueueClient`."""
        return self._queue.address

    async def receive(self, count: int, visibility_timeout_s: float) -> Sequence[QueueMessage]:
        """See `QueueClient`."""
        return await self._told("receive", self._queue.receive(count, visibility_timeout_s))

    async def update(
        self,
        message_id: str,
        pop_receipt: str,
        visibility_timeout_s: float,
        text: str | None = None,
    ) -> Receipt:
        """See `QueueClient`."""
        request = self._queue.update(message_id, pop_receipt, visibility_timeout_s, text)
        return await self._told("update", request)

    def delete(self, message_id: str, pop_receipt: str) -> Coroutine[Any, Any, None]:
        """See `QueueClient`; no coroutine of its own, because every message has one of these."""
        return self._told("delete", self._queue.delete(message_id, pop_receipt))

    async def send(
        self, text: str, *, delay_s: float | None = None, ttl_s: float | None = None
    ) -> str:
        """See `QueueClient`."""
        return await self._told("send", self._queue.send(text, delay_s=delay_s, ttl_s=ttl_s))

    async def exists(self) -> bool:
        """See `QueueClient`."""
        return await self._told("exists", self._queue.exists())

    async def create(self) -> None:
        """See `QueueClient`."""
        await self._told("create", self._queue.create())

    async def approximate_count(self) -> int:
        """See `QueueInspector`."""
        inspector = cast("QueueInspector", self._queue)
        return await self._told("approximate_count", inspector.approximate_count())

    async def peek(self, count: int) -> Sequence[QueueMessage]:
        """See `QueueInspector`."""
        inspector = cast("QueueInspector", self._queue)
        return await self._told("peek", inspector.peek(count))

    async def clear(self) -> None:
        """See `QueueUpkeep`."""
        await self._told("clear", cast("QueueUpkeep", self._queue).clear())

    async def _told(self, verb: str, request: Awaitable[T]) -> T:
        try:
            answer = await request
        except QueueError as error:
            for watcher in self._watchers:
                watcher.failed(verb, error)
            raise
        for watcher in self._watchers:
            watcher.answered(verb)
        return answer

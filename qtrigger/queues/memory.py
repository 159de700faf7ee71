"""Queues in this process's memory: the protocol without a network.

Owns the queues of one account by name, scripted faults and request counts; the messages' rules
are `store`'s. For tests, and behind the built-in emulator. Nothing survives the process.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing, QueueRejected, QueueUnavailable
from qtrigger.queues.client import QueueMessage, Receipt
from qtrigger.queues.store import MessageStore

T = TypeVar("T")

VERBS = frozenset(
    {"receive", "update", "delete", "send", "exists", "create", "count", "peek", "clear"}
)

_QUEUE_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The messages of a queue by whether they could be received now."""

    visible: int
    invisible: int


@dataclass(slots=True)
class _Fault:
    verb: str
    queue: str | None
    error: QueueError | None
    times: int | None
    carried_out: bool
    delay_s: float

    def strikes(self, verb: str, queue: str) -> bool:
        return self.verb == verb and self.queue in (None, queue) and self.times != 0


class MemoryQueueService:
    """A `QueueService`. Queues are made by `create`, as on a real account."""

    def __init__(self, clock: Clock, *, account: str = "memory") -> None:
        self.account = account
        self.requests: Counter[str] = Counter()
        self._clock = clock
        self._stores: dict[str, MessageStore] = {}
        self._faults: list[_Fault] = []
        self._closed = False

    def queue(self, name: str) -> MemoryQueueClient:
        """See `QueueService`."""
        return MemoryQueueClient(self, name)

    async def close(self) -> None:
        """See `QueueService`."""
        self._closed = True

    def fail(
        self,
        verb: str,
        error: QueueError,
        *,
        times: int | None = 1,
        queue: str | None = None,
        carried_out: bool = False,
    ) -> None:
        """Let the next `times` calls of `verb` raise `error` (None: all, until `mend`).

        `queue` limits it to one queue. `carried_out` does the work first, then raises: the
        answer that was lost on its way.
        """
        self._script(verb, queue, times, error=error, carried_out=carried_out)

    def slow(
        self, verb: str, delay_s: float, *, times: int | None = 1, queue: str | None = None
    ) -> None:
        """Let the next `times` calls of `verb` take `delay_s` seconds of the clock first."""
        self._script(verb, queue, times, delay_s=delay_s)

    def mend(self) -> None:
        """Forget all scripted faults and delays."""
        self._faults.clear()

    def names(self, prefix: str = "") -> list[str]:
        """The queues there are, sorted."""
        return sorted(name for name in self._stores if name.startswith(prefix))

    def store(self, queue: str) -> MessageStore:
        """The messages of a queue. Raises QueueMissing, and QueueRejected for a bad name."""
        check_queue_name(queue)
        try:
            return self._stores[queue]
        except KeyError:
            raise QueueMissing(
                f"there is no queue {queue!r}", status=404, code="QueueNotFound"
            ) from None

    def make(self, queue: str) -> bool:
        """Make the queue; says whether it is new. Raises QueueRejected for a bad name."""
        check_queue_name(queue)
        if queue in self._stores:
            return False
        self._stores[queue] = MessageStore(self._clock)
        return True

    def remove(self, queue: str) -> None:
        """Delete the queue with its messages. Raises QueueMissing."""
        self.store(queue).clear()
        del self._stores[queue]

    def peek_all(self, queue: str) -> list[QueueMessage]:
        """Every message with its current receipt, hidden ones too, in order of arrival."""
        return list(self.store(queue))

    def counts(self, queue: str) -> Counts:
        """How many messages are visible and hidden now."""
        store = self.store(queue)
        visible = store.visible()
        return Counts(visible=visible, invisible=len(store) - visible)

    async def request(self, verb: str, queue: str, work: Callable[[], T]) -> T:
        """Do `work` as one request: counted, and under the scripted faults."""
        self.requests[verb] += 1
        if self._closed:
            raise QueueUnavailable(f"the connection to {self.account} has been closed")
        fault = next((f for f in self._faults if f.strikes(verb, queue)), None)
        if fault is None:
            return work()
        if fault.times is not None:
            fault.times -= 1
        if fault.delay_s:
            await self._clock.sleep(fault.delay_s)
        if fault.error is None:
            return work()
        if fault.carried_out:
            work()
        # A copy, so that one scripted error raised twice does not grow one traceback.
        raise copy.copy(fault.error)

    def _script(
        self,
        verb: str,
        queue: str | None,
        times: int | None,
        *,
        error: QueueError | None = None,
        carried_out: bool = False,
        delay_s: float = 0.0,
    ) -> None:
        if verb not in VERBS:
            raise ValueError(f"{verb!r} is no verb of a queue: {', '.join(sorted(VERBS))}")
        self._faults.append(
            _Fault(
                verb=verb,
                queue=queue,
                error=error,
                times=times,
                carried_out=carried_out,
                delay_s=delay_s,
            )
        )


class MemoryQueueClient:
    """A `QueueClient` over one queue of a `MemoryQueueService`."""

    def __init__(self, service: MemoryQueueService, name: str) -> None:
        self._service = service
        self._name = name

    @property
    def name(self) -> str:
        """See `QueueClient`."""
        return self._name

    @property
    def address(self) -> str:
        """See `QueueClient`."""
        return f"memory://{self._service.account}/{self._name}"

    async def receive(self, count: int, visibility_timeout_s: float) -> Sequence[QueueMessage]:
        """See `QueueClient`."""
        return await self._service.request(
            "receive", self._name, lambda: self._store.receive(count, visibility_timeout_s)
        )

    async def update(
        self,
        message_id: str,
        pop_receipt: str,
        visibility_timeout_s: float,
        text: str | None = None,
    ) -> Receipt:
        """See `QueueClient`."""
        return await self._service.request(
            "update",
            self._name,
            lambda: self._store.update(message_id, pop_receipt, visibility_timeout_s, text),
        )

    async def delete(self, message_id: str, pop_receipt: str) -> None:
        """See `QueueClient`."""
        await self._service.request(
            "delete", self._name, lambda: self._store.delete(message_id, pop_receipt)
        )

    async def send(
        self, text: str, *, delay_s: float | None = None, ttl_s: float | None = None
    ) -> str:
        """See `QueueClient`."""
        return await self._service.request(
            "send", self._name, lambda: self._store.put(text, delay_s, ttl_s).id
        )

    async def exists(self) -> bool:
        """See `QueueClient`."""
        try:
            await self._service.request("exists", self._name, lambda: self._store)
        except QueueMissing:
            return False
        return True

    async def approximate_count(self) -> int:
        """See `QueueInspector`."""
        return await self._service.request("count", self._name, lambda: len(self._store))

    async def peek(self, count: int) -> Sequence[QueueMessage]:
        """See `QueueInspector`."""
        return await self._service.request("peek", self._name, lambda: self._store.peek(count))

    async def clear(self) -> None:
        """See `QueueUpkeep`."""
        await self._service.request(
            "clear", self._name, lambda: self._service.store(self._name).clear()
        )

    async def create(self) -> None:
        """See `QueueClient`."""
        await self._service.request("create", self._name, lambda: self._service.make(self._name))

    @property
    def _store(self) -> MessageStore:
        return self._service.store(self._name)


def check_queue_name(name: str) -> None:
    """Raise QueueRejected, with the service's own code, for a name no queue can have."""
    if not 3 <= len(name) <= 63:
        code, why = "OutOfRangeInput", "3 to 63 characters long"
    elif not _QUEUE_NAME.fullmatch(name):
        code, why = "InvalidResourceName", "small letters, digits and single hyphens between them"
    else:
        return
    raise QueueRejected(
        f"{name!r} cannot be the name of a queue: it must be {why}", status=400, code=code
    )

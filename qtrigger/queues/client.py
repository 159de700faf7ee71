"""The protocol through which everything else speaks to queues.

Owns the names and meanings of the verbs; knows no wire format and no SDK. Implementations (the
REST client, the memory queue) pass one contract suite. Every verb raises the `QueueError` family
and nothing else, within `REQUEST_TIMEOUT_S`. Durations are float seconds; the service knows whole
seconds only, and what it cannot hold is cut (1.9 becomes 1), as the .NET SDK does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from qtrigger.values import value

MAX_RECEIVE = 32
MAX_TEXT_BYTES = 65_536
NEVER_EXPIRES_S = -1.0
REQUEST_TIMEOUT_S = 30.0


@value(frozen=True, slots=True, kw_only=True)
class QueueMessage:
    """A received message; `text` as it stands on the wire, `pop_receipt` that of the receive."""

    id: str
    text: str
    dequeue_count: int
    inserted: datetime
    expires: datetime
    next_visible: datetime
    pop_receipt: str


@value(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The right to a message after an update: each update replaces the receipt before it."""

    pop_receipt: str
    next_visible: datetime


class QueueClient(Protocol):
    """One queue."""

    @property
    def name(self) -> str:
        """The queue's name."""

    @property
    def address(self) -> str:
        """The queue's full address without any secret; equal for equal queues."""

    async def receive(self, count: int, visibility_timeout_s: float) -> Sequence[QueueMessage]:
        """Take up to `count` (1-32) messages, hidden from others for the given time.

        Raises QueueMissing when there is no such queue.
        """

    async def update(
        self,
        message_id: str,
        pop_receipt: str,
        visibility_timeout_s: float,
        text: str | None = None,
    ) -> Receipt:
        """Hide the message for that long from now (0: visible at once); `text` replaces it.

        Raises LeaseLostError when the receipt is not the newest or the message is gone.
        """

    async def delete(self, message_id: str, pop_receipt: str) -> None:
        """Remove the message. Raises LeaseLostError as `update` does."""

    async def send(
        self, text: str, *, delay_s: float | None = None, ttl_s: float | None = None
    ) -> str:
        """Put a message and return its id; `ttl_s` NEVER_EXPIRES_S means for ever.

        None leaves both to the service: visible at once, gone after seven days. Raises
        QueueMissing, MessageTooLarge, or QueueRejected for a text that XML cannot carry.
        """

    async def exists(self) -> bool:
        """Whether the queue is there."""

    async def create(self) -> None:
        """Make the queue; no error when it is there already."""


class QueueInspector(Protocol):
    """Looks at one queue without taking anything; every `QueueClient` here is one."""

    async def approximate_count(self) -> int:
        """How many messages there are, hidden ones too; the service may be a little behind.

        Raises QueueMissing.
        """

    async def peek(self, count: int) -> Sequence[QueueMessage]:
        """Up to `count` (1-32) visible messages, changing neither count nor visibility.

        `pop_receipt` is "", and `next_visible` the time of insertion. Raises QueueMissing.
        """


class QueueUpkeep(Protocol):
    """What its owner does to one queue; every `QueueClient` here is one."""

    async def clear(self) -> None:
        """Remove every message, hidden ones too; whoever holds one finds it gone.

        Raises QueueMissing. Very many messages may take the service longer than one request
        lasts: QueueUnavailable then, and the rest goes with the next call.
        """


class WholeQueue(QueueClient, QueueInspector, QueueUpkeep, Protocol):
    """Everything that can be asked of a queue; every queue client is one."""


class QueueService(Protocol):
    """The queues of one storage account."""

    def queue(self, name: str) -> QueueClient:
        """Speak to that queue; no request is made. Equal names give equal addresses."""

    async def close(self) -> None:
        """End all connections; further verbs raise QueueUnavailable."""

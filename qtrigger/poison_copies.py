"""Copies of messages in their poison queue: one for each, as far as anybody can know.

Owns the request that makes a copy, and the memory of copies whose originals are still to be
deleted. Knows neither leases nor dispositions; when to try again is the settlement's.
"""

from __future__ import annotations

from qtrigger.errors import QueueMissing, QueueUnavailable
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient, QueueMessage
from qtrigger.wakeups import Wakeups

REMEMBERED_COPIES = 10_000
# After these the request may have been carried out.
ANSWER_LOST = frozenset({"TimedOut", "BrokenOff", "OperationTimedOut"})


class PoisonCopies:
    """The copies in one poison queue."""

    def __init__(
        self, queue: QueueClient, wakeups: Wakeups, *, ttl_s: float = NEVER_EXPIRES_S
    ) -> None:
        self._queue = queue
        self._ttl_s = ttl_s
        self._wakeups = wakeups
        self._made: dict[str, str] = {}
        self._unanswered: dict[str, str] = {}

    def has(self, message: QueueMessage) -> bool:
        """Whether a copy was made, and its original is still to be deleted.

        A message whose delete fails is not copied anew each time it comes back.
        """
        return message.id in self._made

    def id_of(self, message: QueueMessage) -> str:
        """The id that the service gave the copy, "" without one."""
        return self._made.get(message.id, "")

    def perhaps_twice(self, message: QueueMessage) -> bool:
        """Whether the answer to an earlier copy was lost, so that there may be two."""
        return message.id in self._unanswered

    async def make(self, message: QueueMessage) -> None:
        """Put a copy there. Raises the `QueueError` family.

        It is the text as it stands on the wire, never decoded and encoded again, so a message of
        the largest size fits too; and it never expires, unless the user says so.
        """
        try:
            copy_id = await _send(self._queue, message.text, self._ttl_s)
        except QueueUnavailable as error:
            if error.code in ANSWER_LOST:
                _remember(message.id, "", self._unanswered)
            raise
        _remember(message.id, copy_id, self._made)
        self._wakeups.wake(self._queue.address)

    def forget(self, message: QueueMessage) -> None:
        """The original has been deleted."""
        self._made.pop(message.id, None)
        self._unanswered.pop(message.id, None)


async def _send(poison: QueueClient, text: str, ttl_s: float) -> str:
    """Put a text there, making the queue when it is needed for the first time; return its id.

    A poison queue that is missing even so is being deleted: that passes, and says nothing about
    the message.
    """
    try:
        return await poison.send(text, ttl_s=ttl_s)
    except QueueMissing:
        try:
            await poison.create()
            return await poison.send(text, ttl_s=ttl_s)
        except QueueMissing as error:
            raise QueueUnavailable(str(error), status=error.status, code=error.code) from error


def _remember(message_id: str, copy_id: str, among: dict[str, str]) -> None:
    among[message_id] = copy_id
    if len(among) > REMEMBERED_COPIES:
        among.pop(next(iter(among)))

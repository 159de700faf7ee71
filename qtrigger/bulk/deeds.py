"""What is done to one message that is held: moved to another queue, removed, or only looked at.

Owns the order that loses nothing, copy first and delete afterwards, and that a copy is the text as
it stands on the wire. An outcome is a word for the counts; an error ends the whole run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from qtrigger.bulk.held import Held
from qtrigger.bulk.requests import persist
from qtrigger.clock import Clock
from qtrigger.errors import (
    LeaseLostError,
    MessageTooLarge,
    QtriggerError,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.poison_copies import ANSWER_LOST
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient, QueueMessage

DONE: Final = "done"
# Done, and it stays in its queue.
SEEN: Final = "seen"
# Done, but the message is still there for whoever has it now: it may be done twice.
DOUBLED: Final = "doubled"

TAKEN: Final = "taken by somebody else meanwhile"
UNANSWERED: Final = "no answer to the copy, which may have been made"
UNDELETED: Final = "copied, but not deleted"
HOMELESS: Final = "not known whose they are; name a queue by --to"


class NotDeleted(QtriggerError):
    """A message was copied, and the service would not delete it: it is there twice."""

    def __init__(self, error: QueueError) -> None:
        super().__init__(str(error))
        self.error = error


class Deed(Protocol):
    """Done to each message that is wanted."""

    async def do(self, held: Held) -> str:
        """Do it; return DONE, SEEN or DOUBLED, or why the message is left where it is.

        Raises QueueError, or NotDeleted, for what the next message would meet as well.
        """


class Move:
    """Copies to where `route` says, then deletes. None from `route` leaves the message.

    Copies never expire: the message that is moved did not either, or had most of its time left.
    """

    def __init__(self, route: Callable[[QueueMessage], QueueClient | None], clock: Clock) -> None:
        self._route = route
        self._clock = clock

    async def do(self, held: Held) -> str:
        """See `Deed`."""
        target = self._route(held.message)
        if target is None:
            return HOMELESS
        try:
            await held.secure()
        except LeaseLostError:
            return TAKEN
        try:
            await persist(lambda: _copy(target, held.message.text), self._clock, twice=False)
        except (QueueRejected, MessageTooLarge) as error:
            return str(error)
        except QueueUnavailable as error:
            if error.code in ANSWER_LOST:
                return UNANSWERED
            raise
        try:
            return await _delete(held, self._clock, copied=True)
        except QueueError as error:
            raise NotDeleted(error) from error


class Remove:
    """Deletes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def do(self, held: Held) -> str:
        """See `Deed`."""
        return await _delete(held, self._clock, copied=False)


class Show:
    """Gives each message to `show`, and leaves it in its queue."""

    def __init__(self, show: Callable[[QueueMessage], None]) -> None:
        self._show = show

    async def do(self, held: Held) -> str:
        """See `Deed`."""
        self._show(held.message)
        return SEEN


async def _copy(target: QueueClient, text: str) -> None:
    try:
        await target.send(text, ttl_s=NEVER_EXPIRES_S)
    except QueueMissing:
        await target.create()
        await target.send(text, ttl_s=NEVER_EXPIRES_S)


async def _delete(held: Held, clock: Clock, *, copied: bool) -> str:
    answers_lost = 0

    async def delete() -> None:
        nonlocal answers_lost
        try:
            await held.delete()
        except QueueUnavailable:
            answers_lost += 1
            raise

    try:
        await persist(delete, clock)
    except LeaseLostError as error:
        if answers_lost and error.status == 404:
            return DONE  # the one before was carried out
        return DOUBLED if copied else TAKEN
    return DONE

"""Which messages of a poison queue are wanted: by id, age, words, error.

Owns what each of them takes; everything that is said must hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from qtrigger.poison.queues import PoisonQueue, error_type, error_words
from qtrigger.queues.client import QueueMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a message must be like; no ids are all ids.

    `contains` is looked for in its body, as it is written; with `anywhere` in its error and its ids
    as well, without regard to case, and in its body if `bodies`. `errors` are as people write them,
    `error` is the one that a listing shows, to the letter ("" for one that nobody knows).
    """

    ids: frozenset[str] = frozenset()
    older_than: timedelta | None = None
    contains: str = ""
    anywhere: bool = False
    bodies: bool = True
    errors: tuple[str, ...] = ()
    error: str | None = None

    @property
    def selects(self) -> bool:
        """Whether some messages may not be wanted."""
        said = (self.ids, self.older_than, self.contains, self.errors, self.error is not None)
        return any(said)

    def among(self, queue: PoisonQueue, now: datetime) -> Callable[[QueueMessage], bool] | None:
        """What tells whether a message of that queue is wanted; None where all are."""

        def is_wanted(message: QueueMessage) -> bool:
            return (
                (not self.ids or message.id in self.ids)
                and (self.older_than is None or now - message.inserted > self.older_than)
                and (not self.contains or self._holds(queue, message))
                and (not self.errors or self._failed_so(queue, message))
                and (self.error is None or self.error == error_type(queue.last_try(message)))
            )

        return is_wanted if self.selects else None

    def _holds(self, queue: PoisonQueue, message: QueueMessage) -> bool:
        body = queue.body_of(message).readable
        if not self.anywhere:
            return self.contains in body
        copy = queue.copy_of(message)
        error = error_words(queue.last_try(message))
        ids = (message.id, copy.message_id if copy else "")
        texts = (*([body] if self.bodies else []), error, *ids)
        return any(self.contains.casefold() in each.casefold() for each in texts)

    def _failed_so(self, queue: PoisonQueue, message: QueueMessage) -> bool:
        tried = queue.last_try(message)
        if tried is None:
            return False
        whole = tried.error_type.casefold()
        return any(
            each.casefold() in (whole, whole.rpartition(".")[2], tried.outcome)
            for each in self.errors
        )

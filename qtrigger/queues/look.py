"""One look at a queue: whether it answers, is there, and what the credential may not do.

Owns which requests prove what without taking or changing a message: the queue's properties and a
peek. Rights that only a change would prove are told from a SAS's own text, or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from qtrigger.errors import AccessDenied, QueueError, QueueMissing
from qtrigger.queues.client import QueueInspector


class Inspected(Protocol):
    """What is asked of an account's service here."""

    def queue(self, name: str) -> QueueInspector:
        """Look at that queue; no request is made."""

    async def close(self) -> None:
        """End all connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was seen: `count` is the number of messages, hidden ones too, None when untold.

    `exists` is None when it cannot be told; `refused` holds a denial for each request that was
    refused, `failure` why there was no answer at all.
    """

    exists: bool | None = None
    count: int | None = None
    refused: tuple[AccessDenied, ...] = ()
    failure: QueueError | None = None


async def look(queue: QueueInspector) -> Look:
    """Ask for the queue's properties and peek at it, side by side. Raises nothing of its own."""
    count, seen = await asyncio.gather(
        queue.approximate_count(), queue.peek(1), return_exceptions=True
    )
    answers: Sequence[object] = (count, seen)
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, QueueError):
            raise answer
    refused = tuple(answer for answer in answers if isinstance(answer, AccessDenied))
    if any(isinstance(answer, QueueMissing) for answer in answers):
        return Look(exists=False, refused=refused)
    failures = [each for each in answers if isinstance(each, QueueError) and each not in refused]
    if failures:
        return Look(refused=refused, failure=failures[0])
    exists = True if len(refused) < len(answers) else None
    return Look(exists=exists, count=count if isinstance(count, int) else None, refused=refused)


async def look_at_each(names: Sequence[str], service: Inspected) -> dict[str, Look]:
    """A look at each of the queues; when the first gets no answer, no other one is asked."""
    first, *others = names
    seen = await look(service.queue(first))
    if seen.failure is not None:
        return dict.fromkeys(names, seen)
    looks = await asyncio.gather(*(look(service.queue(name)) for name in others))
    return {first: seen, **dict(zip(others, looks, strict=True))}

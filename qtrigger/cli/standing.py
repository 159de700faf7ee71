"""What stands in the queues of a project now, asked of the service and taking nothing.

Owns which requests tell what: the approximate number, and a peek at the first 32. Accounts and
queues are asked side by side; one that does not answer costs its own rows alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from qtrigger.cli.queue_client import Queues
from qtrigger.cli.targets import Target
from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing, QueueUnavailable
from qtrigger.queues.account import Account
from qtrigger.queues.client import MAX_RECEIVE

LIMIT_S: Final = 5.0
AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One queue now.

    `count` is about how many messages there are, hidden ones too. `waiting` of them are visible,
    None where there are more than a peek shows. `oldest` is when the oldest visible one came.
    `exists` False is a queue that is not there, `error` why nothing is known.
    """

    count: int = 0
    waiting: int | None = 0
    oldest: datetime | None = None
    exists: bool = True
    error: QueueError | None = None

    @property
    def hidden(self) -> int | None:
        """How many are hidden; None where it cannot be told."""
        return None if self.waiting is None else max(self.count - self.waiting, 0)


async def standings(
    targets: Sequence[Target], queues: Queues, clock: Clock, *, look: bool = True
) -> list[Standing]:
    """One for each target, in their order; `look` False asks for numbers alone."""
    permits = asyncio.Semaphore(AT_ONCE)

    async def one(target: Target) -> Standing:
        async with permits:
            return await _standing(target, queues, clock, look=look)

    return list(await asyncio.gather(*(one(each) for each in targets)))


def silences(targets: Sequence[Target], found: Iterable[Standing]) -> list[QueueError]:
    """The first error of each account that did not answer."""
    errors: dict[Account, QueueError] = {}
    for target, standing in zip(targets, found, strict=True):
        if standing.error is not None:
            errors.setdefault(target.account, standing.error)
    return list(errors.values())


async def _standing(target: Target, queues: Queues, clock: Clock, *, look: bool) -> Standing:
    try:
        queue = queues.of(target)
        async with clock.timeout(LIMIT_S):
            if not look:
                return Standing(count=await queue.approximate_count(), waiting=None)
            count, seen = await asyncio.gather(queue.approximate_count(), queue.peek(MAX_RECEIVE))
    except QueueMissing:
        return Standing(exists=False)
    except QueueError as error:
        return Standing(error=error)
    except TimeoutError:
        text = f"{target.account.endpoint} did not answer within {LIMIT_S:g} s"
        return Standing(error=QueueUnavailable(text, code="TimedOut"))
    return Standing(
        count=max(count, len(seen)),
        waiting=len(seen) if len(seen) < MAX_RECEIVE else None,
        oldest=min((each.inserted for each in seen), default=None),
    )

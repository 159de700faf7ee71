"""What is to be done in one poison queue, and what is seen of it beforehand.

Owns how many messages that is, as far as it can be told without taking any, and how many have to be
taken. The work itself is `qtrigger.bulk`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qtrigger.bulk.deeds import Deed
from qtrigger.bulk.pace import Pace
from qtrigger.bulk.sweep import Sweep, Swept
from qtrigger.clock import Clock
from qtrigger.errors import QueueMissing
from qtrigger.poison.queues import Clients, PoisonQueue
from qtrigger.queues.client import MAX_RECEIVE, QueueMessage, WholeQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done in one queue, and what was seen beforehand.

    `count` is about how many messages there are. `all_seen` says that `peeked` are all the visible
    ones. `wanted` None is every message; `number` is how many of them that is, None if not known.
    """

    queue: PoisonQueue
    client: WholeQueue
    count: int
    peeked: tuple[QueueMessage, ...]
    wanted: Callable[[QueueMessage], bool] | None
    limit: int | None
    most_taken: int | None

    @property
    def all_seen(self) -> bool:
        """Whether a peek shows all the visible messages."""
        return len(self.peeked) < MAX_RECEIVE

    @property
    def chosen(self) -> list[QueueMessage]:
        """Those of the first 32 that are wanted."""
        return list(filter(self.wanted, self.peeked) if self.wanted else self.peeked)[: self.limit]

    @property
    def number(self) -> int | None:
        """How many are wanted, about; None where that cannot be told without taking any."""
        if self.wanted is not None:
            return len(self.chosen) if self.all_seen or self.most_taken is not None else None
        return self.count if self.limit is None else min(self.count, self.limit)

    @property
    def words(self) -> str:
        """`3 messages from orders-poison`."""
        number = self.number
        if number is None:
            return f"those that fit, of about {self.count:,} messages, from {self.queue.name}"
        return f"{number:,} {'message' if number == 1 else 'messages'} from {self.queue.name}"

    def sweep(
        self,
        deed: Deed,
        *,
        clock: Clock,
        stop: asyncio.Event,
        rate: float | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> Sweep:
        """The run that does it; `rate` messages a second."""
        return Sweep(
            self.client,
            deed,
            clock=clock,
            pace=Pace(rate, clock, stop),
            stop=stop,
            wanted=self.wanted,
            limit=self.limit,
            most_taken=self.most_taken,
            count=self.most_taken or self.number or self.count,
            advance=advance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A poison queue, about how many messages it has, and the first of them."""

    queue: PoisonQueue
    client: WholeQueue
    count: int
    peeked: tuple[QueueMessage, ...]

    def plan(
        self,
        wanted: Callable[[QueueMessage], bool] | None,
        *,
        limit: int | None = None,
        ids: int = 0,
    ) -> Plan:
        """What is to be done to those that are wanted, of which `ids` are known by their ids."""
        return Plan(
            queue=self.queue,
            client=self.client,
            count=self.count,
            peeked=self.peeked,
            wanted=wanted,
            limit=limit,
            most_taken=_most_taken(self.peeked, wanted, limit, ids),
        )


async def look(queue: PoisonQueue, clients: Clients) -> Look:
    """Look at it, taking nothing. Raises the `QueueError` family; a missing one is empty."""
    client = clients.named(queue.account, queue.name)
    try:
        count, peeked = await asyncio.gather(client.approximate_count(), client.peek(MAX_RECEIVE))
    except QueueMissing:
        count, peeked = 0, ()
    peeked = tuple(peeked)
    return Look(queue=queue, client=client, count=max(count, len(peeked)), peeked=peeked)


async def left_of(made: Plan, swept: Swept) -> int:
    """How many that are wanted are still there, as far as it can be told."""
    if made.wanted is not None or made.limit is not None or swept.whole:
        known = made.number
        if (swept.stopped or swept.failure) and known is not None:
            return max(known - swept.done, 0)
        return swept.left.total()
    try:
        return await made.client.approximate_count()
    except Exception:  # noqa: BLE001 - the number is a courtesy after the failure it belongs to
        return swept.left.total()


def reasons_of(swept: Swept, left: int) -> list[str]:
    """Why some are left, in words; how many of each, unless all are for one reason."""
    reasons = [f"{number:,} {why}" for why, number in swept.left.items()]
    if swept.failure is not None:
        reasons.append(str(swept.failure))
    if swept.left.total() == left and len(swept.left) == 1 and swept.failure is None:
        reasons = list(swept.left)
    return reasons


def _most_taken(
    peeked: Sequence[QueueMessage],
    wanted: Callable[[QueueMessage], bool] | None,
    limit: int | None,
    ids: int,
) -> int | None:
    """How many have to be taken, from the first on, to have all that are wanted; None: all."""
    if wanted is None:
        return None
    places = [place for place, message in enumerate(peeked, 1) if wanted(message)]
    if limit is not None and len(places) >= limit:
        return places[limit - 1]
    if len(peeked) < MAX_RECEIVE:
        return places[-1] if places else 0
    return places[-1] if ids and len(places) == ids else None

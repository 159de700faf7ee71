"""`qtrigger poison requeue`, `purge` and `export`: what is done to many poisoned messages.

Owns what is looked at before anything is taken, what a person is told before and afterwards, and
the exit codes. The work itself is `qtrigger.bulk`'s.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from qtrigger.bulk.deeds import Deed
from qtrigger.bulk.held import LEASE_S
from qtrigger.bulk.pace import Pace
from qtrigger.bulk.sweep import Sweep, Swept
from qtrigger.cli import wiring
from qtrigger.cli.poison_filter import Filters, whole_ids
from qtrigger.cli.poisoned import PoisonQueue
from qtrigger.cli.progress import progress
from qtrigger.cli.queue_client import Queues, WholeQueue
from qtrigger.clock import Clock
from qtrigger.errors import ExitCode, QueueMissing
from qtrigger.journal import JournalFile
from qtrigger.queues.client import MAX_RECEIVE, QueueMessage

TAKES = (
    "note: {name} shows no more than its first 32 messages; to look at the others they have to be "
    "taken and given back, which raises their dequeue counts by one"
)


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


async def plan(
    queues: Sequence[PoisonQueue],
    clients: Queues,
    filters: Filters,
    journal: JournalFile,
    clock: Clock,
) -> list[Plan]:
    """Look at the queues, taking nothing; queues without a wanted message are left out.

    Raises the `QueueError` family, and UsageError for an id that is not known.
    """
    looks = await asyncio.gather(*(_look(each, clients) for each in queues))
    seen = [message for _, _, peeked in looks for message in peeked]
    ids, now = whole_ids(filters.ids, journal, seen), clock.utcnow()
    plans: list[Plan] = []
    for queue, (client, count, peeked) in zip(queues, looks, strict=True):
        wanted = filters.wanted(queue, ids, now) if filters.selects else None
        made = Plan(
            queue=queue,
            client=client,
            count=count,
            peeked=peeked,
            wanted=wanted,
            limit=filters.limit,
            most_taken=_most_taken(filters, wanted, peeked),
        )
        if made.number != 0:
            plans.append(made)
    return plans


async def _look(
    queue: PoisonQueue, clients: Queues
) -> tuple[WholeQueue, int, tuple[QueueMessage, ...]]:
    client = clients.named(queue.account, queue.name)
    try:
        count, peeked = await asyncio.gather(client.approximate_count(), client.peek(MAX_RECEIVE))
    except QueueMissing:
        return client, 0, ()
    return client, max(count, len(peeked)), tuple(peeked)


def _most_taken(
    filters: Filters,
    wanted: Callable[[QueueMessage], bool] | None,
    peeked: Sequence[QueueMessage],
) -> int | None:
    """How many have to be taken, from the first on, to have all that are wanted; None: all."""
    if wanted is None:
        return None
    places = [place for place, message in enumerate(peeked, 1) if wanted(message)]
    if filters.limit is not None and len(places) >= filters.limit:
        return places[filters.limit - 1]
    if len(peeked) < MAX_RECEIVE:
        return places[-1] if places else 0
    return places[-1] if filters.ids and len(places) == len(filters.ids) else None


async def carry_out(
    made: Plan,
    deed: Deed,
    what: str,
    *,
    clock: Clock,
    stop: asyncio.Event,
    rate: float | None = None,
) -> Swept:
    """Do it, with progress; see `Sweep`."""
    if made.wanted is not None and made.most_taken is None:
        wiring.note(TAKES.format(name=made.queue.name))
    total = made.number if made.wanted is None else (made.most_taken or made.count)
    with progress(f"{what} {made.queue.name}", total, clock) as advance:
        return await Sweep(
            made.client,
            deed,
            clock=clock,
            pace=Pace(rate, clock, stop),
            stop=stop,
            wanted=made.wanted,
            limit=made.limit,
            most_taken=made.most_taken,
            count=made.most_taken or made.number or made.count,
            advance=advance,
        ).run()


async def report(
    made: Plan,
    swept: Swept,
    done: str,
    *,
    several: bool,
    tell: Callable[[str], None] = click.echo,
) -> ExitCode:
    """Say what became of one queue: `moved 9,998, left 2 (reason)`. Returns the exit code.

    Raises what ended the run before anything was done.
    """
    if swept.failure is not None and not swept.done and not swept.left:
        raise swept.failure
    left = await _left(made, swept)
    name = f"{made.queue.name}: " if several else ""
    reasons = [f"{number:,} {why}" for why, number in swept.left.items()]
    if swept.failure is not None:
        reasons.append(str(swept.failure))
    if swept.left.total() == left and len(swept.left) == 1 and swept.failure is None:
        reasons = list(swept.left)
    tail = f", left {left:,}" if left or not swept.whole else ""
    tail += f" ({'; '.join(reasons)})" if reasons else ""
    tell(f"{name}{done} {swept.done:,}{tail}")
    if swept.doubled:
        wiring.note(
            f"note: {swept.doubled:,} of them were in somebody else's hands by the end, and may be "
            "there twice"
        )
    if swept.unreturned:
        wiring.note(
            f"note: {swept.unreturned:,} could not be given back; they come back by themselves "
            f"within {LEASE_S / 60:g} min"
        )
    return ExitCode.OK if swept.whole else ExitCode.PARTLY


async def _left(made: Plan, swept: Swept) -> int:
    """How many that are wanted are still there, as far as it can be told."""
    if made.wanted is not None or made.limit is not None or swept.whole:
        known = made.number
        if swept.stopped and known is not None:
            return max(known - swept.done, 0)
        return swept.left.total()
    try:
        return await made.client.approximate_count()
    except Exception:  # noqa: BLE001 - the number is a courtesy after the failure it belongs to
        return swept.left.total()


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """The exit code of several queues together."""
    return max(codes, default=ExitCode.OK)


def tell_undecodable(plans: Sequence[Plan]) -> None:
    """Warn of texts that will come straight back, since their functions cannot decode them."""
    odd = Counter(
        made.queue.name
        for made in plans
        for message in made.chosen
        if made.queue.body_of(message).problem
    )
    for name, number in odd.items():
        wiring.note(
            f"warning: {number} of the first messages in {name} do not fit their function's "
            "messageEncoding, and come straight back unless that is changed; see qtrigger peek "
            f"{name}"
        )

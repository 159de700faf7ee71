"""`qtrigger poison requeue`, `purge` and `export`: what is done to many poisoned messages.

Owns what is looked at before anything is taken, what a person is told before and afterwards, and
the exit codes. The work itself is `qtrigger.bulk`'s.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import click

from qtrigger.bulk.deeds import Deed
from qtrigger.bulk.held import LEASE_S
from qtrigger.bulk.sweep import Swept
from qtrigger.cli import wiring
from qtrigger.cli.poison_filter import Filters, whole_ids
from qtrigger.cli.poisoned import PoisonQueue
from qtrigger.cli.progress import progress
from qtrigger.cli.queue_client import Queues
from qtrigger.clock import Clock
from qtrigger.errors import ExitCode
from qtrigger.journal import JournalFile
from qtrigger.poison.plan import Plan, left_of, look, reasons_of

TAKES = (
    "note: {name} shows no more than its first 32 messages; to look at the others they have to be "
    "taken and given back, which raises their dequeue counts by one"
)


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
    looks = await asyncio.gather(*(look(each, clients) for each in queues))
    seen = [message for each in looks for message in each.peeked]
    wanted = filters.wanted(whole_ids(filters.ids, journal, seen))
    now = clock.utcnow()
    plans = [
        each.plan(wanted.among(each.queue, now), limit=filters.limit, ids=len(filters.ids))
        for each in looks
    ]
    return [each for each in plans if each.number != 0]


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
        sweep = made.sweep(deed, clock=clock, stop=stop, rate=rate, advance=advance)
        return await sweep.run()


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
    left = await left_of(made, swept)
    name = f"{made.queue.name}: " if several else ""
    reasons = reasons_of(swept, left)
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

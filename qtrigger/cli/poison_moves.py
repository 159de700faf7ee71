"""`qtrigger poison requeue` and `purge`: move poisoned messages back, or delete them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from qtrigger.cli import poison_bulk, poison_filter, stopping, targets
from qtrigger.cli.asking import confirm, yes_option
from qtrigger.cli.poison_filter import Filters
from qtrigger.cli.poison_setting import Setting, shared_options
from qtrigger.cli.poisoned import PoisonQueue
from qtrigger.cli.quantity import RATE
from qtrigger.cli.queue_client import Queues, open_queues
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.poison.plan import Plan
from qtrigger.poison.queues import route_of

_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.command("requeue", short_help="Move messages back to the queues they came from.")
@click.argument("name", required=False)
@poison_filter.filter_options
@click.option("--to", metavar="QUEUE", help="Another queue (default: the one they came from).")
@click.option("--rate", type=RATE, metavar="N/s", help="So many a second, rather than all at once.")
@_dry_run
@yes_option
@shared_options
def requeue(name: str | None, to: str | None, **flags: Any) -> int:
    """Move messages of NAME from the poison queue back to the queue that they came from.

    The text stays as it is, byte for byte, and its tries begin anew. Each message is copied and
    then deleted: however it is interrupted, none is lost, and of those in flight each is there
    twice at most. Ctrl-C finishes what is in flight. Exit codes: 0 all moved, 3 the project
    cannot be read, 4 the service cannot
    be reached or refuses, 5 some were left.
    """
    setting = Setting(name, flags)
    target = None if to is None else targets.queue_name(to)
    for queue in setting.queues:
        _check_target(queue, target)

    async def work(made: Plan, clients: Queues, stop: asyncio.Event, several: bool) -> ExitCode:
        from qtrigger.bulk.deeds import Move

        clock = SystemClock()
        move = Move(route_of(made.queue, target, clients), clock)
        swept = await poison_bulk.carry_out(
            made, move, "requeueing from", clock=clock, stop=stop, rate=flags["rate"]
        )
        return await poison_bulk.report(made, swept, "moved", several=several)

    return _in_bulk(
        setting,
        flags,
        _Words("requeue", "moved", _goal(target)),
        work,
        poison_bulk.tell_undecodable,
    )


def _check_target(queue: PoisonQueue, target: str | None) -> None:
    """Refuse what cannot go anywhere. Raises UsageError."""
    if target == queue.name:
        raise click.UsageError(f"--to {target} is the poison queue itself")
    if target is None and not queue.sources:
        raise click.UsageError(
            f"no function of the project has {queue.name} as its poison queue; "
            "say by --to QUEUE where its messages are to go"
        )
    if target is None and len(queue.sources) > 1 and not queue.journal.path.exists():
        raise click.UsageError(
            f"{queue.name} is shared by {', '.join(each.name for each in queue.functions)}, and "
            "there is no journal that says whose its messages are; say by --to QUEUE where they "
            "are to go"
        )


def _goal(target: str | None) -> Callable[[PoisonQueue], str]:
    def goal(queue: PoisonQueue) -> str:
        if target or len(queue.sources) == 1:
            return f" to {target or queue.sources[0]}"
        return " to the queues that they came from"

    return goal


@click.command("purge", short_help="Delete messages for good.")
@click.argument("name", required=False)
@poison_filter.filter_options
@_dry_run
@yes_option
@shared_options
def purge(name: str | None, **flags: Any) -> int:
    """Delete poisoned messages of NAME for good.

    Exit codes: 0 all deleted, 3 the project cannot be read, 4 the service cannot be reached or
    refuses, 5 some were left.
    """
    setting = Setting(name, flags)

    async def work(made: Plan, clients: Queues, stop: asyncio.Event, several: bool) -> ExitCode:
        from qtrigger.bulk.deeds import Remove
        from qtrigger.cli.purge import clear

        del clients
        clock = SystemClock()
        if made.wanted is None and made.limit is None:
            whole = await clear(made.client, made.count, clock, stop)
            if whole:
                click.echo(f"deleted {made.words}")
            return ExitCode.OK if whole else ExitCode.PARTLY
        swept = await poison_bulk.carry_out(
            made, Remove(clock), "deleting from", clock=clock, stop=stop
        )
        return await poison_bulk.report(made, swept, "deleted", several=several)

    return _in_bulk(setting, flags, _Words("delete", "deleted", lambda _: ""), work)


class _Words:
    """How a deed is spoken of."""

    def __init__(self, deed: str, done: str, goal: Callable[[PoisonQueue], str]) -> None:
        self.deed, self.done, self.goal = deed, done, goal


def _in_bulk(
    setting: Setting,
    flags: dict[str, Any],
    words: _Words,
    work: Callable[[Plan, Queues, asyncio.Event, bool], Awaitable[ExitCode]],
    prepare: Callable[[Sequence[Plan]], None] = lambda _: None,
) -> int:
    """Look, ask, and do it to one queue after another; the first error ends it."""
    filters = Filters.of(flags)

    async def look() -> list[Plan]:
        async with open_queues(SystemClock()) as clients:
            return await poison_bulk.plan(
                setting.queues, clients, filters, setting.journal, SystemClock()
            )

    plans = asyncio.run(look())
    prepare(plans)
    setting.tell_journal()
    if not plans:
        click.echo(f"{words.done} 0")
        return ExitCode.OK
    what = ", ".join(f"{made.words}{words.goal(made.queue)}" for made in plans)
    if flags["dry_run"]:
        click.echo(f"would {words.deed} {what}")
        return ExitCode.OK
    confirm(f"{words.deed} {what}", yes=flags["yes"])

    async def go(stop: asyncio.Event) -> ExitCode:
        codes: list[ExitCode] = []
        async with open_queues(SystemClock()) as clients:
            # Of this loop, and as it is by now: a person may have thought for a while.
            now = await poison_bulk.plan(
                setting.queues, clients, filters, setting.journal, SystemClock()
            )
            for made in now:
                if stop.is_set():
                    codes.append(ExitCode.PARTLY)
                    break
                codes.append(await work(made, clients, stop, len(now) > 1))
        return poison_bulk.worst(codes)

    return stopping.run(go)

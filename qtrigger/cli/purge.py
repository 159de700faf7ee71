"""`qtrigger purge`: delete every message of a queue."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

import click

from qtrigger.cli import projects, stopping, targets, wiring
from qtrigger.cli.asking import confirm, yes_option
from qtrigger.cli.progress import progress
from qtrigger.cli.queue_client import WholeQueue, open_queues
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import ExitCode, QueueUnavailable

EPILOG = """\b
Examples:
  qtrigger purge orders --dry-run
  qtrigger purge orders --yes
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is in a queue: how many messages about, and whether none of them is visible."""

    count: int
    all_hidden: bool

    def words(self, name: str) -> str:
        """`3 messages from orders`, and what is odd about them."""
        noun = "message" if self.count == 1 else "messages"
        hidden = "; all of them are hidden: in processing, or to show up later"
        return f"{self.count:,} {noun} from {name}{hidden if self.all_hidden else ''}"


@click.command(short_help="Delete every message of a queue.", epilog=EPILOG)
@click.argument("queue")
@yes_option
@click.option("--dry-run", is_flag=True, help="Say how many would be deleted, and delete none.")
@click.option("--connection", metavar="NAME", help="Connection name (default: the queue's own).")
@wiring.environment_option
@click.option(
    "--project",
    type=click.Path(),
    help="The project's folder (default: the nearest upwards with a host.json).",
)
def purge(
    queue: str,
    yes: bool,
    dry_run: bool,
    connection: str | None,
    environment: str,
    project: str | None,
) -> int:
    """Delete every message of QUEUE: a queue, or a function whose queue it is.

    Hidden messages go too, those that a function is working on as well: its run goes on, and finds
    its message gone. Exit codes: 0 deleted, 4 the service cannot be reached or refuses, 5 stopped
    before all were deleted.
    """
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    target = targets.find(loaded, queue, connection)
    standing = asyncio.run(_look(target))
    if dry_run:
        click.echo(f"would delete {standing.words(target.name)}")
        return ExitCode.OK
    if standing.count:
        confirm(f"delete {standing.words(target.name)}", yes=yes)
    done = stopping.run(lambda stop: _clear(target, standing, stop))
    click.echo(f"deleted {standing.words(target.name)}" if done else "stopped; run it again")
    return ExitCode.OK if done else ExitCode.PARTLY


async def _look(target: targets.Target) -> Standing:
    async with open_queues(SystemClock()) as queues:
        queue = queues.of(target)
        count, seen = await asyncio.gather(queue.approximate_count(), queue.peek(1))
        return Standing(count=max(count, len(seen)), all_hidden=bool(count and not seen))


async def _clear(target: targets.Target, standing: Standing, stop: asyncio.Event) -> bool:
    clock = SystemClock()
    async with open_queues(clock) as queues:
        return await clear(queues.of(target), standing.count, clock, stop)


async def clear(queue: WholeQueue, count: int, clock: Clock, stop: asyncio.Event) -> bool:
    """Delete all; False when stopped before. Raises the `QueueError` family.

    A very full queue takes the service longer than one request lasts; as long as the messages
    become fewer, it is asked again.
    """
    with progress(f"deleting from {queue.name}", count, clock) as advance:
        while not stop.is_set():
            try:
                await queue.clear()
            except QueueUnavailable:
                left = await queue.approximate_count()
                if left >= count:
                    raise
                advance(count - left)
                count = left
            else:
                advance(count)
                return True
    return False

"""`qtrigger poison export`: write poisoned messages to a file, and leave them where they are."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import click

from qtrigger.cli import poison_bulk, poison_filter, stopping, wiring
from qtrigger.cli.poison_filter import Filters
from qtrigger.cli.poison_setting import Setting, shared_options
from qtrigger.cli.poisoned import PoisonQueue
from qtrigger.cli.queue_client import open_queues
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.queues.client import QueueMessage


@click.command("export", short_help="Write messages to a file, and leave them where they are.")
@click.argument("name", required=False)
@poison_filter.filter_options
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="A file that is not there yet; - is standard output.",
)
@shared_options
def export(name: str | None, out: str, **flags: Any) -> int:
    """Write poisoned messages of NAME to FILE, one JSON object a line, and leave them.

    Each has the text as it stands on the wire, the body, and why it failed where the journal knows.
    Beyond the first 32, messages have to be taken and given back, which raises their dequeue
    counts. Exit codes: 0 all written, 3 the project cannot be read, 4 the service cannot be
    reached or refuses, 5 some were not.
    """
    setting = Setting(name, flags)
    with _opened(out) as file:
        written = stopping.run(lambda stop: _export(setting, Filters.of(flags), file, stop))
    setting.tell_journal()
    wiring.note(f"wrote {written[0]:,} to {'standard output' if out == '-' else out}")
    return written[1]


def _opened(out: str) -> AbstractContextManager[IO[str]]:
    if out == "-":
        return nullcontext(sys.stdout)
    try:
        return Path(out).open("x", encoding="utf-8")
    except FileExistsError:
        raise click.UsageError(f"{out} is there already; name another file") from None
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror or error}") from error


async def _export(
    setting: Setting, filters: Filters, file: IO[str], stop: asyncio.Event
) -> tuple[int, ExitCode]:
    from qtrigger.bulk.deeds import Show
    from qtrigger.cli.poison_list import as_object

    clock, written, codes = SystemClock(), 0, [ExitCode.OK]
    async with open_queues(clock) as clients:
        plans = await poison_bulk.plan(setting.queues, clients, filters, setting.journal, clock)
        for made in plans:

            def write(message: QueueMessage, queue: PoisonQueue = made.queue) -> None:
                nonlocal written
                file.write(json.dumps(as_object(queue, message), ensure_ascii=False) + "\n")
                written += 1

            if made.all_seen:
                for message in made.chosen:
                    write(message)
                continue
            if made.wanted is None:
                wiring.note(poison_bulk.TAKES.format(name=made.queue.name))
            swept = await poison_bulk.carry_out(
                made, Show(write), "exporting from", clock=clock, stop=stop
            )
            codes.append(
                await poison_bulk.report(made, swept, "exported", several=True, tell=wiring.note)
            )
    return written, poison_bulk.worst(codes)

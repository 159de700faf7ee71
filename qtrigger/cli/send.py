"""`qtrigger send`: put messages on a queue, encoded as the project expects them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from qtrigger.cli import wiring
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError, QueueMissing
from qtrigger.project.model import Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueClient
from qtrigger.queues.encoding import encode

# Requests under way at once: enough to hide the service's latency, few enough to be polite.
AT_ONCE = 16


@click.command(short_help="Put messages on a queue, encoded as the project expects them.")
@click.argument("queue")
@click.argument("text", nargs=-1)
@click.option(
    "--file",
    "file",
    type=click.File("r", encoding="utf-8"),
    help="One message a line; - is standard input.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Send each text that often.",
)
@click.option(
    "--connection",
    metavar="NAME",
    help="Connection name (default: that of the function on this queue, else AzureWebJobsStorage).",
)
@click.option(
    "--project",
    type=click.Path(),
    help="The project's folder (default: the nearest upwards with a host.json).",
)
def send(
    queue: str,
    text: tuple[str, ...],
    file: click.utils.LazyFile | None,
    count: int,
    connection: str | None,
    project: str | None,
) -> None:
    r"""Put each TEXT on QUEUE, which is created when it is missing.

    Without TEXT and --file, standard input is read, one message a line.

    \b
    Examples:
      qtrigger send orders '{"id": 1}' '{"id": 2}'
      qtrigger send orders --file orders.jsonl
    """
    texts = list(text) or list(_lines(file))
    if not texts:
        raise click.UsageError("nothing to send: give texts, --file, or lines on standard input")
    environment = os.environ.get("AZURE_FUNCTIONS_ENVIRONMENT", "Development")
    loaded = wiring.load(wiring.find_root(project), os.environ, environment)
    from qtrigger.project.queue_names import queue_name

    name = queue_name(queue)
    account = _account(loaded, name, connection)
    encoding = _encoding(loaded, name)
    bodies = [encode(each.encode(), encoding) for each in texts for _ in range(count)]
    asyncio.run(_send(account, name, bodies))
    click.echo(f"sent {len(bodies):,} to {name} ({encoding})")

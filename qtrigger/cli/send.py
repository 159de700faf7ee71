"""`qtrigger send`: put messages on a queue, encoded as the project expects them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

import click

from qtrigger.cli import wiring
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError, QtriggerError, QueueMissing
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueClient

# Requests under way at once: enough to hide the service's latency, few enough to be polite.
AT_ONCE = 16


EPILOG = """\b
Examples:
  qtrigger send orders '{"id": 1}' '{"id": 2}'
  qtrigger send orders --file orders.jsonl
"""


@click.command(
    short_help="Put messages on a queue, encoded as the project expects them.", epilog=EPILOG
)
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
    file: TextIO | None,
    count: int,
    connection: str | None,
    project: str | None,
) -> None:
    """Put each TEXT on QUEUE, which is created when it is missing.

    Without TEXT and --file, standard input is read, one message a line.
    """
    texts = list(text) or list(_lines(file))
    if not texts:
        raise click.UsageError("nothing to send: give texts, --file, or lines on standard input")
    environment = os.environ.get("AZURE_FUNCTIONS_ENVIRONMENT", "Development")
    loaded = wiring.load(wiring.find_root(project), os.environ, environment)
    name = _queue_name(queue)
    function = _listening_on(loaded, name)
    account = _account(loaded, function, connection)
    options = function.options if function else loaded.host.queues
    encoding = options.message_encoding
    ready = [_encoded(each, encoding, number) for number, each in enumerate(texts, 1)]
    sent = [each for each in ready for _ in range(count)]
    asyncio.run(_send(account, name, sent))
    click.echo(f"sent {len(sent):,} to {name} ({encoding})")


def _lines(file: TextIO | None) -> Iterator[str]:
    """Yield the lines of the file, or of standard input when that is no terminal."""
    source = file or (None if sys.stdin.isatty() else sys.stdin)
    for line in source or ():
        if line.rstrip("\r\n"):
            yield line.rstrip("\r\n")


def _queue_name(text: str) -> str:
    from qtrigger.project.queue_names import RULE, QueueNameError, checked

    try:
        return checked(text)
    except QueueNameError as error:
        raise click.UsageError(f"the queue name {text!r} {error}. Allowed are {RULE}.") from error


def _encoded(text: str, encoding: str, number: int) -> str:
    from qtrigger.queues.encoding import encode

    try:
        return encode(text.encode(), encoding)
    except QtriggerError as error:
        raise click.UsageError(f"text {number}: {error}") from error


def _listening_on(project: Project, queue: str) -> FunctionDefinition | None:
    """Return the function whose queue it is, so that its connection and encoding are used."""
    functions = (each for each in project.functions if each.trigger.queue == queue)
    return next(functions, None)


def _account(
    project: Project, function: FunctionDefinition | None, connection: str | None
) -> Account:
    if connection is None and function is not None:
        return function.trigger.account
    from qtrigger.project import connections
    from qtrigger.project.findings import Findings
    from qtrigger.project.settings import layered

    settings = layered(project.settings, (), Findings())
    try:
        return connections.resolve(connection or "", settings).account
    except connections.ConnectionUnusable as error:
        raise ProjectError(f"{error}. {error.hint}".rstrip()) from error


async def _send(account: Account, name: str, texts: Sequence[str]) -> None:
    """Send all texts, a few requests at a time; the first that fails ends it."""
    service = wiring.open_service_with(SystemClock())(account)
    left = iter(texts)

    async def sender(queue: QueueClient) -> None:
        for text in left:
            try:
                await queue.send(text)
            except QueueMissing:
                await queue.create()
                await queue.send(text)

    try:
        async with asyncio.TaskGroup() as group:
            for number in range(min(AT_ONCE, len(texts))):
                group.create_task(sender(service.queue(name)), name=f"sender {number}")
    except* QtriggerError as errors:
        raise errors.exceptions[0] from None
    finally:
        await service.close()

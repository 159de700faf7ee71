"""`qtrigger send`: put messages on a queue, encoded as the project expects them."""

from __future__ import annotations

import asyncio
import difflib
import os
import sys
from collections.abc import Iterator
from itertools import chain, repeat
from typing import BinaryIO

import click

from qtrigger.cli import projects, wiring
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError, QtriggerError, QueueMissing, QueueUnavailable
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueClient

# Requests under way at once: enough to hide the service's latency, few enough to be polite.
AT_ONCE = 16
MOST_TIMES = 10_000_000
NO_EMULATOR = (
    "note: the local emulator does not run; qtrigger start brings one for as long as it runs, "
    "so start the project in another terminal first"
)

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
    type=click.File("rb"),
    help="One message a line; - is standard input.",
)
@click.option(
    "--count",
    type=click.IntRange(1, MOST_TIMES),
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
    file: BinaryIO | None,
    count: int,
    connection: str | None,
    project: str | None,
) -> None:
    """Put each TEXT on QUEUE, which is created when it is missing.

    Without TEXT and --file, standard input is read, one message a line.
    """
    bodies = [os.fsencode(each) for each in text] or list(_lines(file))
    if not bodies:
        raise click.UsageError("nothing to send: give texts, --file, or lines on standard input")
    environment = os.environ.get("AZURE_FUNCTIONS_ENVIRONMENT", "Development")
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    name = _queue_name(queue)
    function = _listening_on(loaded, name)
    if function is None:
        _note_nobody_listens(loaded, name)
    account = _account(loaded, function, connection)
    options = function.options if function else loaded.host.queues
    encoding = options.message_encoding
    texts = [_encoded(each, encoding, number) for number, each in enumerate(bodies, 1)]
    try:
        sent = asyncio.run(_send(account, name, chain.from_iterable(repeat(texts, count))))
    except QueueUnavailable as error:
        if account.emulator and error.code == "CannotConnect" and environment == "Development":
            wiring.note(NO_EMULATOR)
        raise
    click.echo(f"sent {sent:,} to {name} ({encoding})")


def _lines(file: BinaryIO | None) -> Iterator[bytes]:
    """Yield the lines of the file, or of standard input when there is one that is no terminal."""
    source = file
    if source is None and sys.stdin is not None and not sys.stdin.isatty():
        source = sys.stdin.buffer
    for line in source or ():
        if line.rstrip(b"\r\n"):
            yield line.rstrip(b"\r\n")


def _queue_name(text: str) -> str:
    from qtrigger.project.queue_names import RULE, QueueNameError, checked

    try:
        return checked(text)
    except QueueNameError as error:
        raise click.UsageError(f"the queue name {text!r} {error}. Allowed are {RULE}.") from error


def _encoded(body: bytes, encoding: str, number: int) -> str:
    from qtrigger.queues.encoding import encode

    try:
        return encode(body, encoding)
    except QtriggerError as error:
        raise click.UsageError(f"text {number}: {error}") from error


def _listening_on(project: Project, queue: str) -> FunctionDefinition | None:
    """Return the function whose queue it is, so that its connection and encoding are used."""
    functions = (each for each in project.functions if each.trigger.queue == queue)
    return next(functions, None)


def _note_nobody_listens(project: Project, queue: str) -> None:
    """Say so when a name looks like a slip of the pen; sending elsewhere is no error."""
    queues = [each.trigger.queue for each in project.functions]
    if near := difflib.get_close_matches(queue, queues, n=1, cutoff=0.75):
        wiring.note(f"note: no function here listens to {queue}; did you mean {near[0]}?")


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


async def _send(account: Account, name: str, texts: Iterator[str]) -> int:
    """Send all texts, a few requests at a time; return how many. The first error ends it."""
    service = wiring.open_service_with(SystemClock())(account)
    sent = 0

    async def sender(queue: QueueClient) -> None:
        nonlocal sent
        for text in texts:
            try:
                await queue.send(text)
            except QueueMissing:
                await queue.create()
                await queue.send(text)
            sent += 1

    try:
        async with asyncio.TaskGroup() as group:
            for number in range(AT_ONCE):
                group.create_task(sender(service.queue(name)), name=f"sender {number}")
    except* QtriggerError as errors:
        if sent:
            wiring.note(f"{sent:,} were sent to {name} before this:")
        raise errors.exceptions[0] from None
    finally:
        await service.close()
    return sent

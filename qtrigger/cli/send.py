"""`qtrigger send`: put messages on a queue, encoded as the project expects them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, repeat
from typing import Any, BinaryIO

import click

from qtrigger.cli import projects, targets, wiring
from qtrigger.cli.progress import progress
from qtrigger.cli.quantity import RATE
from qtrigger.cli.span import Span
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import QtriggerError, QueueMissing, QueueUnavailable
from qtrigger.queues.client import QueueClient

# Requests under way at once: enough to hide the service's latency, few enough to be polite.
AT_ONCE = 16
MOST_TIMES = 10_000_000
# A number of messages that takes long enough to be watched.
MANY = 1000
NO_EMULATOR = (
    "note: the local emulator does not run; qtrigger start brings one for as long as it runs, "
    "so start the project in another terminal first"
)

EPILOG = """\b
Examples:
  qtrigger send orders '{"id": 1}' '{"id": 2}'
  qtrigger send orders --file orders.jsonl --json --rate 50/s
  qtrigger send orders later --delay 10m --ttl 1d

Exit codes: 0 all sent, 2 wrong usage, or a text that no queue can hold, 3 the project cannot be
read, 4 the service cannot be reached or refuses: it says how many were sent.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manner:
    """How messages are sent."""

    delay_s: float | None
    ttl_s: float | None
    rate: float | None


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
@click.option("--json", "as_json", is_flag=True, help="Refuse texts that are not JSON.")
@click.option(
    "--count",
    type=click.IntRange(1, MOST_TIMES),
    default=1,
    show_default=True,
    help="Send each text that often.",
)
@click.option("--delay", type=Span(), metavar="TIME", help="Show them only after that long.")
@click.option("--ttl", type=Span(), metavar="TIME", help="How long they live (default: 7 days).")
@click.option("--rate", type=RATE, metavar="N/s", help="So many a second, rather than all at once.")
@click.option(
    "--encoding",
    type=click.Choice(["base64", "none"]),
    help="How bodies become texts (default: the queue's messageEncoding).",
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
    **flags: Any,
) -> None:
    """Put each TEXT on QUEUE, which is created when it is missing.

    QUEUE may be a function's name, where no queue of the project has it. Without TEXT and --file,
    standard input is read, one message a line.
    """
    bodies = [os.fsencode(each) for each in text] or list(_lines(file))
    if not bodies:
        raise click.UsageError("nothing to send: give texts, --file, or lines on standard input")
    if flags["as_json"]:
        for number, each in enumerate(bodies, 1):
            _check_json(each, number)
    environment = os.environ.get("AZURE_FUNCTIONS_ENVIRONMENT", "Development")
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    target = targets.find(loaded, queue, connection)
    if not target.role:
        targets.note_nobody_listens(loaded, target.name)
    encoding = flags["encoding"] or target.encoding
    texts = [_encoded(each, encoding, number) for number, each in enumerate(bodies, 1)]
    manner = _manner(flags["delay"], flags["ttl"], flags["rate"])
    try:
        sent = asyncio.run(_send(target, texts, count, manner))
    except QueueUnavailable as error:
        if (
            target.account.emulator
            and error.code == "CannotConnect"
            and environment == "Development"
        ):
            wiring.note(NO_EMULATOR)
        raise
    click.echo(f"sent {sent:,} to {target.name} ({encoding})")


def _lines(file: BinaryIO | None) -> Iterator[bytes]:
    """Yield the lines of the file, or of standard input when there is one that is no terminal."""
    source = file
    if source is None and sys.stdin is not None and not sys.stdin.isatty():
        source = sys.stdin.buffer
    for line in source or ():
        if line.rstrip(b"\r\n"):
            yield line.rstrip(b"\r\n")


def _check_json(body: bytes, number: int) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"text {number} is no JSON: {error}") from error


def _encoded(body: bytes, encoding: str, number: int) -> str:
    from qtrigger.queues.encoding import encode

    try:
        return encode(body, encoding)
    except QtriggerError as error:
        raise click.UsageError(f"text {number}: {error}") from error


def _manner(delay: timedelta | None, ttl: timedelta | None, rate: float | None) -> _Manner:
    if ttl is not None and delay is not None and delay >= ttl:
        raise click.UsageError("--delay must be shorter than --ttl: they would expire unseen")
    if ttl is not None and ttl < timedelta(seconds=1):
        raise click.UsageError("--ttl is at least one second")
    return _Manner(
        delay_s=None if delay is None else delay.total_seconds(),
        ttl_s=None if ttl is None else ttl.total_seconds(),
        rate=rate,
    )


async def _send(target: targets.Target, texts: list[str], count: int, manner: _Manner) -> int:
    """Send all texts, a few requests at a time; return how many. The first error ends it."""
    clock = SystemClock()
    service = wiring.open_service_with(clock)(target.account)
    sender = _Sender(chain.from_iterable(repeat(texts, count)), manner, clock)
    total = len(texts) * count
    try:
        with (
            progress(f"sending to {target.name}", total, clock)
            if (total >= MANY or manner.rate)
            else contextlib.nullcontext(lambda _: None) as advance
        ):
            async with asyncio.TaskGroup() as group:
                for number in range(AT_ONCE):
                    work = sender.work(service.queue(target.name), advance)
                    group.create_task(work, name=f"sender {number}")
    except* QtriggerError as errors:
        if sender.sent:
            wiring.note(f"{sender.sent:,} were sent to {target.name} before this:")
        raise errors.exceptions[0] from None
    finally:
        await service.close()
    return sender.sent


class _Sender:
    """Sends texts that several tasks share."""

    def __init__(self, texts: Iterator[str], manner: _Manner, clock: Clock) -> None:
        from qtrigger.bulk.pace import Pace

        self.sent = 0
        self._texts = texts
        self._manner = manner
        self._pace = Pace(manner.rate, clock, asyncio.Event())

    async def work(self, queue: QueueClient, advance: Callable[[int], None]) -> None:
        """Send texts until none is left."""
        for text in self._texts:
            await self._pace.turn()
            try:
                await self._one(queue, text)
            except QueueMissing:
                await queue.create()
                await self._one(queue, text)
            self.sent += 1
            advance(1)

    async def _one(self, queue: QueueClient, text: str) -> None:
        await queue.send(text, delay_s=self._manner.delay_s, ttl_s=self._manner.ttl_s)

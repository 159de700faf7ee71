"""`qtrigger peek`: look at the first messages of a queue, changing nothing."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import datetime

import click

from qtrigger.cli import bodies, projects, targets, wiring
from qtrigger.cli.listing import document, format_option, table
from qtrigger.cli.queue_client import open_queues
from qtrigger.clock import SystemClock
from qtrigger.queues.client import MAX_RECEIVE, QueueMessage

EPILOG = """\b
Examples:
  qtrigger peek orders
  qtrigger peek orders -n 32 --json

Exit codes: 0 shown, 3 the project cannot be read, 4 the service cannot be reached or refuses.
"""
_COLUMNS = ("ID", "INSERTED", "TRIES", "SIZE", "BODY")


@click.command(short_help="Look at the first messages of a queue, changing nothing.", epilog=EPILOG)
@click.argument("queue")
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, MAX_RECEIVE),
    default=10,
    show_default=True,
    help="How many; the service shows no more than 32.",
)
@click.option("--raw", "shape", flag_value="raw", help="The texts alone, as they are on the wire.")
@click.option("--json", "shape", flag_value="json", help="The bodies alone, as indented JSON.")
@click.option("--hex", "shape", flag_value="hex", help="The bodies alone, as bytes.")
@click.option("--connection", metavar="NAME", help="Connection name (default: the queue's own).")
@format_option
@wiring.environment_option
@click.option(
    "--project",
    type=click.Path(),
    help="The project's folder (default: the nearest upwards with a host.json).",
)
def peek(
    queue: str,
    count: int,
    shape: str | None,
    connection: str | None,
    form: str,
    environment: str,
    project: str | None,
) -> None:
    """Show the first visible messages of QUEUE: a queue, or a function whose queue it is.

    Nothing is taken and no count rises. What others hold, or what is to show up later, is not seen.
    """
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    target = targets.find(loaded, queue, connection)
    messages, there = asyncio.run(_peek(target, count))
    _write(target, messages, shape, form)
    hidden = there - len(messages)
    if not messages and there:
        wiring.note(f"none of about {there:,} in {target.name} is visible now")
    elif not there:
        wiring.note(f"{target.name} is empty")
    elif hidden > 0:
        wiring.note(f"{len(messages):,} of about {there:,}, hidden ones too")
    _hint(target, messages)


async def _peek(target: targets.Target, count: int) -> tuple[Sequence[QueueMessage], int]:
    async with open_queues(SystemClock()) as queues:
        queue = queues.of(target)
        seen, there = await asyncio.gather(queue.peek(count), queue.approximate_count())
        return seen, max(there, len(seen))


def _write(
    target: targets.Target, messages: Sequence[QueueMessage], shape: str | None, form: str
) -> None:
    if shape is not None:
        for message in messages:
            click.echo(_shaped(message, target.encoding, shape))
    elif form == "json":
        click.echo(
            document(
                queue=target.name,
                messages=[_as_object(each, target.encoding) for each in messages],
            )
        )
    elif messages:
        click.echo(_as_table(messages, target.encoding))


def _shaped(message: QueueMessage, encoding: str, shape: str) -> str:
    body = bodies.body_of(message.text, encoding)
    match shape:
        case "raw":
            return message.text
        case "hex":
            return body.data.hex(" ")
        case _:
            try:
                return json.dumps(json.loads(body.data), indent=2, ensure_ascii=False)
            except (ValueError, RecursionError):
                return body.readable


def _as_table(messages: Sequence[QueueMessage], encoding: str) -> str:
    now = SystemClock().utcnow()
    heads = [_head(each, encoding, now) for each in messages]
    widths = [max(map(len, column)) for column in zip(_COLUMNS[:-1], *heads, strict=True)]
    left = bodies.width_left(sum(widths) + 2 * len(widths))
    lines = [bodies.body_of(each.text, encoding).line(left) for each in messages]
    return table(_COLUMNS, [(*head, line) for head, line in zip(heads, lines, strict=True)])


def _head(message: QueueMessage, encoding: str, now: datetime) -> tuple[str, str, str, str]:
    return (
        message.id[: bodies.SHORT_ID],
        bodies.since(message.inserted, now),
        str(message.dequeue_count),
        f"{len(bodies.body_of(message.text, encoding).data):,}",
    )


def _as_object(message: QueueMessage, encoding: str) -> dict[str, object]:
    body = bodies.body_of(message.text, encoding)
    return {
        "id": message.id,
        "inserted": message.inserted.isoformat(),
        "expires": message.expires.isoformat(),
        "dequeue_count": message.dequeue_count,
        "size": len(body.data),
        "body": body.readable,
        "body_encoding": body.encoding,
    }


def _hint(target: targets.Target, messages: Sequence[QueueMessage]) -> None:
    """Say once why texts do not fit, as the listener does, and which setting takes them."""
    from qtrigger.intake import undecodable_text
    from qtrigger.queues.encoding import BodyUndecodable, decode

    for message in messages:
        try:
            decode(message.text, target.encoding)
        except BodyUndecodable as error:
            said = f"messageEncoding is {target.encoding}, but {error}"
            if target.functions and target.role != targets.OUTPUT:
                said = undecodable_text(target.functions[0], error)
            wiring.note(f"hint: {message.id[: bodies.SHORT_ID]}: {said}")
            return

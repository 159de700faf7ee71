"""`qtrigger poison list` and `show`: what was poisoned, and why. Takes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from qtrigger.cli import bodies, wiring
from qtrigger.cli.listing import document, table
from qtrigger.cli.poison_filter import Filters, whole_ids
from qtrigger.cli.poisoned import PoisonQueue, error_words, tries_words
from qtrigger.cli.queue_client import open_queues
from qtrigger.clock import SystemClock
from qtrigger.errors import QueueMissing
from qtrigger.journal import FailedTry, JournalFile
from qtrigger.queues.client import MAX_RECEIVE, QueueMessage

_COLUMNS = ("ID", "FUNCTION", "AGE", "TRIES", "ERROR", "BODY")
_WIDEST_ERROR = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Peeked:
    """The first messages of a poison queue, and about how many it has."""

    queue: PoisonQueue
    messages: tuple[QueueMessage, ...]
    count: int


async def peek_at(queues: Sequence[PoisonQueue]) -> list[Peeked]:
    """Peek at each queue. Raises the `QueueError` family; a missing queue is an empty one."""
    async with open_queues(SystemClock()) as clients:

        async def one(queue: PoisonQueue) -> Peeked:
            client = clients.named(queue.account, queue.name)
            try:
                seen, count = await asyncio.gather(
                    client.peek(MAX_RECEIVE), client.approximate_count()
                )
            except QueueMissing:
                seen, count = (), 0
            return Peeked(queue=queue, messages=tuple(seen), count=max(count, len(seen)))

        return list(await asyncio.gather(*(one(each) for each in queues)))


def list_poisoned(
    peeked: Sequence[Peeked], filters: Filters, journal: JournalFile, form: str
) -> None:
    """Write what the peeks show, as far as it is wanted."""
    now = SystemClock().utcnow()
    ids = whole_ids(filters.ids, journal, [m for each in peeked for m in each.messages])
    wanted = filters.wanted(ids)
    shown = [
        (each.queue, message)
        for each in peeked
        for message in filter(wanted.among(each.queue, now), each.messages)
    ][: filters.limit]
    if form == "json":
        click.echo(_as_json(peeked, shown))
    elif shown:
        click.echo(_as_table(shown))
    for each in peeked:
        _note_of(each, shown)


def _note_of(each: Peeked, shown: Sequence[tuple[PoisonQueue, QueueMessage]]) -> None:
    name, number = each.queue.name, sum(queue is each.queue for queue, _ in shown)
    if not each.count:
        wiring.note(f"{name} is empty")
    elif len(each.messages) == MAX_RECEIVE < each.count:
        wiring.note(
            f"{name}: {number} of about {each.count:,}; a queue shows no more than its first "
            f"{MAX_RECEIVE} (all of them: qtrigger poison export)"
        )
    elif not each.messages:
        wiring.note(f"{name}: all of about {each.count:,} are hidden just now")
    else:
        wiring.note(f"{name}: {number} of {each.count:,}")


def _as_table(shown: Sequence[tuple[PoisonQueue, QueueMessage]]) -> str:
    now = SystemClock().utcnow()
    heads = []
    for queue, message in shown:
        tries = queue.journal.tries_of(message.id)
        error = error_words(tries[-1] if tries else None)
        if len(error) > _WIDEST_ERROR:
            error = f"{error[: _WIDEST_ERROR - 1]}…"
        heads.append(
            (
                message.id[: bodies.SHORT_ID],
                queue.function_of(message) or "?",
                bodies.since(message.inserted, now),
                tries_words(tries),
                error,
            )
        )
    widths = [max(map(len, column)) for column in zip(_COLUMNS[:-1], *heads, strict=True)]
    left = bodies.width_left(sum(widths) + 2 * len(widths))
    return table(
        _COLUMNS,
        [
            (*head, queue.body_of(message).line(left))
            for head, (queue, message) in zip(heads, shown, strict=True)
        ],
    )


def _as_json(peeked: Sequence[Peeked], shown: Sequence[tuple[PoisonQueue, QueueMessage]]) -> str:
    return document(
        queues=[{"queue": each.queue.name, "messages": each.count} for each in peeked],
        messages=[as_object(queue, message) for queue, message in shown],
    )


def as_object(queue: PoisonQueue, message: QueueMessage) -> dict[str, object]:
    """A poisoned message, with its text as it stands on the wire and why it failed."""
    body, copy = queue.body_of(message), queue.copy_of(message)
    tried = queue.last_try(message)
    return {
        "id": message.id,
        "queue": queue.name,
        "function": queue.function_of(message) or None,
        "source": queue.source_of(message),
        "original_id": copy.message_id if copy else None,
        "inserted": message.inserted.isoformat(),
        "expires": message.expires.isoformat(),
        "dequeue_count": message.dequeue_count,
        "text": message.text,
        "body": body.readable,
        "body_encoding": body.encoding,
        "error": None if tried is None else _error(tried),
    }


def _error(tried: FailedTry) -> dict[str, object]:
    return {
        "type": tried.error_type,
        "message": tried.error_message,
        "outcome": tried.outcome,
        "try": tried.dequeue_count,
        "at": tried.at.isoformat(),
        "place": tried.place,
    }


def show_one(peeked: Sequence[Peeked], given: str, journal: JournalFile, form: str) -> None:
    """Write one message's body and each of its failed tries. Raises UsageError if unknown."""
    ids = whole_ids([given], journal, [m for each in peeked for m in each.messages])
    found = next(((each.queue, m) for each in peeked for m in each.messages if m.id in ids), None)
    tries = next((tries for each in sorted(ids) if (tries := journal.tries_of(each))), ())
    if found is None and not tries:
        raise click.UsageError(
            f"nothing is known of {given}: it is not among the first {MAX_RECEIVE} messages, and "
            f"the journal does not have it{f' ({journal.problem})' if journal.problem else ''}"
        )
    if form == "json":
        click.echo(
            document(
                message=None if found is None else as_object(*found),
                tries=[_whole_try(each) for each in tries],
            )
        )
        return
    click.echo("\n".join(_shown(found, tries)))


def _whole_try(tried: FailedTry) -> dict[str, object]:
    return {
        **_error(tried),
        "function": tried.function,
        "queue": tried.queue,
        "message_id": tried.message_id,
        "invocation_id": tried.invocation_id,
        "duration_s": tried.duration_s,
        "traceback": tried.traceback,
        "lines": list(tried.lines),
    }


def _shown(found: tuple[PoisonQueue, QueueMessage] | None, tries: Sequence[FailedTry]) -> list[str]:
    lines: list[str] = []
    if found is None:
        lines.append(
            f"the message itself is not among the first {MAX_RECEIVE} that its poison queue shows"
        )
    else:
        queue, message = found
        body = queue.body_of(message)
        since = bodies.since(message.inserted, SystemClock().utcnow())
        lines += [f"message   {message.id} in {queue.name}, for {since}"]
        if copy := queue.copy_of(message):
            lines += [f"original  {copy.message_id} in {copy.queue}"]
        lines += [f"function  {queue.function_of(message) or 'not known'}"]
        if body.problem:
            lines += [f"text      {body.problem}"]
        kind = {bodies.BASE64: "body, in base64", bodies.UNDECODED: "text"}
        lines += [f"{kind.get(body.encoding, 'body')}:", body.readable]
    if not tries:
        lines += ["", "the journal knows nothing of its tries"]
    for tried in tries:
        lines += ["", *_try_lines(tried)]
    return lines


def _try_lines(tried: FailedTry) -> list[str]:
    place = f"  ({tried.place})" if tried.place else ""
    head = f"try {tried.dequeue_count}  {tried.at:%Y-%m-%d %H:%M:%S} UTC  {tried.duration_s:.3f} s"
    lines = [f"{head}  {error_words(tried)}{place}"]
    lines += [f"    {each}" for each in tried.traceback.rstrip().splitlines()]
    if tried.lines:
        lines += ["  it logged:", *(f"    {each}" for each in tried.lines)]
    return lines

"""What stands in the poison queues, as documents: takes nothing, and raises no dequeue count.

Owns their shape and how long the service may take. The journal is read in a thread: it is a file,
and a slow disk must not hold the host's loop. No receipt is in any document.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

from qtrigger.admin.poison.reach import Reach
from qtrigger.admin.route import Refusal
from qtrigger.errors import QueueError, QueueMissing
from qtrigger.journal import FailedTry
from qtrigger.poison.body import TEXT, Body
from qtrigger.poison.plan import Look, look
from qtrigger.poison.queues import PoisonQueue, error_type
from qtrigger.poison.wanted import Wanted
from qtrigger.queues.client import MAX_RECEIVE, QueueMessage

ASKING_S: Final = 5.0
AT_ONCE: Final = 8

Document = Mapping[str, Any]


class Listing:
    """Answers what stands where; each answer raises Refusal."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def queues(self) -> Document:
        """All poison queues of the project; one that cannot be asked has its `problem`."""
        permits = asyncio.Semaphore(AT_ONCE)

        async def one(queue: PoisonQueue) -> Document:
            async with permits:
                return await self._summary(queue)

        return {"queues": list(await asyncio.gather(*map(one, self._reach.queues)))}

    async def messages(self, queue: str, query: Mapping[str, str]) -> Document:
        """The first messages of one, as far as they fit `contains` and `error`, up to `limit`."""
        limit = _limit(query.get("limit"))
        seen = await self._look(self._reach.queue(queue))
        return await asyncio.to_thread(self._listed, queue, seen, query, limit)

    async def message(self, queue: str, message_id: str) -> Document:
        """One of the first messages, with its body and its tries."""
        seen = await self._look(self._reach.queue(queue))
        found = next((each for each in seen.peeked if each.id == message_id), None)
        if found is None:
            raise Refusal(
                404,
                f"it is not among the first {MAX_RECEIVE} messages that {queue} shows: it was "
                "moved or deleted, or stands further back",
            )
        return await asyncio.to_thread(self._whole, seen.queue, found)

    async def _look(self, queue: PoisonQueue) -> Look:
        try:
            async with self._reach.clock.timeout(ASKING_S):
                return await look(queue, self._reach.clients)
        except TimeoutError:
            raise Refusal(504, _late(queue)) from None
        except QueueError as error:
            raise Refusal(502, self._reach.plain(str(error))) from error

    async def _summary(self, queue: PoisonQueue) -> Document:
        count: int | None = None
        oldest: datetime | None = None
        problem = ""
        client = self._reach.clients.named(queue.account, queue.name)
        try:
            async with self._reach.clock.timeout(ASKING_S):
                about, first = await asyncio.gather(client.approximate_count(), client.peek(1))
            count, oldest = max(about, len(first)), first[0].inserted if first else None
        except QueueMissing:
            count = 0
        except TimeoutError:
            problem = _late(queue)
        except QueueError as error:
            problem = self._reach.plain(str(error))
        return {
            "queue": self._reach.key(queue),
            "functions": [each.name for each in queue.functions],
            "account": queue.account.name,
            "count": count,
            # The service counts hidden ones too, and may be a little behind.
            "more": count is not None and count > MAX_RECEIVE,
            "oldest_s": None if oldest is None else self._age_s(oldest),
            "problem": problem,
        }

    def _listed(self, key: str, seen: Look, asked: Mapping[str, str], limit: int) -> Document:
        now, queue, error = self._reach.clock.utcnow(), seen.queue, asked.get("error")
        shows = self._reach.loaded.host.shows_bodies
        wanted = Wanted(contains=asked.get("contains", ""), anywhere=True, bodies=shows)
        fits = wanted.among(queue, now)
        matching = list(filter(fits, seen.peeked) if fits else seen.peeked)
        last = {each.id: queue.last_try(each) for each in matching}
        groups = Counter(error_type(last[each.id]) for each in matching)
        if error is not None:
            matching = [each for each in matching if error_type(last[each.id]) == error]
        return {
            "queue": key,
            "messages": [self._row(queue, each, last[each.id]) for each in matching[:limit]],
            "groups": [
                {"error_type": name, "count": number} for name, number in groups.most_common()
            ],
            "seen": len(seen.peeked),
            "more": len(seen.peeked) == MAX_RECEIVE < seen.count,
        }

    def _row(
        self, queue: PoisonQueue, message: QueueMessage, last: FailedTry | None
    ) -> dict[str, Any]:
        copy = queue.copy_of(message)
        return {
            "id": message.id,
            "copy_of": copy.message_id if copy else None,
            "function": queue.function_of(message) or None,
            "source": queue.source_of(message),
            "inserted": message.inserted.isoformat(),
            "age_s": self._age_s(message.inserted),
            "tries": last.dequeue_count if last else None,
            "size": len(queue.body_of(message).data),
            "error": None if last is None else self._error(last),
        }

    def _whole(self, queue: PoisonQueue, message: QueueMessage) -> Document:
        tries = queue.journal.tries_of(message.id)
        shows = self._reach.loaded.host.shows_bodies
        return {
            **self._row(queue, message, tries[-1] if tries else None),
            "body": _body(queue.body_of(message), queue.encoding_of(message)) if shows else None,
            "tries": self._tries(tries),
        }

    def _tries(self, tries: Sequence[FailedTry]) -> list[Document]:
        plain = self._reach.plain
        return [
            {
                "dequeue_count": each.dequeue_count,
                "at": each.at.isoformat(),
                "duration_s": each.duration_s,
                "invocation_id": each.invocation_id,
                "outcome": each.outcome,
                "error": {**self._error(each), "place": each.place},
                "traceback": plain(each.traceback),
                "lines": [plain(line) for line in each.lines],
            }
            for each in tries
        ]

    def _error(self, tried: FailedTry) -> dict[str, Any]:
        return {"type": error_type(tried), "message": self._reach.plain(tried.error_message)}

    def _age_s(self, moment: datetime) -> float:
        return max((self._reach.clock.utcnow() - moment).total_seconds(), 0.0)


def _body(body: Body, encoding: str) -> Document:
    text = body.readable if body.problem or body.encoding == TEXT else None
    return {
        "text": text,
        "json": _as_json(text),
        "base64": base64.b64encode(body.data).decode(),
        "encoding": encoding,
        "decodable": not body.problem,
        "problem": body.problem,
    }


def _as_json(text: str | None) -> Any:
    """What the text says as JSON, an object or a list; None for another."""
    if text is None or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_constant=_none_such, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _none_such(name: str) -> NoReturn:
    raise ValueError(f"{name} is Python's, and no JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _none_such(text)


def _limit(text: str | None) -> int:
    """How many messages are wanted. Raises Refusal (400)."""
    if text is None:
        return MAX_RECEIVE
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= MAX_RECEIVE):
        raise Refusal(400, f"limit is a number from 1 to {MAX_RECEIVE}: a queue shows no more")
    return int(text)


def _late(queue: PoisonQueue) -> str:
    return f"{queue.account.endpoint} did not answer within {ASKING_S:g} s"

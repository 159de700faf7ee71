"""The routes of `/api/poison` and `/api/deeds`.

Owns what a request for a deed must say, and that a person has seen about how many messages it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from qtrigger.admin.poison.deeds import Deeds
from qtrigger.admin.poison.listing import ASKING_S, Listing
from qtrigger.admin.poison.reach import Reach
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, as_json
from qtrigger.bulk.deeds import Deed, Move, Remove
from qtrigger.errors import QueueError
from qtrigger.poison.plan import Look, Plan, look
from qtrigger.poison.queues import PoisonQueue, route_of
from qtrigger.poison.wanted import Wanted

# Of the count that a person confirmed, and beside it: queues move while somebody reads.
SLACK: Final = 0.1
SLACK_AT_LEAST: Final = 10
MOST_IDS: Final = 1000
_SELECTING: Final = frozenset({"ids", "error_type", "contains", "older_than_s"})
_KNOWN: Final = _SELECTING | {"all", "confirm"}


class PoisonRoutes:
    """Answers over `reach`; deeds go on in `deeds`."""

    def __init__(self, reach: Reach, deeds: Deeds) -> None:
        self._reach = reach
        self._deeds = deeds
        self._listing = Listing(reach)

    def routes(self) -> Sequence[Route]:
        """All of them."""
        read, act = Right.READ, Right.ACT
        queue, deed = "/api/poison/{queue}", "/api/deeds/{deed}"
        return (
            Route(method="GET", path="/api/poison", right=read, answer=self._queues),
            Route(method="GET", path=queue, right=read, answer=self._messages),
            Route(method="GET", path=f"{queue}/{{id}}", right=read, answer=self._message),
            Route(
                method="POST",
                path=f"{queue}/requeue",
                right=act,
                answer=self._requeue,
                action="poison.requeue",
            ),
            Route(
                method="POST",
                path=f"{queue}/delete",
                right=act,
                answer=self._delete,
                action="poison.delete",
            ),
            Route(method="GET", path=deed, right=read, answer=self._deed),
            Route(
                method="POST",
                path=f"{deed}/stop",
                right=act,
                answer=self._stop,
                action="poison.stop",
            ),
        )

    async def _queues(self, _asked: Asked) -> Answer:
        return as_json(await self._listing.queues())

    async def _messages(self, asked: Asked) -> Answer:
        return as_json(await self._listing.messages(asked.parts["queue"], asked.query))

    async def _message(self, asked: Asked) -> Answer:
        return as_json(await self._listing.message(asked.parts["queue"], asked.parts["id"]))

    async def _requeue(self, asked: Asked) -> Answer:
        queue = self._reach.queue(asked.parts["queue"])
        move = Move(route_of(queue, None, self._reach.clients), self._reach.clock)
        return await self._begin(queue, asked, move, "moved")

    async def _delete(self, asked: Asked) -> Answer:
        queue = self._reach.queue(asked.parts["queue"])
        return await self._begin(queue, asked, Remove(self._reach.clock), "deleted")

    async def _deed(self, asked: Asked) -> Answer:
        return as_json(self._deeds.of(asked.parts["deed"]))

    async def _stop(self, asked: Asked) -> Answer:
        self._deeds.stop(asked.parts["deed"])
        return as_json(self._deeds.of(asked.parts["deed"]), status=202)

    async def _begin(self, queue: PoisonQueue, asked: Asked, deed: Deed, word: str) -> Answer:
        content = asked.json()
        wanted, confirmed = self._wanted(content), _confirmed(content)
        seen = await self._look(queue)
        fits = wanted.among(queue, self._reach.clock.utcnow())
        _check_count(seen.plan(fits, ids=len(wanted.ids)), confirmed)
        # However many fit by now: it is done to no more than a person has said.
        plan = seen.plan(fits, limit=confirmed, ids=len(wanted.ids))
        begun = self._deeds.begin(self._reach.key(queue), plan, deed, word)
        return as_json({"deed": begun}, status=202)

    async def _look(self, queue: PoisonQueue) -> Look:
        try:
            async with self._reach.clock.timeout(ASKING_S):
                return await look(queue, self._reach.clients)
        except TimeoutError:
            text = f"{queue.account.endpoint} did not answer within {ASKING_S:g} s; nothing is done"
            raise Refusal(504, text) from None
        except QueueError as error:
            raise Refusal(502, f"{self._reach.plain(str(error))}; nothing is done") from error

    def _wanted(self, content: Mapping[str, Any]) -> Wanted:
        """Which messages are meant. Raises Refusal (400)."""
        shows = self._reach.loaded.host.shows_bodies
        return replace(_wanted(content), bodies=shows)


def _wanted(content: Mapping[str, Any]) -> Wanted:
    """Which messages are meant. Raises Refusal (400) for what says nothing, or says it twice."""
    if strange := sorted(set(content) - _KNOWN):
        raise Refusal(400, f"not known: {', '.join(strange)[:200]}")
    selects = {key for key in _SELECTING if key in content}
    if (content.get("all") is True) == bool(selects):
        raise Refusal(400, 'say either "all": true or what they must be like: ids, error_type, …')
    ids, older_s = content.get("ids", []), content.get("older_than_s")
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise Refusal(400, "ids is a list of texts")
    if "ids" in content and not 1 <= len(ids) <= MOST_IDS:
        raise Refusal(400, f"ids has 1 to {MOST_IDS:,} of them")
    error, contains = content.get("error_type"), content.get("contains", "")
    if not isinstance(contains, str) or not (error is None or isinstance(error, str)):
        raise Refusal(400, "contains and error_type are texts")
    if not (older_s is None or (_is_number(older_s) and 0 <= older_s < 1e9)):
        raise Refusal(400, "older_than_s is a number of seconds")
    return Wanted(
        ids=frozenset(ids),
        older_than=None if older_s is None else timedelta(seconds=older_s),
        contains=contains,
        anywhere=True,
        error=error,
    )


def _confirmed(content: Mapping[str, Any]) -> int:
    count = content.get("confirm")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise Refusal(400, "confirm is how many messages you have seen that this is about")
    return count


def _check_count(plan: Plan, confirmed: int) -> None:
    """Raise Refusal (409) where it is about many more than a person has seen."""
    number = plan.number
    if number is not None and number > confirmed * (1 + SLACK) + SLACK_AT_LEAST:
        raise Refusal(
            409, f"there are about {number:,} by now, not {confirmed:,}: look again, and confirm"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

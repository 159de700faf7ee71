"""What the poison page asks of other routes of the same host, without HTTP between them.

Owns that the page shows what `/api/poison` answers, to the word, so that there is one place which
knows poison queues.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from qtrigger.admin.dashboard.seen import Document
from qtrigger.admin.route import Answer, Asked, Route

QUEUES: Final = "/api/poison"
MESSAGES: Final = "/api/poison/{queue}"
MESSAGE: Final = "/api/poison/{queue}/{id}"


class PoisonRoutes:
    """A `PoisonSeen` of routes."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes

    async def queues(self) -> Document:
        """See `PoisonSeen`."""
        return await self._ask(QUEUES, {}, {})

    async def messages(self, queue: str, query: Mapping[str, str]) -> Document:
        """See `PoisonSeen`."""
        return await self._ask(MESSAGES, {"queue": queue}, query)

    async def message(self, queue: str, message_id: str) -> Document:
        """See `PoisonSeen`."""
        return await self._ask(MESSAGE, {"queue": queue, "id": message_id}, {})

    async def _ask(self, path: str, parts: Mapping[str, str], query: Mapping[str, str]) -> Document:
        answer = await self._routes[path].answer(Asked(parts=parts, query=query))
        assert isinstance(answer, Answer)
        found: Document = json.loads(answer.body)
        return found


def poison_of(routes: Sequence[Route]) -> PoisonRoutes | None:
    """What tells of poison among these routes, None where not all of it is there."""
    wanted = (QUEUES, MESSAGES, MESSAGE)
    found = {each.path: each for each in routes if each.method == "GET" and each.path in wanted}
    return PoisonRoutes(found) if len(found) == len(wanted) else None

"""How many messages wait for functions, and how many are poisoned: for whoever measures.

Owns which requests that takes, how often they are made and how long they may take. What cannot be
told is left out, never guessed. They are counted as the function's traffic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing
from qtrigger.host import Host
from qtrigger.listener import Listener
from qtrigger.queues.client import MAX_RECEIVE, QueueClient, QueueInspector

# Whoever looks more often is told the same again: each look is billed.
FRESH_S: Final = 15.0
# For all looks together.
LOOKING_S: Final = 2.0
AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """What is on a function's queues; None where that was not told.

    `messages` and `poisoned` are the service's own, approximate counts, hidden messages included;
    `visible` is told up to 32, and `oldest_s` is the age of the oldest of those, 0.0 of none.
    """

    queue: str
    messages: int | None = None
    visible: int | None = None
    oldest_s: float | None = None
    poison_queue: str = ""
    poisoned: int | None = None


class Depths:
    """Looks at the queues of a host's functions, at most every 15 seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: Mapping[str, Depth] = {}
        self._of: Host | None = None
        self._looked_at = 0.0
        self._looking = asyncio.Lock()

    async def of(self, host: Host) -> Mapping[str, Depth]:
        """By function; two seconds later at most, with what is known by then."""
        async with self._looking:
            now = self._clock.monotonic()
            if self._of is not host or now - self._looked_at >= FRESH_S:
                self._known = await self._look(host)
                self._of, self._looked_at = host, now
            return self._known

    async def _look(self, host: Host) -> Mapping[str, Depth]:
        found: dict[str, Depth] = {}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(listener: Listener) -> None:
            async with room:
                poison = host.poison_queue_of(listener.function)
                found[listener.function] = await self._depth(listener.queue, poison)

        looks = [asyncio.ensure_future(one(listener)) for listener in host.listeners]
        try:
            async with self._clock.timeout(LOOKING_S):
                await asyncio.gather(*looks)
        except TimeoutError:
            pass
        finally:
            for look in looks:
                look.cancel()
        return found

    async def _depth(self, queue: QueueClient, poison: QueueClient | None) -> Depth:
        messages = await _count(queue)
        visible, oldest_s = (0, 0.0) if messages == 0 else await self._seen(queue)
        poisoned = await _count(poison) if poison is not None else None
        if messages is not None and visible is not None:
            # The count is a little behind; what was seen is there.
            messages = max(messages, visible)
        return Depth(
            queue=queue.name,
            messages=messages,
            visible=visible,
            oldest_s=oldest_s,
            poison_queue=poison.name if poison is not None else "",
            poisoned=poisoned,
        )

    async def _seen(self, queue: QueueClient) -> tuple[int | None, float | None]:
        try:
            seen = await cast("QueueInspector", queue).peek(MAX_RECEIVE)
        except QueueMissing:
            return 0, 0.0
        except QueueError:
            return None, None
        now = self._clock.utcnow()
        ages = [(now - each.inserted).total_seconds() for each in seen]
        return len(seen), max(ages, default=0.0)


async def _count(queue: QueueClient) -> int | None:
    try:
        return await cast("QueueInspector", queue).approximate_count()
    except QueueMissing:
        return 0
    except QueueError:
        return None

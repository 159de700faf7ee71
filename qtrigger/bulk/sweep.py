"""Goes through a queue, many messages at a time, and does one deed to those that are wanted.

Owns the order of things: take, do or keep aside, give back at the end; where it ends; how it is
stopped. A message is seen by the service's other users again, whatever happens here, when its
lease ends. One that arrives after the beginning is none of the run's: it may well be one that was
moved, and has failed again.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from qtrigger.bulk.deeds import (
    DONE,
    DOUBLED,
    SEEN,
    TAKEN,
    UNANSWERED,
    UNDELETED,
    Deed,
    NotDeleted,
)
from qtrigger.bulk.held import LEASE_S, Aside, Held
from qtrigger.bulk.pace import Pace
from qtrigger.bulk.requests import persist
from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing, QueueUnavailable
from qtrigger.queues.client import MAX_RECEIVE, QueueClient, QueueMessage

# Deeds under way at once: enough to hide the service's latency, few enough to be polite.
AT_ONCE: Final = 32
# What one worker does in a second at a latency that is usual far from the service.
USUAL_PER_S: Final = 5.0
# More copies without an answer than a connection's end takes with it: nobody answers.
TOO_SILENT: Final = 2 * AT_ONCE


@dataclass(slots=True)
class Swept:
    """What became of a run: how many were done, and how many not, by reason.

    `doubled` of those that were done may be done twice. `passed` were not wanted; `unreturned`
    of all that were given back could not be, and come back when their lease ends. `failure` ended
    the run early.
    """

    done: int = 0
    doubled: int = 0
    passed: int = 0
    unreturned: int = 0
    left: Counter[str] = field(default_factory=Counter)
    stopped: bool = False
    failure: QueueError | None = None

    @property
    def whole(self) -> bool:
        """Whether everything that was wanted was done."""
        return not (self.left or self.stopped or self.failure)


class Sweep:
    """One run over `queue`.

    `wanted` None wants every message. At most `limit` deeds are begun, and `most_taken` messages
    taken. `count` is how many messages there are about, from which the size of a batch is told.
    `advance` hears of each message that is over with.
    """

    def __init__(  # noqa: PLR0913 - what a run is made of
        self,
        queue: QueueClient,
        deed: Deed,
        *,
        clock: Clock,
        pace: Pace,
        stop: asyncio.Event,
        wanted: Callable[[QueueMessage], bool] | None = None,
        limit: int | None = None,
        most_taken: int | None = None,
        count: int = AT_ONCE * MAX_RECEIVE,
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.swept = Swept()
        self._queue = queue
        self._deed = deed
        self._clock = clock
        self._pace = pace
        self._stop = stop
        self._wanted = wanted
        self._to_begin = math.inf if limit is None else limit
        self._to_take = math.inf if most_taken is None else most_taken
        self._advance = advance
        self._aside = Aside(clock)
        self._began: datetime | None = None
        self._unanswered = 0
        per_s = pace.per_s or math.inf
        self._batch = max(1, min(MAX_RECEIVE, math.ceil(min(per_s, count / AT_ONCE))))
        self._workers = max(1, min(AT_ONCE, math.ceil(min(per_s / USUAL_PER_S, AT_ONCE))))

    async def run(self) -> Swept:
        """Go through the queue. Raises nothing of the service's; see `Swept.failure`."""
        keeper = asyncio.create_task(self._aside.keep(), name="keep aside")
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._workers):
                    group.create_task(self._work(), name=f"sweep {number}")
        finally:
            keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeper
            # Also after a defect, or when nobody waits any more: others are to see them.
            self.swept.unreturned = await self._aside.give_back()
        self.swept.stopped = self._stop.is_set() and self.swept.failure is None
        return self.swept

    @property
    def _halted(self) -> bool:
        return self._stop.is_set() or self.swept.failure is not None or self._to_begin <= 0

    async def _work(self) -> None:
        try:
            while not self._halted and self._to_take > 0:
                batch = await self._take()
                if not batch:
                    return
                await self._through(batch)
        except QueueMissing:
            return  # as good as empty
        except QueueError as error:
            self._fail(error)

    async def _take(self) -> list[Held]:
        """Messages that were there at the beginning; what has come since is kept aside."""
        count = self._batch
        if self._wanted is None:
            count = min(count, int(min(self._to_begin, MAX_RECEIVE)))
        count = min(count, int(min(self._to_take, MAX_RECEIVE)))
        self._to_take -= count
        asked_at = self._clock.monotonic()
        # A batch whose answer is lost is hidden for the length of the lease, and no more.
        messages = await persist(lambda: self._queue.receive(count, LEASE_S), self._clock)
        if self._began is None and messages:
            # By the service's own time: ours may be wrong by hours.
            self._began = messages[0].next_visible - timedelta(seconds=LEASE_S)
        old: list[Held] = []
        for message in messages:
            held = Held(self._queue, message, asked_at, self._clock)
            if self._began is not None and message.inserted > self._began:
                self._aside.put(held)
            else:
                old.append(held)
        return old

    async def _through(self, batch: list[Held]) -> None:
        left = list(reversed(batch))
        try:
            while left and not self._halted:
                held = left.pop()
                if self._wanted is None or self._wanted(held.message):
                    await self._one(held)
                else:
                    self.swept.passed += 1
                    self._aside.put(held)
                self._advance(1)
        finally:
            for held in left:
                self._aside.put(held)

    async def _one(self, held: Held) -> None:
        self._to_begin -= 1
        if not await self._pace.turn():
            self._to_begin += 1
            self._aside.put(held)
            return
        try:
            outcome = await self._deed.do(held)
        except NotDeleted as undone:
            self.swept.left[UNDELETED] += 1
            self._aside.put(held)
            self._fail(undone.error)
        except QueueError:
            self._aside.put(held)
            raise
        else:
            self._count(outcome, held)

    def _count(self, outcome: str, held: Held) -> None:
        swept = self.swept
        if outcome in (DONE, DOUBLED, SEEN):
            swept.done += 1
            swept.doubled += outcome == DOUBLED
            self._unanswered = 0
        else:
            swept.left[outcome] += 1
        if outcome not in (DONE, DOUBLED, TAKEN):
            self._aside.put(held)
        if outcome == UNANSWERED:
            self._unanswered += 1
            if self._unanswered >= TOO_SILENT:
                text = f"{self._queue.address}: {TOO_SILENT} copies in a row got no answer"
                self._fail(QueueUnavailable(text))

    def _fail(self, error: QueueError) -> None:
        self.swept.failure = self.swept.failure or error

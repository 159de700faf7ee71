"""One look at the host, shared by all who look at it in the same second.

Owns how often the host and its queue service are asked, and what was seen of the queues lately.
Nothing is asked while nobody looks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from qtrigger.admin.dashboard.seen import Document, Seen
from qtrigger.admin.route import Refusal
from qtrigger.background import begin

FRESH_S: Final = 0.9
# The queue service is asked for lengths, and for what is poisoned, so often at most.
QUEUES_S: Final = 5.0
POISON_S: Final = 10.0
# Whoever opens a page is not kept waiting for the service.
PATIENCE_S: Final = 0.4
MOST_DEPTHS: Final = 120
# A look that is older than this says nothing any more.
STALE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Depth:
    """What was on a queue in one second of the monotonic clock; None where nobody could tell."""

    second: int
    waiting: int | None
    oldest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How everything stood at one moment.

    `messages` are by function as in the status document; `poison` is what `/api/poison` says, None
    before it is known. `depths` are oldest first.
    """

    number: int
    at: datetime
    second: int
    document: Document
    messages: Mapping[str, Document]
    poison: Document | None
    depths: Mapping[str, Sequence[Depth]]

    @property
    def functions(self) -> Sequence[Document]:
        """Those of the document."""
        found: Sequence[Document] = self.document["functions"]
        return found


class Looking:
    """Looks when asked, and at most once a second."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self._clock = seen.clock
        self._view: View | None = None
        self._viewed_at = 0.0
        self._lock = asyncio.Lock()
        self._messages: Mapping[str, Document] = {}
        self._poison: Document | None = None
        self._depths: dict[str, deque[Depth]] = {}
        self._asked_at: dict[str, float] = {}
        self._answered_at: dict[str, float] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def view(self) -> View:
        """How everything stands, as it was less than a second ago."""
        async with self._lock:
            now = self._clock.monotonic()
            if self._view is None or now - self._viewed_at >= FRESH_S:
                first = self._view is None
                self._ask(now)
                if first:
                    await self._for_a_moment()
                self._view = await self._made()
                self._viewed_at = now
            return self._view

    def close(self) -> None:
        """Wait for no answer any more."""
        for task in self._asking.values():
            task.cancel()

    def note(self, function: str, depth: Depth) -> None:
        """Remember what was on a function's queue."""
        self._depths.setdefault(function, deque(maxlen=MOST_DEPTHS)).append(depth)

    def forget_poison(self) -> None:
        """Ask anew at the next look: somebody has changed something."""
        self._asked_at.pop("poison", None)

    async def _made(self) -> View:
        document = await self.seen.standing.document(queues=False)
        now = self._clock.monotonic()
        return View(
            number=self._view.number + 1 if self._view else 1,
            at=self._clock.utcnow(),
            second=int(now),
            document=document,
            messages=self._messages if self._known("queues", now) else {},
            poison=self._poison if self._known("poison", now) else None,
            depths={name: tuple(found) for name, found in self._depths.items()},
        )

    def _known(self, what: str, now: float) -> bool:
        return now - self._answered_at.get(what, -STALE_S) < STALE_S

    def _ask(self, now: float) -> None:
        """Begin to ask the service, where that was long enough ago; nobody waits for it."""
        self._begin("queues", now, QUEUES_S)
        if self.seen.poison is not None:
            self._begin("poison", now, POISON_S)

    def _begin(self, what: str, now: float, each_s: float) -> None:
        task = self._asking.get(what)
        if (task is not None and not task.done()) or now - self._asked_at.get(what, -1e9) < each_s:
            return
        self._asked_at[what] = now
        work = self._look_at_queues() if what == "queues" else self._look_at_poison()
        self._asking[what] = begin(work, name=f"look at the {what} for the dashboard")

    async def _for_a_moment(self) -> None:
        if self._asking:
            try:
                async with self._clock.timeout(PATIENCE_S):
                    await asyncio.wait(self._asking.values())
            except TimeoutError:
                pass

    async def _look_at_queues(self) -> None:
        document = await self.seen.standing.document(queues=True)
        second = int(self._clock.monotonic())
        found: dict[str, Document] = {
            each["name"]: {
                **each["messages"],
                "problem": self.seen.plain(each["messages"]["problem"]),
            }
            for each in document["functions"]
            if each["messages"]
        }
        for name, messages in found.items():
            self.note(name, Depth(second, messages["waiting"], messages["oldest_s"]))
        for gone in self._depths.keys() - found.keys():
            del self._depths[gone]
        self._messages = found
        self._answered_at["queues"] = self._clock.monotonic()

    async def _look_at_poison(self) -> None:
        assert self.seen.poison is not None
        try:
            self._poison = await self.seen.poison.queues()
        except Refusal:
            return  # what was known goes stale
        self._answered_at["poison"] = self._clock.monotonic()


def poison_of(view: View, function: str) -> tuple[int, bool] | None:
    """How many messages of a function are known to be poisoned, and whether there are more."""
    if view.poison is None:
        return None
    count, more = 0, False
    for queue in view.poison["queues"]:
        if function in functions_of(queue):
            count, more = count + (queue.get("count") or 0), more or bool(queue.get("more"))
    return count, more


def functions_of(queue: Mapping[str, Any]) -> Sequence[str]:
    """The functions whose poisoned messages a queue takes."""
    names = queue.get("functions")
    if names is None:
        name = queue.get("function")
        names = name if isinstance(name, list) else [name] if name else []
    return [str(name) for name in names]

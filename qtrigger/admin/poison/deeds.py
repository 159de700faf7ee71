"""Deeds that go on while nobody waits for them: many messages moved or deleted.

Owns that a queue has one at a time, what is known of it meanwhile and for a while afterwards, and
that it ends with the process. That nothing is lost, however it ends, is `qtrigger.bulk`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from qtrigger.admin.route import Refusal
from qtrigger.background import begin
from qtrigger.bulk.deeds import Deed
from qtrigger.bulk.sweep import Sweep
from qtrigger.clock import Clock
from qtrigger.ids import new_id
from qtrigger.poison.plan import Plan, left_of, reasons_of

KEPT: Final = 50
# For what is in flight when the process ends: messages are given back, at best.
CLOSING_S: Final = 10.0
GIVING_BACK_S: Final = 2.0
RUNNING, DONE, STOPPED = "running", "done", "stopped"


@dataclass(slots=True)
class _Begun:
    """A deed; `word` is what is said of a message it was done to."""

    id: str
    queue: str
    word: str
    sweep: Sweep
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    state: str = RUNNING
    left: int = 0
    reason: str = ""

    def document(self) -> Mapping[str, Any]:
        return {
            "deed": self.id,
            "queue": self.queue,
            "state": self.state,
            "word": self.word,
            "moved": self.sweep.swept.done,
            "left": self.left,
            "doubled": self.sweep.swept.doubled,
            "reason": self.reason,
        }


class Deeds:
    """All deeds of one process, the latest fifty of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, _Begun] = {}
        self._running: dict[asyncio.Task[None], _Begun] = {}
        self._closed = False

    def begin(self, queue: str, plan: Plan, deed: Deed, word: str) -> str:
        """Do it in the background; its id. Raises Refusal (409) where one goes on in `queue`."""
        if self._closed:
            raise Refusal(503, "the host is stopping")
        if any(each.queue == queue for each in self._running.values()):
            raise Refusal(409, f"something is being done to {queue} already; wait, or stop it")
        stop = asyncio.Event()
        sweep = plan.sweep(deed, clock=self._clock, stop=stop)
        begun = _Begun(id=new_id(), queue=queue, word=word, sweep=sweep, stop=stop)
        self._known[begun.id] = begun
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        task = begin(self._run(plan, begun), name=f"{word} in {queue}")
        self._running[task] = begun
        task.add_done_callback(lambda ended: self._running.pop(ended, None))
        return begun.id

    def of(self, deed: str) -> Mapping[str, Any]:
        """What is known of one. Raises Refusal (404)."""
        return self._begun(deed).document()

    def stop(self, deed: str) -> None:
        """Have it finish what is in flight, and no more. Raises Refusal (404)."""
        self._begun(deed).stop.set()

    async def ended(self, deed: str) -> Mapping[str, Any]:
        """Wait for its end, and say what became of it. Raises Refusal (404)."""
        begun = self._begun(deed)
        if running := [task for task, each in self._running.items() if each is begun]:
            await asyncio.wait(running)
        return begun.document()

    async def close(self) -> None:
        """End all, within ten seconds; what a killed one had in hand is seen again by itself."""
        self._closed = True
        for begun in self._running.values():
            begun.stop.set()
        running = set(self._running)
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(CLOSING_S):
                await asyncio.gather(*running, return_exceptions=True)
        if late := {task for task in running if not task.done()}:
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=GIVING_BACK_S)

    def _begun(self, deed: str) -> _Begun:
        if deed not in self._known:
            raise Refusal(404, "nothing is known of such a deed; a host keeps the last fifty")
        return self._known[deed]

    async def _run(self, plan: Plan, begun: _Begun) -> None:
        try:
            swept = await begun.sweep.run()
            begun.left = await left_of(plan, swept)
            begun.reason = "; ".join(reasons_of(swept, begun.left))
            begun.state = DONE if swept.whole else STOPPED
        finally:
            if begun.state == RUNNING:
                begun.state, begun.reason = STOPPED, begun.reason or "it broke off"

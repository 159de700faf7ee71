"""Messages with the same value in their bodies, one at a time in the order in which they came.

Owns what counts as the same, and the lanes in which messages wait. It asks for nothing and settles
nothing: what waits here was received, and its lease is renewed by others.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from qtrigger.invocation import Interrupted, LeaseLost
from qtrigger.lane import Lane
from qtrigger.retrying import Ended

_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")


class Turns:
    """The turns of one function's messages by `place`, such as `$.customer.id`.

    `tell` is called with why a body has no value there, for each: such messages run without order.
    """

    def __init__(self, place: str, tell: Callable[[str], None]) -> None:
        self._steps: tuple[str | int, ...] = tuple(
            int(index) if index else name for name, index in _STEP.findall(place)
        )
        self._place = place
        self._tell = tell
        self._stopped = False
        self._lanes: dict[str, Lane] = {}

    @property
    def values(self) -> int:
        """How many values have messages in hand."""
        return len(self._lanes)

    async def run(
        self, body: bytes, lost: asyncio.Event, work: Callable[[], Awaitable[Ended]]
    ) -> Ended:
        """Do `work` in the message's turn.

        A stop ends the wait: Interrupted. A message that was `lost` meanwhile is passed over.
        """
        value = self._value(body)
        if value is None:
            return await work()
        if self._stopped or not await (lane := self._lane(value)).enter():
            return Ended(outcome=Interrupted(), duration_s=0.0)
        try:
            if lost.is_set():
                return Ended(outcome=LeaseLost(), duration_s=0.0)
            return await work()
        finally:
            lane.leave()

    def stop(self) -> None:
        """Begin nothing more; what waits is to be handed back."""
        self._stopped = True
        for lane in self._lanes.values():
            lane.excuse()

    def _lane(self, value: str) -> Lane:
        lane = self._lanes.get(value)
        if lane is None:
            lane = self._lanes[value] = Lane(partial(self._forget, value))
        return lane

    def _forget(self, value: str) -> None:
        del self._lanes[value]

    def _value(self, body: bytes) -> str | None:
        """The value as text that is the same for the same, None for none."""
        try:
            found: Any = json.loads(body)
        except (ValueError, RecursionError):
            self._tell("is no JSON")
            return None
        for step in self._steps:
            found = _at(found, step)
        if found is None:
            self._tell(f"has no value at {self._place}")
            return None
        return json.dumps(found, sort_keys=True)


def _at(found: Any, step: str | int) -> Any:
    """What is there, None for nothing."""
    if isinstance(step, str):
        return found.get(step) if isinstance(found, dict) else None
    return found[step] if isinstance(found, list) and step < len(found) else None

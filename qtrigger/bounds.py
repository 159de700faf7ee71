"""How many messages a listener may ask for, beyond the places of its own.

Owns the seam behind which limits stand, and the wait until all of them allow something: what is
asked for is what may start at once, so nothing is taken that would lie about. A listener without
limits has no `Bounds`, and pays nothing. It knows no queue and no message but its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

NO_LIMIT: Final = 1 << 30


class Bound(Protocol):
    """One limit of one listener. Every message that begins is ended once."""

    @property
    def most(self) -> int:
        """How many may be asked for now, beside those that were; not above 0 for none."""

    def asked(self, count: int) -> None:
        """A request for so many is to be made: they are reserved; `answered` is due."""

    def begun(self, message_id: str) -> None:
        """A message that was asked for goes on its way, before its request is `answered`."""

    def answered(self, count: int, found: int) -> None:
        """The request was answered or given up; what did not come is reserved no more."""

    def ended(self, message_id: str) -> None:
        """The function has ended on a message, or never ran."""

    def wait(self, look: Callable[[], None]) -> None:
        """None may be asked for: call `look` each time that this may have changed."""

    def wait_no_more(self) -> None:
        """Call nobody; harmless when nobody waits."""


class AtMost:
    """A `Bound`: at most `limit` messages asked for and in processing; it may be set anew."""

    def __init__(self, limit: int = NO_LIMIT) -> None:
        self._limit = limit
        self._held = 0
        self._look: Callable[[], None] | None = None

    @property
    def limit(self) -> int:
        """The most at once; what is beyond a lower one goes on."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._tell()

    @property
    def most(self) -> int:
        """See `Bound`."""
        return self._limit - self._held

    def asked(self, count: int) -> None:
        """See `Bound`."""
        self._held += count

    def begun(self, message_id: str) -> None:
        """See `Bound`."""
        self._held += 1

    def answered(self, count: int, found: int) -> None:
        """See `Bound`."""
        self._held -= count
        self._tell()

    def ended(self, message_id: str) -> None:
        """See `Bound`."""
        self._held -= 1
        self._tell()

    def wait(self, look: Callable[[], None]) -> None:
        """See `Bound`."""
        self._look = look

    def wait_no_more(self) -> None:
        """See `Bound`."""
        self._look = None

    def _tell(self) -> None:
        if self._look is not None:
            self._look()


class Bounds:
    """All limits of one listener; those that seldom hold long go first."""

    def __init__(self, bounds: Sequence[Bound]) -> None:
        self._bounds = tuple(bounds)
        self._moved = asyncio.Event()

    def take(self, want: int, *, least: int = 1) -> int:
        """Reserve what may be asked for now, `want` at most; 0 where that is less than `least`.

        What is reserved is to be `answered`.
        """
        for bound in self._bounds:
            want = min(want, bound.most)
        if want < max(least, 1):
            return 0
        for bound in self._bounds:
            bound.asked(want)
        return want

    async def turn(self, want: int, *, stopped: asyncio.Event, resumed: asyncio.Event) -> int:
        """Wait until something may be asked for and `take` it; 0 when `stopped`.

        Nothing is taken, and nobody is kept from it, while `resumed` is not set. Who sets or
        clears one of the events calls `wake`.
        """
        waits: Bound | None = None
        try:
            while not stopped.is_set():
                self._moved.clear()
                short = self._short()
                if short is None and resumed.is_set():
                    # Still in line: its place there is what it takes by.
                    return self.take(want)
                if waits is not None and (short is not waits or not resumed.is_set()):
                    waits.wait_no_more()
                    waits = None
                if not resumed.is_set():
                    await resumed.wait()
                elif short is not None:
                    waits = short
                    short.wait(self._moved.set)
                    await self._moved.wait()
            return 0
        finally:
            if waits is not None:
                waits.wait_no_more()

    def begun(self, message_id: str) -> None:
        """See `Bound`."""
        for bound in self._bounds:
            bound.begun(message_id)

    def answered(self, count: int, found: int) -> None:
        """See `Bound`."""
        for bound in self._bounds:
            bound.answered(count, found)

    def ended(self, message_id: str) -> None:
        """See `Bound`."""
        for bound in self._bounds:
            bound.ended(message_id)

    def wake(self) -> None:
        """Let who waits for a turn look again."""
        self._moved.set()

    def _short(self) -> Bound | None:
        """The first limit that allows nothing now."""
        for bound in self._bounds:
            if bound.most < 1:
                return bound
        return None

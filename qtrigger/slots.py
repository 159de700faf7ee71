"""The slots that all functions of a host share.

Owns whose turn it is: who finds none stands in line, and what becomes free goes to those in line,
one each before anybody has a second. State is touched by the loop's own thread alone.
"""

from __future__ import annotations

from collections.abc import Callable


class Slots:
    """So many messages asked for and in processing at once; `share` is for one function."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._line: dict[Share, Callable[[], None]] = {}

    def share(self) -> Share:
        """Return the bound of one more function."""
        return Share(self)

    def for_one(self, share: Share) -> int:
        """How many it may take now: its part among those in line, where it stands last if not."""
        line = list(self._line)
        place = line.index(share) if share in self._line else len(line)
        among = max(len(line), place + 1)
        part, rest = divmod(max(self._free, 0), among)
        return part + (place < rest)

    def take(self, share: Share, count: int) -> None:
        """Have so many; its place in the line is given up."""
        self._line.pop(share, None)
        self._free -= count

    def give(self, count: int) -> None:
        """Have them no longer."""
        self._free += count
        self._tell()

    def stand(self, share: Share, look: Callable[[], None]) -> None:
        """Stand in line, at its end unless it does already."""
        self._line[share] = look

    def leave(self, share: Share) -> None:
        """Stand in line no more."""
        if self._line.pop(share, None) is not None:
            self._tell()

    def _tell(self) -> None:
        """Call those for whom there is a slot."""
        for look in list(self._line.values())[: max(self._free, 0)]:
            look()


class Share:
    """One function's `Bound`.

    A request holds its slots until it is answered, so it asks for twice what the last one found: a
    look at an empty queue holds one.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._found = 0

    @property
    def most(self) -> int:
        """See `Bound`."""
        return min(self._slots.for_one(self), max(2 * self._found, 1))

    def asked(self, count: int) -> None:
        """See `Bound`."""
        self._slots.take(self, count)

    def begun(self, message_id: str) -> None:
        """See `Bound`."""
        self._slots.take(self, 1)

    def answered(self, count: int, found: int) -> None:
        """See `Bound`."""
        self._found = found
        self._slots.give(count)

    def ended(self, message_id: str) -> None:
        """See `Bound`."""
        self._slots.give(1)

    def wait(self, look: Callable[[], None]) -> None:
        """See `Bound`."""
        self._slots.stand(self, look)

    def wait_no_more(self) -> None:
        """See `Bound`."""
        self._slots.leave(self)

"""How many requests were made of queue services, by what they were for and how they were answered.

Owns plain numbers, kept where requests are made: they cost next to nothing, so they are always
kept. Knows neither functions nor prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Of a request that got no answer, or was given up.
NO_ANSWER: Final = 0


class RequestCounts:
    """Of one process, over all hosts and accounts; numbers only grow."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], int] = {}
        self.throttled = 0

    @property
    def by_operation_and_status(self) -> Mapping[tuple[str, int], int]:
        """The counts by an operation's name and the HTTP status of the answer."""
        return self._counts

    def note(self, operation: str, status: int = NO_ANSWER) -> None:
        """One request has ended."""
        key = (operation, status)
        self._counts[key] = self._counts.get(key, 0) + 1

    def note_throttled(self) -> None:
        """One of them was answered that the account is busy."""
        self.throttled += 1

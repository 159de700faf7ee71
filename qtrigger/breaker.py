"""When a function that keeps failing is left alone, and when it is tried again.

Owns the rule alone, on times that it is given: no queue, no clock, no listener. Closed, it counts
failures in a row; open, it waits; probing, one message at a time is tried until one succeeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum

from qtrigger.project.options import CircuitBreaker


class State(Enum):
    """Where a breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


class Breaker:
    """One function's breaker; times are seconds on the monotonic clock.

    `row` are the failures since the last success by message, while it is closed; it is kept when
    the breaker opens, for those who make up for them. `failures` counts those in a row, the
    probes' too. `until` is when an open breaker begins to probe, and `opened_at` when it opened
    out of the closed state.

    Whatever says nothing of the function (a message handed back, asked for later, rejected, lost)
    is not told here at all.
    """

    def __init__(self, options: CircuitBreaker) -> None:
        self._options = options
        self._row: Counter[str] = Counter()
        self.state = State.CLOSED
        self.failures = 0
        self.until = 0.0
        self.opened_at = 0.0

    @property
    def row(self) -> Mapping[str, int]:
        """Failures since the last success, by message."""
        return self._row

    def failed(self, message_id: str, now: float) -> bool:
        """A run has failed; says whether the breaker opens by it, for the first time or again.

        Failures of what still ran when it opened change nothing.
        """
        if self.state is State.OPEN:
            return False
        self.failures += 1
        if self.state is State.CLOSED:
            self._row[message_id] += 1
            enough = self.failures >= self._options.failures
            if not enough or len(self._row) < self._options.distinct_messages:
                return False
            self.opened_at = now
        self.state = State.OPEN
        self.until = now + self._options.pause_s
        return True

    def succeeded(self) -> bool:
        """A run has succeeded; says whether that closes the breaker.

        A success of what still ran when it opened says little of the time since, and closes
        nothing while it is open.
        """
        if self.state is State.OPEN:
            return False
        return self._close()

    def due(self, now: float) -> bool:
        """Begin to probe if it is time; says whether it begins."""
        if self.state is not State.OPEN or now < self.until:
            return False
        self.state = State.PROBING
        return True

    def reset(self) -> bool:
        """Close it by hand, and forget the row; says whether it was open or probing."""
        return self._close()

    def _close(self) -> bool:
        was_closed = self.state is State.CLOSED
        self.state = State.CLOSED
        if self.failures:  # the commonest call finds nothing to forget
            self.failures = 0
            self._row.clear()
        return not was_closed

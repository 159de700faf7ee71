"""Whether a worker process answers at all.

Owns one question and how long it has been open. It is answered by a thread of the process that
user code does not hold up, unless the process as a whole stands still. When to ask, and what
silence means, is `liveness`'.
"""

from __future__ import annotations

from collections.abc import Callable

from qtrigger.clock import Clock


class Pulse:
    """Asks by `send`, which is given the number of the question."""

    def __init__(self, clock: Clock, send: Callable[[int], None]) -> None:
        self._clock = clock
        self._send = send
        self._number = 0
        self._asked_at: float | None = None

    @property
    def silent_s(self) -> float:
        """How long an answer has been waited for, in seconds; 0 when none is."""
        return 0.0 if self._asked_at is None else self._clock.monotonic() - self._asked_at

    def ask(self) -> None:
        """Ask, unless it has been asked and has not answered."""
        if self._asked_at is None:
            self._asked_at = self._clock.monotonic()
            self._number += 1
            self._send(self._number)

    def answered(self, number: int) -> None:
        """It has answered that question."""
        if number == self._number:
            self._asked_at = None

"""What is told of requests as events: every action, and refusals up to a bound.

Owns that a flood of refused requests is no flood of lines: after so many within a minute there is
one more at its end, with a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from qtrigger.admin.paths import shown
from qtrigger.clock import Clock, Timer
from qtrigger.events import AdminAction, EventSink, HttpRefused

MINUTE_S: Final = 60.0
MOST_LINES: Final = 20

# What an action is on, by the part of its path.
_TARGETS: Final = ("name", "queue", "id")


class Telling:
    """Tells of refusals and actions, until `close`."""

    def __init__(self, clock: Clock, sink: EventSink) -> None:
        self._clock = clock
        self._sink = sink
        self._told = 0
        self._held = 0
        self._last: HttpRefused | None = None
        self._timer: Timer | None = None

    def refused(self, *, reason: str, status: int, method: str, target: str, remote: str) -> None:
        """Tell that somebody was not answered; `target` is as it was sent."""
        event = HttpRefused(
            reason=reason, status=status, method=method[:16], path=shown(target), remote=remote
        )
        if self._timer is None:
            self._timer = self._clock.call_later(MINUTE_S, self._minute)
        if self._told < MOST_LINES:
            self._told += 1
            self._sink.emit(event)
        else:
            self._held += 1
            self._last = event

    def acted(
        self, *, action: str, who: str, parts: Mapping[str, str], status: int, remote: str
    ) -> None:
        """Tell that somebody has acted, or was told why they cannot."""
        target = next((parts[name] for name in _TARGETS if name in parts), "")
        self._sink.emit(
            AdminAction(action=action, who=who, target=target[:128], status=status, remote=remote)
        )

    def close(self) -> None:
        """Tell what is still to be told."""
        if self._timer is not None:
            self._timer.cancel()
            self._minute()

    def _minute(self) -> None:
        if self._last is not None:
            self._sink.emit(replace(self._last, count=self._held))
        self._timer, self._last, self._told, self._held = None, None, 0, 0

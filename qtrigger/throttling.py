"""Spells in which an account answers that it is busy: told at their beginning and their end.

Owns what a spell is, and the counts of an account's requests. It delays nothing: how long to wait
after a busy answer is for those who asked.
"""

from __future__ import annotations

from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueUnavailable
from qtrigger.events import EventSink, ThrottlingBegan, ThrottlingEnded

# A spell is over when the last busy answer is this old, and as many requests since were answered.
# While one request in five is answered busy, so long a pause happens by chance at a slow pace
# alone; and an account that is hardly asked at all does not come and go.
QUIET_S = 30.0
QUIET_ANSWERS = 10


class Throttling:
    """What one account's answers say of its limits; a `RequestWatcher` for all of its queues.

    `requests` counts what was asked, `busy` those answered so, and `spells` how often it began.
    """

    def __init__(self, account: str, clock: Clock, sink: EventSink) -> None:
        self.account = account
        self.requests = 0
        self.busy = 0
        self.spells = 0
        self.active = False
        self._clock = clock
        self._sink = sink
        self._began_at = 0.0
        self._last_at = 0.0
        self._busy_before = 0
        self._requests_before = 0
        self._answered_since = 0

    def answered(self, _verb: str) -> None:
        """See `RequestWatcher`."""
        self.requests += 1
        if self.active:
            self._quieter()

    def failed(self, _verb: str, error: QueueError) -> None:
        """See `RequestWatcher`."""
        self.requests += 1
        if isinstance(error, QueueUnavailable) and error.busy:
            self._busier(error)
        elif self.active and error.status:
            self._quieter()

    def _busier(self, error: QueueError) -> None:
        self.busy += 1
        self._last_at = self._clock.monotonic()
        self._answered_since = 0
        if self.active:
            return
        self.active = True
        self.spells += 1
        self._began_at = self._last_at
        self._busy_before, self._requests_before = self.busy - 1, self.requests - 1
        self._sink.emit(ThrottlingBegan(account=self.account, message=str(error)))

    def _quieter(self) -> None:
        self._answered_since += 1
        quiet_s = self._clock.monotonic() - self._last_at
        if self._answered_since < QUIET_ANSWERS or quiet_s < QUIET_S:
            return
        self.active = False
        self._sink.emit(
            ThrottlingEnded(
                account=self.account,
                busy=self.busy - self._busy_before,
                requests=self.requests - self._requests_before - self._answered_since,
                lasted_s=self._last_at - self._began_at,
            )
        )

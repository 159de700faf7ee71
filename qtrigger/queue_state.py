"""What a listener knows of its queue, told at each change and at no other time.

Owns the words for the states and the rule that an outage is one line, not one for each poll:

- `unknown`: not polled yet
- `ok`: the last poll was answered
- `degraded`: polls are answered, and some other operation on the messages is refused
- `missing`: there is no such queue, which is no error
- `unavailable`: a passing fault of the service or the network
- `failing`: a fault that only a person can mend, or one that has not passed for long

A busy answer alone is no line here, for it is the account's: see `throttling`.
"""

from __future__ import annotations

from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import EventSink, QueueStateChanged

UNKNOWN, OK, DEGRADED, MISSING = "unknown", "ok", "degraded", "missing"
UNAVAILABLE, FAILING = "unavailable", "failing"

# One kind for all passing faults: an outage shows in several ways, and is one line all the same.
PASSING = "passing"

# Without a good poll for so many of its longest waits, and for so long, a listener is failing.
PATIENCE_INTERVALS = 3
PATIENCE_S = 30.0
# A passing fault that comes back so soon after its end was told is told when it lasts that long.
RELAPSE_S = 30.0


class QueueState:
    """The state of one function's queue; `now` is what its polls say."""

    def __init__(
        self, function: str, queue: str, *, interval_s: float, clock: Clock, sink: EventSink
    ) -> None:
        self.now = UNKNOWN
        self._function = function
        self._queue = queue
        self._patience_s = max(PATIENCE_INTERVALS * interval_s, PATIENCE_S)
        self._clock = clock
        self._sink = sink
        self._told = (UNKNOWN, "")
        self._ok_told_at = -RELAPSE_S
        self._began_at = clock.monotonic()
        self._good_at: float | None = None
        self._refusals: dict[str, tuple[AccessDenied, str]] = {}

    @property
    def shown(self) -> str:
        """The state in one word."""
        return DEGRADED if self.now == OK and self._refusals else self.now

    @property
    def good_age_s(self) -> float | None:
        """How long ago a poll was answered last; None before the first answer."""
        return None if self._good_at is None else self._clock.monotonic() - self._good_at

    def ok(self) -> None:
        """A poll was answered."""
        self._good()
        self.now = OK
        if self._refusals:
            self._tell_refusals()
        else:
            self._tell(OK, None, "", 0.0)

    def missing(self, next_try_s: float) -> None:
        """There is no such queue, which is no error."""
        self._good()
        self.now = MISSING
        cause = f"queue {self._queue!r} does not exist yet"
        hint = "It is picked up as soon as something creates it."
        self._tell(MISSING, cause, hint, next_try_s)

    def unavailable(self, error: QueueUnavailable, next_try_s: float) -> None:
        """A passing fault of the service or the network, which may not pass."""
        good_at = self._began_at if self._good_at is None else self._good_at
        silent_s = self._clock.monotonic() - good_at
        if silent_s >= self._patience_s:
            self.now = FAILING
            since = "since the start" if self._good_at is None else f"for {silent_s:.0f} s"
            hint = f"No poll succeeded {since}; polling goes on."
            self._tell(FAILING, error, hint, next_try_s, kind=PASSING)
            return
        self.now = UNAVAILABLE
        relapsed = self._told[0] == OK and self._clock.monotonic() - self._ok_told_at < RELAPSE_S
        if not error.busy and not relapsed:
            self._tell(UNAVAILABLE, error, "Polling goes on by itself.", next_try_s, kind=PASSING)

    def failing(self, error: QueueError, hint: str, next_try_s: float) -> None:
        """A fault that only a person can mend."""
        self.now = FAILING
        if isinstance(error, AccessDenied):
            # It is the credential as a whole, and no longer one operation of it.
            self._refusals.clear()
        self._tell(FAILING, error, hint, next_try_s)

    def refused(self, operation: str, error: AccessDenied, hint: str) -> None:
        """An operation on a message was refused, while polls may well be answered."""
        if self.now == FAILING or operation in self._refusals:
            return
        self._refusals[operation] = (error, hint)
        if self.now == OK:
            self._tell_refusals()

    def granted(self, operation: str) -> None:
        """An operation on a message was carried out."""
        if self._refusals.pop(operation, None) and not self._refusals and self.now == OK:
            self._tell(OK, None, "", 0.0)

    def _good(self) -> None:
        self._good_at = self._clock.monotonic()

    def _tell_refusals(self) -> None:
        """Tell the newest refusal: those before it were told when they were the newest."""
        error, hint = self._refusals[next(reversed(self._refusals))]
        self._tell(DEGRADED, error, hint, 0.0, kind=" ".join(self._refusals))

    def _tell(
        self,
        state: str,
        cause: QueueError | str | None,
        hint: str,
        next_try_s: float,
        *,
        kind: str = "",
    ) -> None:
        text = str(cause or "")
        if not kind:
            kind = f"{cause.status} {cause.code}" if isinstance(cause, QueueError) else text
        before, self._told = self._told, (state, kind)
        if self._told == before or (state == OK and before[0] == UNKNOWN):
            return
        if state == OK:
            self._ok_told_at = self._clock.monotonic()
        self._sink.emit(
            QueueStateChanged(
                function=self._function,
                queue=self._queue,
                state=state,
                message=text,
                hint=hint,
                next_try_s=next_try_s,
            )
        )

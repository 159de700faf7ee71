"""What a listener knows of its queue, told at each change and at no other time.

Owns the words for the states and the rule that an outage is one line, not one for each poll.
"""

from __future__ import annotations

from qtrigger.errors import QueueError
from qtrigger.events import EventSink, QueueStateChanged

UNKNOWN, OK, MISSING, UNAVAILABLE, FAILING = "unknown", "ok", "missing", "unavailable", "failing"


class QueueState:
    """The state of one function's queue: `unknown` until its first poll."""

    def __init__(self, function: str, queue: str, sink: EventSink) -> None:
        self.now = UNKNOWN
        self._function = function
        self._queue = queue
        self._sink = sink
        self._cause = ""

    def ok(self) -> None:
        """A poll was answered."""
        self._tell(OK, None, "", 0.0)

    def missing(self, next_try_s: float) -> None:
        """There is no such queue, which is no error."""
        cause = f"queue {self._queue!r} does not exist yet"
        hint = "It is picked up as soon as something creates it."
        self._tell(MISSING, cause, hint, next_try_s)

    def unavailable(self, error: QueueError, next_try_s: float) -> None:
        """A passing fault of the service or the network."""
        self._tell(UNAVAILABLE, error, "Polling goes on by itself.", next_try_s)

    def failing(self, error: QueueError, hint: str, next_try_s: float) -> None:
        """A fault that only a person can mend."""
        self._tell(FAILING, error, hint, next_try_s)

    def _tell(
        self, state: str, cause: QueueError | str | None, hint: str, next_try_s: float
    ) -> None:
        text = str(cause or "")
        kind = f"{cause.status} {cause.code}" if isinstance(cause, QueueError) else text
        changed = (state, kind) != (self.now, self._cause)
        silent = not changed or (state == OK and self.now == UNKNOWN)
        self.now, self._cause = state, kind
        if silent:
            return
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

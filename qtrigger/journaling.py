"""Picks from what happens what the journal of failures is to hold.

Owns which events are failures, what is kept of each, and the last lines of runs under way. A run
that succeeds costs nothing here unless it logged. Knows no file: records go to whoever is given.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from qtrigger.events import Event, InvocationFinished, MessagePoisoned, RetryPending, UserLog
from qtrigger.invocation import ErrorDetail, Failed, Outcome, Rejected, TimedOut, WorkerLost
from qtrigger.journal import FailedTry, PoisonCopy
from qtrigger.retrying import error_of

# Of one run: its last lines, and no more of their text than this together and one by one.
MOST_LINES: Final = 50
MOST_OF_LINES: Final = 8 * 1024
MOST_OF_A_LINE: Final = 1024
# Runs under way whose lines are kept; and those that have ended, for messages of the same list.
MOST_RUNS: Final = 512
MOST_ENDED: Final = 64
MOST_OF_A_MESSAGE: Final = 4_000
MOST_OF_A_TRACEBACK: Final = 30_000

_OUTCOMES: Final[Mapping[type[Outcome], str]] = {
    Failed: "failed",
    TimedOut: "timed_out",
    WorkerLost: "worker_lost",
    Rejected: "rejected",
}
_PRINTED: Final = ("stdout", "stderr")

Put = Callable[[FailedTry | PoisonCopy], None]
"""Takes a record for the journal. Never blocks, never raises."""


class Journaling:
    """An event sink that gives each failed try, and each copy in a poison queue, to `put`.

    `now` is the time in UTC, `plain` takes secrets out of a text. Nothing is kept until it is `on`,
    which a host's project says.
    """

    def __init__(
        self, put: Put, *, now: Callable[[], datetime], plain: Callable[[str], str] = str
    ) -> None:
        self.on = False
        self._put = put
        self._now = now
        self._plain = plain
        self._lines: OrderedDict[str, deque[UserLog]] = OrderedDict()
        self._ended: deque[tuple[str, deque[UserLog]]] = deque(maxlen=MOST_ENDED)

    def emit(self, event: Event) -> None:
        """Take one event."""
        if type(event) is InvocationFinished:  # first: it is by far the commonest
            if self.on and type(event.outcome) in _OUTCOMES:
                self._failed(event)
            elif self._lines:
                self._end(event.invocation_id)
        elif not self.on:
            return
        elif isinstance(event, UserLog):
            self._line(event)
        elif isinstance(event, RetryPending):
            self._failed(event)
        elif isinstance(event, MessagePoisoned):
            self._poisoned(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind in (InvocationFinished, RetryPending, MessagePoisoned, UserLog)

    def _line(self, event: UserLog) -> None:
        run = event.invocation_id
        lines = self._lines.get(run)
        if lines is None:
            if not run:
                return
            lines = self._lines[run] = deque(maxlen=MOST_LINES)
            if len(self._lines) > MOST_RUNS:
                self._lines.popitem(last=False)
        if len(event.message) > MOST_OF_A_LINE:
            event = replace(event, message=self._plain(event.message)[:MOST_OF_A_LINE])
        lines.append(event)

    def _end(self, run: str) -> Sequence[UserLog]:
        """The lines of a run that has ended, also when a message of its list was told before."""
        lines = self._lines.pop(run, None)
        if lines is not None:
            self._ended.append((run, lines))
            return lines
        return next((kept for ended, kept in self._ended if ended == run), ())

    def _failed(self, event: InvocationFinished | RetryPending) -> None:
        """A run failed; what a retry policy repeats is told one by one, each with its lines."""
        self._put(
            FailedTry(
                function=event.function,
                queue=event.queue,
                message_id=event.message_id,
                invocation_id=event.invocation_id,
                dequeue_count=event.dequeue_count,
                at=self._now(),
                duration_s=event.duration_s,
                outcome=_OUTCOMES[type(event.outcome)],
                **self._texts(_error(event.outcome)),
                lines=self._lines_text(self._end(event.invocation_id)),
            )
        )

    def _poisoned(self, event: MessagePoisoned) -> None:
        now = self._now()
        if not event.ran:
            undecodable = event.reason == "undecodable"
            kind = "Undecodable" if undecodable else "TriesUsedUp"
            self._put(
                FailedTry(
                    function=event.function,
                    queue=event.queue,
                    message_id=event.message_id,
                    invocation_id=event.invocation_id,
                    dequeue_count=event.dequeue_count,
                    at=now,
                    duration_s=0.0,
                    outcome="undecodable" if undecodable else "used_up",
                    **self._texts(ErrorDetail(type=kind, message=event.detail)),
                    lines=(),
                )
            )
        if event.poison_id:
            self._put(
                PoisonCopy(
                    poison_id=event.poison_id,
                    poison_queue=event.poison_queue,
                    message_id=event.message_id,
                    function=event.function,
                    queue=event.queue,
                    at=now,
                )
            )

    def _texts(self, error: ErrorDetail) -> dict[str, str]:
        return {
            "error_type": self._plain(error.type)[:MOST_OF_A_LINE],
            "error_message": self._plain(error.message)[:MOST_OF_A_MESSAGE],
            "place": error.place[:MOST_OF_A_LINE],
            # What was raised stands at the end.
            "traceback": self._plain(error.traceback)[-MOST_OF_A_TRACEBACK:],
        }

    def _lines_text(self, lines: Sequence[UserLog]) -> tuple[str, ...]:
        """The last of the lines that fit, in their order."""
        kept: deque[str] = deque()
        left = MOST_OF_LINES
        for line in reversed(lines):
            text = self._plain(_line_text(line))[:MOST_OF_A_LINE]
            left -= len(text)
            if left < 0:
                break
            kept.appendleft(text)
        return tuple(kept)


def _error(outcome: Outcome) -> ErrorDetail:
    if isinstance(outcome, (Failed, TimedOut, WorkerLost)):
        return error_of(outcome)
    assert isinstance(outcome, Rejected)
    return ErrorDetail(type="Rejected", message=outcome.reason)


def _line_text(line: UserLog) -> str:
    """A line as people read it: what was logged with its level and logger, what was printed as is.

    The traceback of a logged exception is left out: the run's own stands beside the lines.
    """
    text = line.message
    if line.logger not in _PRINTED:
        text = f"{logging.getLevelName(line.level)} {line.logger}: {text}"
    return f"{text} ({line.error.type}: {line.error.message})" if line.error else text

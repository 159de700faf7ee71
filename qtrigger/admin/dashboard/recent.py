"""What the last runs of each function were: the pages' memory, and an event sink.

Owns which runs are kept, how much of their texts, and the counts by second. It keeps no message's
body and no output. Knows no page.

Bounds: of each function the last 200 runs without texts, some 100 kB, and `series.BYTES`. All
texts together (errors, tracebacks, lines) stay under `MOST_OF_TEXTS` characters: each function
has its equal share, and the oldest texts of a function that has more are left out. Lines of runs
under way are bounded by `MOST_RUNS` and `MOST_OF_A_RUN`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from qtrigger.admin.dashboard.run import SUCCEEDED, WORDS, Run, Texts, counts, said_of
from qtrigger.admin.dashboard.series import Series
from qtrigger.clock import Clock
from qtrigger.events import EmulatorReady, Event, HostReady, InvocationFinished, UserLog
from qtrigger.invocation import Outcome, Succeeded
from qtrigger.pauses import writable

MOST_RUNS_KEPT: Final = 200
MOST_OF_TEXTS: Final = 4 * 2**20
# However few functions there are, one alone does not get all of it.
LEAST_SHARES: Final = 8
MOST_OF_A_MESSAGE: Final = 2_000
MOST_OF_A_TRACEBACK: Final = 16_000
# Runs under way whose lines are kept, and what of one run's.
MOST_RUNS: Final = 512
MOST_LINES: Final = 50
MOST_OF_A_LINE: Final = 1_000
MOST_OF_A_RUN: Final = 4_000

_PRINTED: Final = ("stdout", "stderr")


@dataclass(slots=True)
class _Function:
    series: Series
    # Of tuples, which cost a third of what a `Run` costs to make.
    runs: deque[tuple[Any, ...]] = field(default_factory=lambda: deque(maxlen=MOST_RUNS_KEPT))
    with_texts: deque[tuple[int, Texts]] = field(default_factory=deque)
    size: int = 0
    count: int = 0


class Recent:
    """An event sink. `plain` takes what is secret out of a text."""

    def __init__(self, clock: Clock, plain: Callable[[str], str]) -> None:
        self.emulator = ""
        self.interpreter = ""
        self._clock = clock
        self._time: Callable[[], float] = clock.monotonic
        self._plain = plain
        self._functions: dict[str, _Function] = {}
        self._lines: OrderedDict[str, deque[str]] = OrderedDict()

    def emit(self, event: Event) -> None:
        """Take one event."""
        if type(event) is InvocationFinished:  # first: it is by far the commonest
            self._finished(event)
        elif isinstance(event, UserLog):
            self._line(event)
        elif isinstance(event, EmulatorReady):
            self.emulator = event.description
        elif isinstance(event, HostReady):
            self.interpreter = event.interpreter

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind in (InvocationFinished, UserLog)

    def count(self, function: str) -> int:
        """How many runs of a function have ended; another one means that there is news."""
        found = self._functions.get(function)
        return found.count if found else 0

    def series(self, function: str) -> Series | None:
        """The counts of a function by second, None before its first run."""
        found = self._functions.get(function)
        return found.series if found else None

    def runs(self, function: str) -> Iterator[Run]:
        """The last runs of a function, newest first."""
        found = self._functions.get(function)
        return map(Run._make, reversed(found.runs)) if found else iter(())

    def second(self) -> int:
        """The present second, as the series count."""
        return int(self._time())

    def utc(self, ended: float) -> datetime:
        """A time on the monotonic clock in UTC."""
        return self._clock.utcnow() - timedelta(seconds=self._time() - ended)

    def _finished(self, event: InvocationFinished) -> None:
        now = self._time()
        second = int(now)
        found = self._functions.get(event.function)
        if found is None:
            found = self._functions[event.function] = _Function(Series(second))
        outcome = event.outcome
        found.count += 1
        texts = None
        if type(outcome) is Succeeded:
            word, failed = SUCCEEDED, False
        else:
            word, failed = WORDS[type(outcome)], counts(outcome)
            texts = self._texts(outcome, self._lines.pop(event.invocation_id, None))
        found.series.count(second, event.duration_s, failed)
        if texts is None and self._lines:
            lines = self._lines.pop(event.invocation_id, None)
            texts = self._texts(outcome, lines) if lines else None
        found.runs.append(
            (
                found.count,
                now,
                event.invocation_id,
                event.message_id,
                event.dequeue_count,
                event.max_dequeue_count,
                event.duration_s,
                word,
                event.disposition,
                texts,
            )
        )
        if texts is not None or found.with_texts:
            self._keep_within(found, texts)

    def _keep_within(self, found: _Function, texts: Texts | None) -> None:
        """Let the oldest texts go, until there is room for these."""
        kept = found.with_texts
        if texts is not None:
            kept.append((found.count, texts))
            found.size += texts.size
        share = MOST_OF_TEXTS // max(len(self._functions), LEAST_SHARES)
        oldest = found.count - MOST_RUNS_KEPT
        while kept and (kept[0][0] <= oldest or found.size > share):
            _, left = kept.popleft()
            found.size -= left.size
            left.leave_out()

    def _texts(self, outcome: Outcome, lines: deque[str] | None) -> Texts:
        error = said_of(outcome)
        return Texts(
            error_type=self._said(error.type, 200),
            error_message=self._said(error.message, MOST_OF_A_MESSAGE),
            place=error.place[:500],
            # What was raised stands at the end.
            traceback=self._said(error.traceback)[-MOST_OF_A_TRACEBACK:],
            lines=_last(lines) if lines else (),
        )

    def _line(self, event: UserLog) -> None:
        run = event.invocation_id
        lines = self._lines.get(run)
        if lines is None:
            if not run:
                return
            lines = self._lines[run] = deque(maxlen=MOST_LINES)
            if len(self._lines) > MOST_RUNS:
                self._lines.popitem(last=False)
        text = event.message
        if event.logger not in _PRINTED:
            text = f"{logging.getLevelName(event.level)} {event.logger}: {text}"
        if event.error is not None:
            text = f"{text} ({event.error.type}: {event.error.message})"
        lines.append(self._said(text, MOST_OF_A_LINE))

    def _said(self, text: str, most: int | None = None) -> str:
        """A text without secrets, and with nothing that cannot be sent."""
        return writable(self._plain(text))[:most]


def _last(lines: deque[str]) -> tuple[str, ...]:
    """The last of the lines that fit, in their order."""
    kept: deque[str] = deque()
    left = MOST_OF_A_RUN
    for line in reversed(lines):
        left -= len(line)
        if left < 0:
            break
        kept.appendleft(line)
    return tuple(kept)

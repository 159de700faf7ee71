"""What the last runs of each function were: the pages' memory, and an event sink.

Owns which runs are kept, how much of their texts, and the counts by second. It keeps no message's
body and no output. Knows no page.

Bounds: of each function the last 200 runs that succeeded and the last 100 others, without texts
some 150 kB, and `series.BYTES`. All texts together (errors, tracebacks, lines) stay under
`MOST_OF_TEXTS` characters: each function has its equal share, half of it for either kind, and the
oldest texts of one that has more are left out. Lines of runs
under way are bounded by `MOST_RUNS` and `MOST_OF_A_RUN`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from heapq import merge
from operator import itemgetter
from typing import Any, Final

from qtrigger.admin.dashboard.run import SUCCEEDED, WORDS, Run, Texts, counts, said_of
from qtrigger.admin.dashboard.series import Series
from qtrigger.clock import Clock
from qtrigger.events import EmulatorReady, Event, HostReady, InvocationFinished, UserLog
from qtrigger.invocation import Outcome, Succeeded
from qtrigger.pauses import writable

MOST_SUCCEEDED: Final = 200
MOST_OTHERS: Final = 100
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


class _Shelf:
    """The last runs of one kind, and which of them have texts."""

    __slots__ = ("runs", "size", "with_texts")

    def __init__(self, most: int) -> None:
        # Of tuples, which cost a third of what a `Run` costs to make.
        self.runs: deque[tuple[Any, ...]] = deque(maxlen=most)
        self.with_texts: deque[tuple[int, Texts]] = deque()
        self.size = 0

    def keep_within(self, share: int, number: int, texts: Texts | None) -> None:
        """Let the oldest texts go, until there is room for these."""
        kept = self.with_texts
        if texts is not None:
            kept.append((number, texts))
            self.size += texts.size
        oldest = self.runs[0][0]
        while kept and (kept[0][0] < oldest or self.size > share):
            _, left = kept.popleft()
            self.size -= left.size
            left.leave_out()


class _Function:
    __slots__ = ("count", "others", "series", "succeeded")

    def __init__(self, second: int) -> None:
        self.series = Series(second)
        self.succeeded = _Shelf(MOST_SUCCEEDED)
        # Apart, since of a busy function a failure would be gone before anybody looks.
        self.others = _Shelf(MOST_OTHERS)
        self.count = 0


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
        if found is None:
            return iter(())
        shelves = (reversed(found.succeeded.runs), reversed(found.others.runs))
        return map(Run._make, merge(*shelves, key=itemgetter(0), reverse=True))

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
            found = self._functions[event.function] = _Function(second)
        outcome = event.outcome
        found.count += 1
        texts = None
        if type(outcome) is Succeeded:
            word, failed, shelf = SUCCEEDED, False, found.succeeded
        else:
            word, failed, shelf = WORDS[type(outcome)], counts(outcome), found.others
            texts = self._texts(outcome, self._lines.pop(event.invocation_id, None))
        found.series.count(second, event.duration_s, failed)
        if texts is None and self._lines:
            lines = self._lines.pop(event.invocation_id, None)
            texts = self._texts(outcome, lines) if lines else None
        shelf.runs.append(
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
        if texts is not None or shelf.with_texts:
            share = MOST_OF_TEXTS // max(len(self._functions), LEAST_SHARES) // 2
            shelf.keep_within(share, found.count, texts)

    def _texts(self, outcome: Outcome, lines: deque[str] | None) -> Texts:
        error = said_of(outcome)
        return Texts(
            error_type=self._said(error.type, 200),
            error_message=self._said(error.message, MOST_OF_A_MESSAGE),
            place=self._said(error.place, 500),
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

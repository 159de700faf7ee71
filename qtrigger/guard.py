"""Applies a function's circuit breaker to its messages.

Owns whose tries are not held against them, when those messages come back, and what is told. When
to open and to probe is `breaker`'s rule; who polls is the listener's concern, which is told.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from qtrigger.breaker import Breaker, State
from qtrigger.clock import Clock, Timer
from qtrigger.dispositions import LONGEST_VISIBILITY_S, Disposition, Drop, Poison, Release, Retry
from qtrigger.events import BreakerClosed, BreakerOpened, EventSink
from qtrigger.invocation import Failed, Interrupted, Outcome, Succeeded, TimedOut, WorkerLost
from qtrigger.lease import Lease
from qtrigger.project.options import CircuitBreaker
from qtrigger.retrying import Failure, error_of
from qtrigger.tries import TriesSeen

# However long the pause, messages that did not cause it are not hidden for longer, since somebody
# may end it by hand.
MOST_HIDDEN_S = 600.0
# A failed probe stays away for so many pauses at most.
MOST_PAUSES_AWAY = 8
# A message that has failed in so many outages, while others succeeded after each, is bad itself.
MOST_OUTAGES = 5
# What was spared by a host before this one, or beside it, nobody knows here: a message that comes
# over its limit by so many tries runs, so that its count alone does not condemn it.
UNKNOWN_TRIES = 10
LONGEST_ERROR = 300


class _Row:
    """The fate of the messages on their last try within one row; `spared` once it has ended."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.spared = False


class Guard:
    """One function's breaker, with its timer. `moved` is told of each of its states."""

    def __init__(
        self,
        options: CircuitBreaker,
        *,
        function: str,
        queue: str,
        tries: TriesSeen,
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._options = options
        self._breaker = Breaker(options)
        self._function = function
        self._queue = queue
        self._tries = tries
        self._clock = clock
        self._sink = sink
        self._moved: Callable[[State], None] = lambda _state: None
        self._wake: Callable[[], None] = lambda: None
        self._all_back_at = 0.0
        self._timer: Timer | None = None
        self._row = _Row()
        self._stopped = False

    @property
    def most_held(self) -> int:
        """How many messages on their last try may wait here to see what the row comes to."""
        return max(self._options.failures, self._options.distinct_messages)

    @property
    def open(self) -> bool:
        """Whether no message is to be begun now."""
        return self._breaker.state is State.OPEN

    @property
    def closed(self) -> bool:
        """Whether it counts, and tries are held against their messages."""
        return self._breaker.state is State.CLOSED

    @property
    def tries_let_pass(self) -> int:
        """By how many tries a message may be over its limit when it comes, and run for all that."""
        return UNKNOWN_TRIES if self.closed else sys.maxsize

    @property
    def away_s(self) -> float:
        """How long what is released while it is open stays hidden: until it probes, in bounds."""
        left_s = self._breaker.until - self._clock.monotonic()
        return min(max(left_s, 0.0), MOST_HIDDEN_S)

    def watch(self, moved: Callable[[State], None], wake: Callable[[], None]) -> None:
        """Have `moved` called whenever the breaker comes into a state.

        `wake` is called when all that was released while it was not closed is visible again: the
        listener may be far into its waits by then.
        """
        self._moved = moved
        self._wake = wake

    def reset(self) -> None:
        """Close it, because somebody says so."""
        failures = self._breaker.failures
        was_closed = not self._breaker.reset()
        self._end_row(spared=False)
        if not was_closed:
            self._closed("hand", failures)

    def stop(self) -> None:
        """Probe no more; whose fate is open is handed back, and its try excused."""
        self._stopped = True
        self._cancel_timer()
        self._end_row(spared=False)

    async def judge(self, lease: Lease, outcome: Outcome, wanted: Disposition) -> Disposition:
        """Return what becomes of a message after its run, where `wanted` would without a breaker.

        A message on its last try waits until the row that it is in has come to something: while
        it does, nobody knows whether the fault is its own.
        """
        match outcome:
            case Succeeded():
                self._succeeded()
                return wanted
            case Failed() | TimedOut() | WorkerLost(alone=True):
                return await self._after_failure(lease, outcome, wanted)
            case Interrupted(by="breaker"):
                return Release(after_s=self.away_s)
            case _:
                return wanted

    def _succeeded(self) -> None:
        failures = self._breaker.failures
        if self._breaker.succeeded():
            self._closed("probe", failures)
        elif failures and self.closed:
            self._end_row(spared=False)

    async def _after_failure(
        self, lease: Lease, failure: Failure, wanted: Disposition
    ) -> Disposition:
        message_id, before = lease.message.id, self._breaker.state
        if before is State.CLOSED and self._tries.of(message_id).outages >= MOST_OUTAGES:
            return wanted  # else a few bad messages would open it again and again, and never end
        opened = self._breaker.failed(message_id, self._clock.monotonic())
        if opened:
            self._opened(failure, probe=before is State.PROBING)
        if self.closed:
            return await self._held(lease, wanted) if isinstance(wanted, Poison) else wanted
        if before is not State.CLOSED:  # else it was spared with its row
            self._tries.spare(message_id)
        after_s = self._probe_away_s(message_id) if before is State.PROBING else self.away_s
        after_s = max(after_s, wanted.after_s if isinstance(wanted, Retry) else 0.0)
        self._all_back_at = max(self._all_back_at, self._clock.monotonic() + after_s)
        return Release(after_s=after_s)

    async def _held(self, lease: Lease, wanted: Poison) -> Disposition:
        row = self._row
        if not self._stopped:
            await self._clock.wait(row.ended, min(self._options.pause_s, MOST_HIDDEN_S))
        if lease.lost:
            return Drop()
        if row.spared:
            return Release(after_s=self.away_s)
        if self._stopped:
            self._tries.spare(lease.message.id)
            return Release(after_s=0.0)
        return wanted

    def _probe_away_s(self, message_id: str) -> float:
        """How long a failed probe stays away: longer than the pause, so that another is the next.

        Else a message that always fails, at the head of the queue, would keep it open for ever.
        """
        pauses = min(1 + self._tries.of(message_id).spared, MOST_PAUSES_AWAY)
        return min(self._options.pause_s * pauses, LONGEST_VISIBILITY_S)

    def _opened(self, failure: Failure, *, probe: bool) -> None:
        row = self._breaker.row
        if not probe:
            for message_id, count in row.items():
                self._tries.spare(message_id, count)
            self._end_row(spared=True)
        self._all_back_at = max(self._all_back_at, self._breaker.until)
        self._wait()
        error = error_of(failure)
        self._sink.emit(
            BreakerOpened(
                function=self._function,
                queue=self._queue,
                failures=self._breaker.failures,
                messages=len(row),
                error_type=error.type,
                error=error.message[:LONGEST_ERROR],
                pause_s=self._options.pause_s,
                probe=probe,
            )
        )
        self._moved(State.OPEN)

    def _closed(self, cause: str, failures: int) -> None:
        self._cancel_timer()
        self._tries.outage_over()
        lasted_s = self._clock.monotonic() - self._breaker.opened_at
        self._sink.emit(
            BreakerClosed(
                function=self._function,
                queue=self._queue,
                cause=cause,
                failures=failures,
                lasted_s=lasted_s,
            )
        )
        self._moved(State.CLOSED)
        if not self._stopped:
            # The service counts whole seconds.
            left_s = self._all_back_at - self._clock.monotonic() + 1.0
            self._timer = self._clock.call_later(max(left_s, 0.0), self._wake)

    def _wait(self) -> None:
        self._cancel_timer()
        if not self._stopped:
            left_s = self._breaker.until - self._clock.monotonic()
            self._timer = self._clock.call_later(max(left_s, 0.001), self._ring)

    def _ring(self) -> None:
        if self._breaker.due(self._clock.monotonic()):
            self._moved(State.PROBING)
        elif self.open:
            self._wait()  # timers may ring a little early

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_row(self, *, spared: bool) -> None:
        row, self._row = self._row, _Row()
        row.spared = spared
        row.ended.set()

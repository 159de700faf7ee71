"""The invocations that a worker process has taken and not yet answered.

Owns their futures and their time-outs. It sends nothing itself: it is given what to do when a run
is over its time, and when a run cannot be ended but by ending the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from qtrigger.alarm import Alarm
from qtrigger.clock import Clock
from qtrigger.invocation import Interrupted, Invocation, Outcome, Ran, TimedOut, WorkerLost
from qtrigger.workers import answers

# How long the process may take to say how a run stands, or an async function to end once it is
# cancelled.
SIGN_WITHIN_S = 1.0


class Open:
    """One of them.

    `due` is when it is over its time or, once the process was `asked` about it, when a sign of it
    is overdue; None for never. `given_up` when it is over its time and goes on regardless;
    `uncancelled` when it was told to end, and its code cannot be.
    """

    __slots__ = (
        "asked", "due", "future", "given_up", "invocation", "number", "since", "uncancelled"
    )  # fmt: skip

    def __init__(self, number: int, invocation: Invocation, since: float) -> None:
        self.number = number
        self.invocation = invocation
        self.since = since
        self.future: asyncio.Future[Ran] = asyncio.get_running_loop().create_future()
        self.due: float | None = None
        self.asked = False
        self.given_up = False
        self.uncancelled = False


class Underway:
    """All of them.

    `ask` is called with a number and a limit in seconds when a run seems over its time; `give_up`
    when it is, and nothing but the end of the process will end it. `cancel` is called with the
    number of a run that is to end early.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        ask: Callable[[int, float], None],
        cancel: Callable[[int], None],
        give_up: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._ask = ask
        self._cancel = cancel
        self._give_up = give_up
        self._alarm = Alarm(clock, self._ring)
        self._numbers = count(1)
        self._open: dict[int, Open] = {}
        self._given_up: list[Open] = []
        self._waiting: dict[asyncio.Event, Callable[[], bool]] = {}
        self.completed = 0

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, invocation: Invocation) -> Open:
        """Take one; its future is its answer."""
        run = Open(next(self._numbers), invocation, self._clock.monotonic())
        self._open[run.number] = run
        if invocation.timeout_s is not None:
            run.due = run.since + invocation.timeout_s
            self._alarm.set(run.due)
        return run

    def answer(
        self, number: int, ends: Sequence[Mapping[str, Any]], blob: bytes, took_s: float
    ) -> None:
        """The process has answered. Raises what `answers.ran` does for nonsense."""
        run = self._open[number]
        ran = answers.ran(run.invocation, ends, blob, took_s)
        if run.asked and Interrupted() in ran.outcomes:
            ran = answers.every(run.invocation, self._late_end(run), took_s)
        self._answer(run, ran)

    def succeed(self, number: int, took_s: float) -> None:
        """The process has answered that it went well and wrote nothing. Raises as `answer` does."""
        run = self._open[number]
        self._answer(run, answers.succeeded(run.invocation, took_s))

    def checkpoint(self, number: int, body: bytes) -> None:
        """A run leaves a body for the next try of its message."""
        run = self._open.get(number)
        if run is not None and run.invocation.next_try is not None:
            run.invocation.next_try.checkpoint(body)

    def number_of(self, invocation_id: str) -> int | None:
        """The run of that invocation, None when it has ended or is another worker's."""
        found = (run.number for run in self._open.values() if run.invocation.id == invocation_id)
        return next(found, None)

    def left(self, number: int, left_s: float) -> None:
        """The process says that this run has time left: it had to wait before it began."""
        run = self._open.get(number)
        if run is not None:
            run.asked = False
            self._set_due(run, left_s)

    def deaf(self, number: int) -> None:
        """The process says that this run is over its time and cannot be cancelled."""
        run = self._open.get(number)
        if run is not None:
            self._no_sign(run)

    def uncancelled(self, number: int) -> None:
        """The process says that this run, which was to end early, cannot be cancelled."""
        run = self._open.get(number)
        if run is not None:
            run.uncancelled = True
            self._note()

    async def wait_quiet(self, timeout_s: float) -> bool:
        """Wait until nothing is left but given up runs; False when time ran out first."""
        await self._wait(self._is_quiet, timeout_s)
        return self._is_quiet()

    async def cancel_all(self, timeout_s: float) -> bool:
        """Cancel what can be cancelled and wait for its end; says whether it is quiet then."""
        for number in self._open:
            self._cancel(number)
        await self._wait(self._is_cancelled, timeout_s)
        return self._is_quiet()

    def close_all(self, *, how: str, ours: bool, by: str = "stop") -> int:
        """The process has ended: answer what is open. Returns how many were lost to its end.

        `ours` says that we ended it; then the run that was given up first has timed out and the
        others are interrupted, `by` what, and none is lost.
        """
        self._alarm.cancel()
        alone = len(self._open) == 1
        closing = list(self._open.values())
        ends = {run.number: self._late_end(run) for run in closing if run.given_up}
        for run in closing:
            outcome: Outcome
            if run.given_up:
                outcome = ends[run.number]
            elif ours:
                outcome = Interrupted(by=by)
            else:
                outcome = WorkerLost(how=how, alone=alone)
            duration_s = self._clock.monotonic() - run.since
            self._close(run)
            _resolve(run, answers.every(run.invocation, outcome, duration_s))
        return 0 if ours else len(closing)

    async def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        if condition():
            return
        # One each: a retirement and a stop, or two stops, may wait side by side.
        met = asyncio.Event()
        self._waiting[met] = condition
        try:
            await self._clock.wait(met, timeout_s)
        finally:
            del self._waiting[met]

    def _note(self) -> None:
        """Something has changed that somebody may wait for."""
        for met, condition in self._waiting.items():
            if condition():
                met.set()

    def _late_end(self, run: Open) -> Outcome:
        """The end of a run over its time.

        Those that come over it beside one that was given up may have waited for that one, for a
        lock it holds or the loop it blocks; they get their whole time again.
        """
        first = next((each for each in self._given_up if each.number in self._open), run)
        if first is not run:
            return Interrupted(by="neighbour")
        return TimedOut(after_s=run.invocation.timeout_s or 0.0)

    def _is_quiet(self) -> bool:
        return all(run.given_up for run in self._open.values())

    def _is_cancelled(self) -> bool:
        return all(run.given_up or run.uncancelled for run in self._open.values())

    def _answer(self, run: Open, ran: Ran) -> None:
        self.completed += 1
        self._close(run)
        _resolve(run, ran)

    def _ring(self, now: float) -> None:
        waiting = [(run.due, run) for run in self._open.values() if run.due is not None]
        for due, run in sorted(waiting, key=itemgetter(0)):
            if due > now:
                self._alarm.set(due)
                break
            if run.asked:
                self._no_sign(run)
            else:
                self._over(run)

    def _over(self, run: Open) -> None:
        assert run.invocation.timeout_s is not None
        run.asked = True
        self._set_due(run, SIGN_WITHIN_S)
        self._ask(run.number, run.invocation.timeout_s)

    def _no_sign(self, run: Open) -> None:
        run.due = None
        run.given_up = True
        self._given_up.append(run)
        self._note()
        self._give_up()

    def _set_due(self, run: Open, delay_s: float) -> None:
        run.due = self._clock.monotonic() + delay_s
        self._alarm.set(run.due)

    def _close(self, run: Open) -> None:
        del self._open[run.number]
        if self._waiting:
            self._note()


def _resolve(run: Open, ran: Ran) -> None:
    # Done already when whoever waited for it was cancelled.
    if not run.future.done():
        run.future.set_result(ran)

"""The poll loop of one function.

Owns the waits, and what an answer or the lack of one means for the next; the requests are
`receiving`'s, and what is found goes on its way in `in_hand`. State is touched by the loop's own
thread alone. Source: QueueListener of the storage extension; where that one stops for good on an
error, this one says so once, waits and tries again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass

from qtrigger.backoff import PollBackoff
from qtrigger.bounds import NO_LIMIT, AtMost, Bounds
from qtrigger.breaker import State
from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied, QueueError, QueueMissing, QueueUnavailable
from qtrigger.events import EventSink, PollFinished
from qtrigger.guard import Guard
from qtrigger.in_hand import InHand, Lifecycle
from qtrigger.lease import Lease
from qtrigger.project.model import FunctionDefinition
from qtrigger.queue_state import MISSING, OK, QueueState
from qtrigger.queues.client import QueueClient, QueueMessage
from qtrigger.receiving import Receiving
from qtrigger.traffic import Traffic

# Why a listener is paused; it polls while there is no reason left.
BROKEN = "breaker"
BY_HAND = "hand"
UNLOADED = "load"
DRAINED = "drain"

# Of the requests of one poll, which have limits of their own that come first.
POLL_TAKES_S = 90.0

# While polls fail, wake-ups hasten them to one in this time at most.
FAULT_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Wait:
    """The time to the next poll; no wake-up ends its first `held_s` seconds, only a stop does."""

    s: float
    held_s: float = 0.0


class Listener:
    """Polls one function's queue and starts what it finds.

    At most `batchSize + newBatchThreshold` messages are in processing: no more are asked for than
    there is room for, see `receiving`, and than the `bounds` allow. `changed` is called after each
    poll and each message's end; polls are counted in `traffic`.
    """

    def __init__(  # noqa: PLR0913 - each is a seam of its own
        self,
        function: FunctionDefinition,
        *,
        queue: QueueClient,
        lifecycle: Lifecycle,
        backoff: PollBackoff,
        clock: Clock,
        sink: EventSink,
        state: QueueState,
        changed: Callable[[], None],
        bounds: Bounds | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self.function = function.name
        self.queue = queue
        self._lifecycle = lifecycle
        self._backoff = backoff
        self._clock = clock
        self._sink = sink
        self._changed = changed
        self._stopped = asyncio.Event()
        self._exists = False
        self._found_since_wait = False
        self._tells_polls = sink.wants(PollFinished)
        self._in_hand = InHand(
            function.name,
            lifecycle=lifecycle,
            options=function.options,
            freed=self._message_ran,
            ended=self._message_ended,
            bounds=bounds,
        )
        self._receiving = Receiving(
            function.name,
            queue=queue,
            batch_size=function.options.batch_size,
            lease_s=lifecycle.lease_s,
            in_hand=self._in_hand,
            clock=clock,
            taken=self._taken,
            bounds=bounds,
        )
        self._bounded = bounds is not None
        self._woken = asyncio.Event()
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._between_polls = asyncio.Event()
        self._between_polls.set()
        self._paused: set[str] = set()
        self._guard: Guard | None = None
        self._probing = AtMost()
        self._state = state
        self._traffic = traffic or Traffic()
        self.polled = asyncio.Event()
        self.active_at = clock.monotonic()
        # When it has to have come round, on the monotonic clock; never while it waits for room.
        self.due_at = math.inf

    @property
    def state(self) -> str:
        """What is known of the queue; see `queue_state`."""
        return self._state.shown

    @property
    def good_poll_age_s(self) -> float | None:
        """How long ago a poll was answered last; None before the first answer."""
        return self._state.good_age_s

    @property
    def running(self) -> int:
        """Messages in processing: their functions have not ended."""
        return self._in_hand.running

    @property
    def unsettled(self) -> int:
        """Messages in processing or being settled."""
        return self._in_hand.unsettled

    @property
    def stranded(self) -> int:
        """Messages that were given up and not handed back; they come back with their leases."""
        return self._in_hand.stranded

    @property
    def seen_empty(self) -> bool:
        """Whether nothing is left to do: the last poll found nothing, or there are none now."""
        if self.unsettled or self._receiving.asks_beside:
            return False
        if self._paused:
            # A pause by hand is somebody's wish; an open breaker is waiting for its work.
            return set(self._paused) != {BROKEN}
        return self._state.now in (OK, MISSING) and not self._found_since_wait

    def wake(self) -> None:
        """Poll again now instead of after the rest of the back-off."""
        self._woken.set()

    @property
    def paused(self) -> Sequence[str]:
        """Why it does not poll, empty while it does."""
        return sorted(self._paused)

    def pause(self, reason: str) -> None:
        """Poll no more until that reason, and any other, is gone; what is in processing goes on.

        What an answer under way brings is run: it was received, and its try would be lost.
        """
        self._paused.add(reason)
        if not self._stopped.is_set():
            self._resumed.clear()
        self._receiving.hold()

    def resume(self, reason: str) -> bool:
        """Poll again, now, unless there is another reason; says whether there was this one."""
        if reason not in self._paused:
            return False
        self._paused.remove(reason)
        if not self._paused and not self._stopped.is_set():
            self._resumed.set()
            self._receiving.go_on()
            self._woken.set()
        return True

    def guarded_by(self, guard: Guard, probing: AtMost) -> None:
        """Take messages as a circuit breaker says, by that one of the bounds; before any poll."""
        self._guard = guard
        self._probing = probing
        self._in_hand.hold_up(guard.most_held)
        guard.watch(self._breaker_moved, self.wake)

    def close_breaker(self) -> None:
        """Take messages again as if none had failed; without an open breaker nothing happens."""
        if self._guard is not None:
            self._guard.reset()

    def stop_polling(self) -> None:
        """Ask for no more messages; what is in processing goes on."""
        self._stopped.set()
        self._receiving.hold()
        self._lifecycle.stop_retrying()
        self._resumed.set()
        self._woken.set()
        self._in_hand.wake()

    async def run(self) -> None:
        """Poll until told to stop; messages may still be on their way then, see `settled`."""
        try:
            await self._poll_until_stopped()
            await self._receiving.ended()
        except BaseException:
            # Cancelled, or ended by a defect: nobody would see to what that request brings.
            self._receiving.cancel()
            raise

    async def _poll_until_stopped(self) -> None:
        await self._resumed.wait()
        while not self._stopped.is_set():
            if self._bounded:
                await self._receiving.turn(self._stopped, self._resumed)
                if self._stopped.is_set():
                    break
            # A wake-up that comes while a poll is under way ends the wait after it.
            self._woken.clear()
            self._between_polls.clear()
            self.due_at = self._clock.monotonic() + POLL_TAKES_S
            try:
                wait = await self._poll()
            finally:
                self._between_polls.set()
                self._receiving.pass_on()
            self.due_at = math.inf
            self.polled.set()
            self._changed()
            if wait is None:
                await self._receiving.room(self._stopped)
            else:
                self.due_at = self._clock.monotonic() + wait.s
                if wait.held_s:
                    await self._clock.wait(self._stopped, wait.held_s)
                await self._clock.wait(self._woken, wait.s - wait.held_s)
                self.due_at = math.inf
            await self._resumed.wait()

    async def settled(self) -> None:
        """Wait until every message taken so far has reached its end."""
        await self._in_hand.settled()

    async def quiet(self) -> None:
        """Wait until no request is under way and every message has reached its end.

        For one that is paused or stopped: another would go on asking.
        """
        await self._between_polls.wait()
        await self._receiving.ended()
        await self._in_hand.settled()

    async def calm(self) -> None:
        """Wait until no message is just being settled; what is in processing may go on."""
        await self._in_hand.calm()

    def cancel(self) -> None:
        """Give up on what is still unsettled: handed back if the service takes it at once.

        `stranded` counts the messages that it did not take; they come back when their leases end.
        """
        self._in_hand.cancel()

    async def _poll(self) -> _Wait | None:
        """Ask once. Return the wait before the next poll, or None when messages were found."""
        try:
            if not self._exists:
                self._exists = await self._unless_stopped(self.queue.exists())
            asks = self._exists and self._resumed.is_set() and not self._stopped.is_set()
            found = await self._receiving.batch() if asks else 0
        except QueueMissing:
            return _Wait(self._nothing_there())
        except QueueUnavailable as error:
            self._exists = False
            self._traffic.failed_polls += 1
            wait_s = max(self._idle_wait(), error.retry_after_s or 0.0)
            self._state.unavailable(error, wait_s)
            return _Wait(wait_s, min(max(FAULT_PAUSE_S, error.retry_after_s or 0.0), wait_s))
        except QueueError as error:
            self._exists = False
            self._traffic.failed_polls += 1
            self._traffic.wait_s = wait_s = self._backoff.give_up()
            hint = "Grant the right; polling goes on." if isinstance(error, AccessDenied) else ""
            self._state.failing(error, hint, wait_s)
            return _Wait(wait_s, wait_s)
        if self._stopped.is_set() and not self._exists:
            return _Wait(0.0)  # the question was dropped unanswered: nothing is known
        if not self._exists:
            return _Wait(self._nothing_there())
        self._state.ok()
        return None if found else _Wait(self._idle_wait())

    async def _unless_stopped(self, asking: Coroutine[object, object, bool]) -> bool:
        """Await a question that takes nothing from the queue; a stop ends it unanswered.

        A receive is never dropped so: its answer holds messages.
        """
        question = asyncio.ensure_future(asking)
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({question, stopped}, return_when=asyncio.FIRST_COMPLETED)
            return await question if question.done() else False
        finally:
            question.cancel()
            stopped.cancel()

    def _taken(self, messages: Sequence[QueueMessage], asked_at: float) -> None:
        """Send what an answer held on its way."""
        answered_at = self._clock.monotonic()
        leases = [self._lifecycle.lease(message, asked_at) for message in messages]
        self._lifecycle.together(leases)
        for lease in leases:
            self._begin(lease)
        if messages:
            self._found_since_wait = True
            self.active_at = answered_at
            self._traffic.found += 1
            self._traffic.wait_s = 0.0
        else:
            self._traffic.empty += 1
        if self._tells_polls:
            self._sink.emit(
                PollFinished(
                    function=self.function,
                    queue=self.queue.name,
                    found=len(messages),
                    took_s=answered_at - asked_at,
                )
            )

    def _begin(self, lease: Lease) -> None:
        if self._stopped.is_set() or (self._guard is not None and self._guard.open):
            self._in_hand.hand_back(lease)
        else:
            self._in_hand.begin(lease)

    def _breaker_moved(self, state: State) -> None:
        """Ask for nothing while it is open, and for one message at a time while it probes."""
        if state is State.OPEN:
            self.pause(BROKEN)
        else:
            self._probing.limit = 1 if state is State.PROBING else NO_LIMIT
            self.resume(BROKEN)
        self._changed()

    def _message_ran(self) -> None:
        self._receiving.consider()

    def _message_ended(self) -> None:
        self.active_at = self._clock.monotonic()
        self._receiving.consider()
        self._changed()

    def _nothing_there(self) -> float:
        self._exists = False
        self._traffic.missing += 1
        wait_s = self._idle_wait()
        self._state.missing(wait_s)
        return wait_s

    def _idle_wait(self) -> float:
        found, self._found_since_wait = self._found_since_wait, False
        self._traffic.wait_s = wait_s = self._backoff.next(found=found)
        return wait_s

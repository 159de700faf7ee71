"""The poll loop of one function.

Owns the slots, the waits and the requests for messages; hands each message to its lifecycle and
never looks inside. State is touched by the loop's own thread alone. Source: QueueListener of the
storage extension; where that one stops for good on an error, this one says so once, waits and
tries again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Protocol

from qtrigger.backoff import PollBackoff
from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied, QueueError, QueueMissing, QueueUnavailable
from qtrigger.events import EventSink, PollFinished
from qtrigger.lease import Lease
from qtrigger.project.model import FunctionDefinition
from qtrigger.queue_state import MISSING, OK, QueueState
from qtrigger.queues.client import QueueClient, QueueMessage

# While polls fail, wake-ups hasten them to one in this time at most.
FAULT_PAUSE_S = 1.0


class Lifecycle(Protocol):
    """What a listener needs of the way of its messages."""

    @property
    def lease_s(self) -> float:
        """How long a message is hidden when it is received."""

    def lease(self, message: QueueMessage, received_at: float) -> Lease:
        """Take hold of a received message."""

    async def process(self, lease: Lease, function_ended: Callable[[], None]) -> None:
        """Run the function and settle; call `function_ended` once, before settling."""

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that is not to be started."""


class _Slot:
    """Room for one running function; given back once, however often `free` is called."""

    __slots__ = ("_freed", "_taken")

    def __init__(self, freed: Callable[[], None]) -> None:
        self._freed = freed
        self._taken = True

    def free(self) -> None:
        if self._taken:
            self._taken = False
            self._freed()


@dataclass(frozen=True, slots=True)
class _Wait:
    """The time to the next poll; no wake-up ends its first `held_s` seconds, only a stop does."""

    s: float
    held_s: float = 0.0


class Listener:
    """Polls one function's queue and starts what it finds.

    At most `batchSize + newBatchThreshold` messages are in processing: a batch is asked for only
    when there is room for all of it, and while no more than `batchSize` are being settled.
    `changed` is called after each poll and each message's end.
    """

    def __init__(
        self,
        function: FunctionDefinition,
        *,
        queue: QueueClient,
        lifecycle: Lifecycle,
        backoff: PollBackoff,
        clock: Clock,
        sink: EventSink,
        changed: Callable[[], None],
    ) -> None:
        self.function = function.name
        self.queue = queue
        self._options = function.options
        self._lifecycle = lifecycle
        self._backoff = backoff
        self._clock = clock
        self._sink = sink
        self._changed = changed
        self._stopped = asyncio.Event()
        self._exists = False
        self._found_since_wait = False
        self._processing = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._message_moved = asyncio.Event()
        self._state = QueueState(function.name, queue.name, sink)
        self.stranded = 0
        self.polled = asyncio.Event()
        self.active_at = clock.monotonic()

    @property
    def state(self) -> str:
        """What is known of the queue; see `queue_state`."""
        return self._state.now

    @property
    def running(self) -> int:
        """Messages in processing: their functions have not ended."""
        return self._processing

    @property
    def unsettled(self) -> int:
        """Messages in processing or being settled."""
        return len(self._tasks)

    @property
    def seen_empty(self) -> bool:
        """Whether nothing is left to do: the last poll found nothing, or there are none now."""
        if not self._resumed.is_set():
            return not self._tasks
        return self.state in (OK, MISSING) and not self._tasks and not self._found_since_wait

    def wake(self) -> None:
        """Poll again now instead of after the rest of the back-off."""
        self._woken.set()

    def pause(self) -> None:
        """Poll no more until `resume`; what is in processing goes on."""
        self._resumed.clear()

    def resume(self) -> bool:
        """Poll again after a pause, now; says whether there was one."""
        was_paused = not self._resumed.is_set()
        if was_paused:
            self._resumed.set()
            self._woken.set()
        return was_paused

    def stop_polling(self) -> None:
        """Ask for no more messages; what is in processing goes on."""
        self._stopped.set()
        self._resumed.set()
        self._woken.set()
        self._message_moved.set()

    async def run(self) -> None:
        """Poll until told to stop; messages may still be on their way then, see `settled`."""
        while not self._stopped.is_set():
            # A wake-up that comes while a poll is under way ends the wait after it.
            self._woken.clear()
            wait = await self._poll()
            self.polled.set()
            self._changed()
            if wait is None:
                await self._wait_for_room()
            else:
                if wait.held_s:
                    await self._clock.wait(self._stopped, wait.held_s)
                await self._clock.wait(self._woken, wait.s - wait.held_s)
            await self._resumed.wait()

    async def settled(self) -> None:
        """Wait until every message taken so far has reached its end."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def cancel(self) -> None:
        """Give up on what is still unsettled: handed back if the service takes it at once.

        `stranded` counts the messages that it did not take; they come back when their leases end.
        """
        for task in self._tasks:
            task.cancel()

    async def _poll(self) -> _Wait | None:
        """Ask once. Return the wait before the next poll, or None when messages were found."""
        try:
            if not self._exists:
                self._exists = await self._unless_stopped(self.queue.exists())
            found = await self._receive() if self._exists and not self._stopped.is_set() else 0
        except QueueMissing:
            return _Wait(self._nothing_there())
        except QueueUnavailable as error:
            self._exists = False
            wait_s = max(self._idle_wait(), error.retry_after_s or 0.0)
            self._state.unavailable(error, wait_s)
            return _Wait(wait_s, min(max(FAULT_PAUSE_S, error.retry_after_s or 0.0), wait_s))
        except QueueError as error:
            self._exists = False
            wait_s = self._backoff.give_up()
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

    async def _receive(self) -> int:
        asked_at = self._clock.monotonic()
        messages = await self.queue.receive(self._options.batch_size, self._lifecycle.lease_s)
        answered_at = self._clock.monotonic()
        for message in messages:
            self._begin(self._lifecycle.lease(message, asked_at))
        if messages:
            self._found_since_wait = True
            self.active_at = answered_at
        self._sink.emit(
            PollFinished(
                function=self.function,
                queue=self.queue.name,
                found=len(messages),
                took_s=answered_at - asked_at,
            )
        )
        return len(messages)

    def _begin(self, lease: Lease) -> None:
        if self._stopped.is_set():
            self._own(self._lifecycle.hand_back(lease), lease)
            return
        slot = _Slot(self._slot_freed)
        self._processing += 1
        self._own(self._lifecycle.process(lease, slot.free), lease, slot)

    def _own(
        self, end: Coroutine[object, object, None], lease: Lease, slot: _Slot | None = None
    ) -> None:
        task = asyncio.ensure_future(end)
        task.set_name(f"{self.function} {lease.message.id}")
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, lease, slot))

    def _slot_freed(self) -> None:
        self._processing -= 1
        self._message_moved.set()

    def _ended(self, task: asyncio.Task[None], lease: Lease, slot: _Slot | None) -> None:
        """Tidy up after a message, also when its task was cancelled or hit a defect of ours."""
        lease.let_go()
        if slot is not None:
            slot.free()
        if task.cancelled() and not lease.settled:
            self.stranded += 1
        self._tasks.discard(task)
        self.active_at = self._clock.monotonic()
        self._message_moved.set()
        self._changed()
        if not task.cancelled() and (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"{task.get_name()} ended by a defect", "exception": error}
            )

    async def _wait_for_room(self) -> None:
        options = self._options
        while not self._stopped.is_set() and (
            self._processing > options.new_batch_threshold
            or len(self._tasks) - self._processing > options.batch_size
        ):
            self._message_moved.clear()
            await self._message_moved.wait()

    def _nothing_there(self) -> float:
        self._exists = False
        wait_s = self._idle_wait()
        self._state.missing(wait_s)
        return wait_s

    def _idle_wait(self) -> float:
        found, self._found_since_wait = self._found_since_wait, False
        return self._backoff.next(found=found)

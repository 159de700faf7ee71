"""The messages of one function that were taken and have not reached their ends.

Owns the slots and the tasks in which lifecycles run; asks for no messages and knows no queue.
State is touched by the loop's own thread alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Protocol

from qtrigger.background import tell_defect
from qtrigger.bounds import Bounds
from qtrigger.lease import Lease
from qtrigger.project.model import QueueOptions
from qtrigger.queues.client import QueueMessage


class Lifecycle(Protocol):
    """What a listener needs of the way of its messages."""

    @property
    def lease_s(self) -> float:
        """How long a message is hidden when it is received."""

    def lease(self, message: QueueMessage, received_at: float) -> Lease:
        """Take hold of a received message."""

    def together(self, leases: Sequence[Lease]) -> None:
        """These came by one answer, and are about to be processed, in that order."""

    async def process(self, lease: Lease, function_ended: Callable[[], None]) -> None:
        """Run the function and settle; call `function_ended` once, before settling."""

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that is not to be started."""

    def stop_retrying(self) -> None:
        """Begin no more retries within a receipt; what waits for one is released."""


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


class InHand:
    """What one listener has in hand.

    `freed` is called when a message's function has ended, `ended` after the message's own end.

    `bounds` hear of each message's begin and end. `stranded` counts the messages that were given
    up and not handed back: they come back when their leases end.
    """

    def __init__(
        self,
        function: str,
        *,
        lifecycle: Lifecycle,
        options: QueueOptions,
        freed: Callable[[], None],
        ended: Callable[[], None],
        bounds: Bounds | None = None,
    ) -> None:
        self.stranded = 0
        self._bounds = bounds
        self._most_settled = options.concurrency
        self._function = function
        self._lifecycle = lifecycle
        self._options = options
        self._freed = freed
        self._ended = ended
        self._processing = 0
        self._asked = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._moved = asyncio.Event()

    @property
    def running(self) -> int:
        """Messages in processing: their functions have not ended."""
        return self._processing

    @property
    def unsettled(self) -> int:
        """Messages in processing or being settled."""
        return len(self._tasks)

    def begin(self, lease: Lease) -> None:
        """Send a message on its way."""
        freed = self._slot_freed if self._bounds is None else self._bounded(lease.message.id)
        slot = _Slot(freed)
        self._processing += 1
        self._own(self._lifecycle.process(lease, slot.free), lease, slot)

    def hand_back(self, lease: Lease) -> None:
        """Release a message that came too late to be started."""
        self._own(self._lifecycle.hand_back(lease), lease)

    def hold_up(self, most: int) -> None:
        """Let so many messages more be in settlement: they may be held up there on purpose."""
        self._most_settled += most

    def asked(self, count: int) -> None:
        """A request for so many messages is made: their places are taken; `answered` is due."""
        self._asked += count

    def answered(self, count: int) -> None:
        """It was answered, or given up; what came has begun."""
        self._asked -= count
        self._moved.set()

    @property
    def places(self) -> int:
        """How many messages may be asked for now, beside those that were asked for already.

        0 while more are being settled than may be in processing: the service is slow then.
        """
        if len(self._tasks) - self._processing > self._most_settled:
            return 0
        return self._options.concurrency - self._processing - self._asked

    async def room(self, stopped: asyncio.Event) -> None:
        """Wait until a whole batch may be asked for, or until told to stop; see `wake`."""
        while not stopped.is_set() and self.places < self._options.batch_size:
            self._moved.clear()
            await self._moved.wait()

    async def calm(self) -> None:
        """Wait until nothing is being settled; what is in processing may go on."""
        while len(self._tasks) > self._processing:
            self._moved.clear()
            await self._moved.wait()

    def wake(self) -> None:
        """Let who waits for room look again."""
        self._moved.set()

    async def settled(self) -> None:
        """Wait until every message taken so far has reached its end."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def cancel(self) -> None:
        """Give up on what is still unsettled: handed back if the service takes it at once."""
        for task in self._tasks:
            task.cancel()

    def _own(
        self, end: Coroutine[object, object, None], lease: Lease, slot: _Slot | None = None
    ) -> None:
        task = asyncio.create_task(end, name=f"{self._function} {lease.message.id}")
        self._tasks.add(task)
        task.add_done_callback(partial(self._tidy, lease, slot))

    def _bounded(self, message_id: str) -> Callable[[], None]:
        """Tell the bounds that a message begins; what is returned tells them that it ended."""
        assert self._bounds is not None
        self._bounds.begun(message_id)
        return partial(self._bounded_freed, self._bounds, message_id)

    def _bounded_freed(self, bounds: Bounds, message_id: str) -> None:
        bounds.ended(message_id)
        self._slot_freed()

    def _slot_freed(self) -> None:
        self._processing -= 1
        self._moved.set()
        self._freed()

    def _tidy(self, lease: Lease, slot: _Slot | None, task: asyncio.Task[None]) -> None:
        """Tidy up after a message, also when its task was cancelled or hit a defect of ours."""
        tell_defect(task)
        if not lease.over:
            lease.let_go()
        if slot is not None:
            slot.free()
        if task.cancelled() and not lease.settled:
            self.stranded += 1
        self._tasks.discard(task)
        self._moved.set()
        self._ended()

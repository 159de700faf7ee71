"""How many messages are asked for at once, and when by two requests.

Owns the requests for messages and the places that they take; what comes is handed on, and when to
poll is not its concern. State is touched by the loop's own thread alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from qtrigger.background import begin
from qtrigger.bounds import Bounds
from qtrigger.clock import Clock
from qtrigger.errors import QueueError
from qtrigger.in_hand import InHand
from qtrigger.queues.client import QueueClient, QueueMessage

# A request that is answered sooner needs none beside it, which would have fewer messages.
QUICK_S = 0.002

Taken = Callable[[Sequence[QueueMessage], float], None]
"""Takes what an answer held, and the moment before its request, on the monotonic clock."""


class Receiving:
    """The requests of one listener: batches of `batch_size`, and less beside them.

    While answers are full and take their time, a second request goes beside a batch for the rest
    of the room, if that is half a batch at least. Where room for a batch takes longer than a
    request, as with all but the shortest runs, requests are not what holds up the work: it has
    whole batches then, one after the other, as the reference has.

    Where there are `bounds`, each batch has its `turn` first, and asks for what they allow.
    """

    def __init__(
        self,
        function: str,
        *,
        queue: QueueClient,
        batch_size: int,
        lease_s: float,
        in_hand: InHand,
        clock: Clock,
        taken: Taken,
        bounds: Bounds | None = None,
    ) -> None:
        self._function = function
        self._queue = queue
        self._batch_size = batch_size
        self._lease_s = lease_s
        self._in_hand = in_hand
        self._clock = clock
        self._taken = taken
        self._bounds = bounds
        # How many the next batch asks for: less than `batch_size` by the leave of the bounds.
        self._count = batch_size
        self._held = False
        self._beside: asyncio.Task[None] | None = None
        self._beside_found = 0
        # While the listener waits for something else, the next batch has its room already.
        self._at_it = False
        self._full = False
        self._took_s = 0.0
        self._room_took_s = 0.0
        self._room_since: float | None = None

    @property
    def asks_beside(self) -> bool:
        """Whether a request is under way that is no batch's."""
        return self._beside is not None

    async def room(self, stopped: asyncio.Event) -> None:
        """Wait until a whole batch may be asked for, or until told to stop."""
        self._room_since = since = self._clock.monotonic()
        self._at_it = True
        try:
            await self._in_hand.room(stopped)
        finally:
            self._at_it = False
        self._room_took_s = self._clock.monotonic() - since
        self._room_since = None

    async def turn(self, stopped: asyncio.Event, resumed: asyncio.Event) -> None:
        """Wait until the bounds allow a request, and reserve it; `batch` or `pass_on` is due.

        Ends without one when `stopped`; `hold` is called when either event has changed.
        """
        if self._bounds is not None:
            self._count = await self._bounds.turn(
                self._batch_size, stopped=stopped, resumed=resumed
            )

    def pass_on(self) -> None:
        """Give back what is reserved, where no request was made."""
        if self._bounds is not None and self._count:
            self._answered(self._count, 0)
            self._count = 0

    async def batch(self) -> int:
        """Ask for a batch; how many came. Raises the `QueueError` family."""
        count, found = self._count, 0
        if self._bounds is not None:
            self._count = 0
        self._in_hand.asked(count)
        self._at_it = True
        self.consider()
        try:
            found = await self._receive(count)
            return found
        finally:
            self._at_it = False
            self._in_hand.answered(count)
            self._answered(count, found)

    def consider(self) -> None:
        """Ask for more beside a batch, or while one has no room yet, if that is worth it."""
        if self._beside is not None or not self._full or self._held or not self._at_it:
            return
        if self._took_s < QUICK_S or self._took_s < self._room_takes_s:
            return
        places = self._in_hand.places
        if places * 2 < self._batch_size:
            return
        count = min(places, self._batch_size)
        if self._bounds is not None:
            count = self._bounds.take(count, least=max((self._batch_size + 1) // 2, 2))
            if not count:
                return
        # Now, and not when the task begins: the next batch may be asked for before it does.
        self._in_hand.asked(count)
        self._beside = begin(self._receive_beside(count), name=f"{self._function} beside")
        self._beside.add_done_callback(lambda _task: self._beside_ended(count))

    def hold(self) -> None:
        """Begin no more requests beside a batch, until `go_on`."""
        self._held = True
        if self._bounds is not None:
            self._bounds.wake()

    def go_on(self) -> None:
        """Begin them again."""
        self._held = False

    def cancel(self) -> None:
        """Give up the request that is under way beside a batch; its messages stay hidden."""
        if self._beside is not None:
            self._beside.cancel()

    async def ended(self) -> None:
        """Wait for the request beside a batch: its answer may hold messages."""
        if self._beside is not None:
            await asyncio.wait([self._beside])

    async def _receive_beside(self, count: int) -> None:
        # The request that it goes beside meets the same, and tells.
        with contextlib.suppress(QueueError):
            self._beside_found = await self._receive(count)

    def _beside_ended(self, count: int) -> None:
        self._beside = None
        self._in_hand.answered(count)
        found, self._beside_found = self._beside_found, 0
        self._answered(count, found)
        self.consider()

    def _answered(self, count: int, found: int) -> None:
        if self._bounds is not None:
            self._bounds.answered(count, found)

    async def _receive(self, count: int) -> int:
        asked_at = self._clock.monotonic()
        try:
            messages = await self._queue.receive(count, self._lease_s)
        except BaseException:
            # A defect too: what has just failed at once is not begun again at once.
            self._full = False
            raise
        self._took_s = self._clock.monotonic() - asked_at
        self._full = len(messages) == count
        self._taken(messages, asked_at)
        return len(messages)

    @property
    def _room_takes_s(self) -> float:
        """How long a batch has waited for its room: the last one, or the next one so far."""
        if self._room_since is None:
            return self._room_took_s
        return max(self._room_took_s, self._clock.monotonic() - self._room_since)

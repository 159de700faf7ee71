"""Keeps one message ours while its function runs.

Owns the current pop receipt, which no other object may hold, because every renewal replaces it.
Knows nothing of outcomes; it hides, releases and deletes on request, and says when the message
is no longer ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from qtrigger.background import begin
from qtrigger.backoff import RenewalPacing
from qtrigger.clock import Clock
from qtrigger.errors import (
    LeaseLostError,
    QtriggerError,
    QueueError,
    QueueMissing,
    QueueUnavailable,
)
from qtrigger.overdue import Overdue
from qtrigger.queues.client import REQUEST_TIMEOUT_S, QueueClient, QueueMessage
from qtrigger.queues.encoding import BASE64, encode

T = TypeVar("T")

# The service's times are whole seconds, and a request takes a while to get there.
LIFE_SLACK_S = 2.0
# A text for the next try that could not be written waits no longer than this for another time.
CHECKPOINT_AGAIN_S = 5.0


class LeaseWatcher(Protocol):
    """Who wants to hear how a lease goes."""

    def renewed(self, message: QueueMessage, lease_s: float) -> None:
        """The message is ours for `lease_s` seconds more."""

    def not_renewed(self, message: QueueMessage, error: QueueError) -> None:
        """A renewal failed and will be tried again."""

    def lost(self, message: QueueMessage, reason: str) -> None:
        """The message is no longer ours."""

    def not_kept(self, message: QueueMessage, why: str) -> None:
        """A text that its run left for the next try was not written, and will not be."""


class Lease:
    """The right to one message, from its receipt to its end.

    `expires_at` is the moment, on the monotonic clock, until which the message is surely hidden
    from others: counted from before the request, so it is never too late. `settled` says that
    the service has taken a delete or a release; `loss` is set once `lost` is true.

    The service refuses to hide a message beyond its expiry, other than by a receive; so the last
    renewal is for what is left of its life.

    A text for the next try goes with a renewal, which then comes at once; so there is one update at
    a time, each with the receipt of the one before. `message` has the newest text, written or not.
    """

    # Of the class as long as no run leaves a text: most never do.
    latest: bytes | None = None
    _unwritten: str | None = None

    def __init__(
        self,
        queue: QueueClient,
        message: QueueMessage,
        *,
        lease_s: float,
        received_at: float,
        clock: Clock,
        renewals: Overdue,
        encoding: str = BASE64,
    ) -> None:
        self.message = message
        self._encoding = encoding
        self.expires_at = received_at + _whole(lease_s)
        # From the service's own times alone: our clock may be wrong by hours.
        after_lease = message.expires - message.next_visible
        self._ends_at = self.expires_at + after_lease.total_seconds() - LIFE_SLACK_S
        self.lost_because = ""
        self._queue = queue
        self._receipt = message.pop_receipt
        self._lease_s = _whole(lease_s)
        self._clock = clock
        self._pacing = RenewalPacing(self._lease_s)
        self._renewals = renewals
        self._renewal: asyncio.Task[None] | None = None
        self._watcher: LeaseWatcher | None = None
        self._over = False
        self.settled = False
        self.loss = asyncio.Event()

    @property
    def lost(self) -> bool:
        """Whether the service has said that the message is no longer ours."""
        return bool(self.lost_because)

    @property
    def over(self) -> bool:
        """Whether settling has begun, or the lease was let go: it is renewed no more."""
        return self._over

    @property
    def _left_s(self) -> float:
        return self.expires_at - self._clock.monotonic()

    @property
    def _has_time(self) -> bool:
        """Whether a request's own limit comes before the one that the lease sets to it."""
        return self._pacing.limit(self._left_s) >= REQUEST_TIMEOUT_S

    @property
    def _life_s(self) -> float:
        """How long the message may surely be hidden from now on."""
        return max(float(int(self._ends_at - self._clock.monotonic())), 0.0)

    def keep(self, watcher: LeaseWatcher) -> None:
        """Begin to renew, and tell `watcher` how it goes."""
        self._watcher = watcher
        received_at = self.expires_at - self._lease_s
        self._schedule(received_at + self._pacing.next(renewed=True), watcher)

    def checkpoint(self, body: bytes) -> None:
        """Leave another body for the next try; see `NextTry`."""
        watcher = self._watcher
        if watcher is None:
            raise RuntimeError("a lease that nobody keeps has no run")
        why = self.lost_because or ("its run has ended" if self._over else "")
        if not why:
            try:
                text = encode(body, self._encoding)
            except QtriggerError as error:
                why = str(error)
        if why:
            watcher.not_kept(self.message, why)
            return
        self.latest, self._unwritten = body, text
        self.message = replace(self.message, text=text)
        if self._renewal is None or self._renewal.done():
            self._renew_now(watcher)

    async def delete(self) -> None:
        """Remove the message for good. Raises the `QueueError` family; may be called again."""
        self.let_go()
        if self._renewal is not None:
            await self._stop_renewing()
        delete = self._queue.delete(self.message.id, self._receipt)
        # Said here as well, for the many that have never been renewed and have all their time.
        await (delete if self._has_time else self._in_time(delete, "delete"))
        self.settled = True

    async def release(self, after_s: float, text: str | None = None) -> None:
        """Let the message be seen again in `after_s` seconds, with another text if one is given.

        Else with the one that its run left, if that could not be written yet. Raises the
        `QueueError` family; may be called again.
        """
        await self._stop_renewing()
        hidden_s = min(after_s, self._life_s)
        text = self._unwritten if text is None else text
        release = self._queue.update(self.message.id, self._receipt, hidden_s, text)
        receipt = await self._in_time(release, "release the message")
        self._receipt = receipt.pop_receipt
        self.settled = True

    def let_go(self) -> None:
        """Renew no more; unless it was settled, the message comes back when the lease ends."""
        self._over = True
        self._renewals.remove(self)

    def _schedule_in(self, delay_s: float, watcher: LeaseWatcher) -> None:
        self._schedule(self._clock.monotonic() + max(delay_s, 0.0), watcher)

    def _schedule(self, due_at: float, watcher: LeaseWatcher) -> None:
        if self._over or self.expires_at + 1.0 > self._ends_at:
            return  # settled, or hidden to the end of its life
        self._renewals.add(self, due_at, partial(self._begin_renewal, watcher))

    def _renew_now(self, watcher: LeaseWatcher) -> None:
        self._renewals.remove(self)
        self._begin_renewal(watcher)

    def _begin_renewal(self, watcher: LeaseWatcher) -> None:
        self._renewal = begin(self._renew(watcher), name=f"renew {self.message.id}")

    async def _renew(self, watcher: LeaseWatcher) -> None:
        asked_at = self._clock.monotonic()
        hidden_s = min(self._lease_s, self._life_s)
        if not hidden_s:
            return  # it is about to expire; an update would only show it
        text = self._unwritten
        try:
            renewal = self._queue.update(self.message.id, self._receipt, hidden_s, text)
            receipt = await self._in_time(renewal, "renew the lease")
        except (LeaseLostError, QueueMissing) as error:
            self.lost_because = str(error)
            self.loss.set()
            watcher.lost(self.message, self.lost_because)
            if text is not None:
                watcher.not_kept(self.message, self.lost_because)
            return
        except QueueError as error:
            # Whatever went wrong, a later try may still come in time.
            pause_s = self._pacing.next(renewed=False, left_s=self._left_s)
            if text is not None:
                pause_s = min(pause_s, CHECKPOINT_AGAIN_S)
                self._after_refusal(text, error, watcher)
            self._schedule_in(pause_s, watcher)
            watcher.not_renewed(self.message, error)
            return
        self._receipt = receipt.pop_receipt
        self.expires_at = asked_at + hidden_s
        if text is not None and self._unwritten is text:
            self._unwritten = None
        if self._unwritten is None or self._over:
            self._schedule_in(self._pacing.next(renewed=True), watcher)
        else:
            self._renew_now(watcher)
        watcher.renewed(self.message, hidden_s)

    def _after_refusal(self, text: str, error: QueueError, watcher: LeaseWatcher) -> None:
        """A text that is refused must not cost the lease: it is not tried again."""
        if not isinstance(error, QueueUnavailable) and self._unwritten is text:
            self._unwritten = None
            watcher.not_kept(self.message, str(error))

    async def _in_time(self, request: Awaitable[T], words: str) -> T:
        """Await a request; one that hangs must leave time for another before the lease ends."""
        if self._has_time:
            return await request
        limit_s = self._pacing.limit(self._left_s)
        try:
            async with self._clock.timeout(limit_s):
                return await request
        except TimeoutError:
            text = f"{self._queue.address} did not answer within {limit_s:g} s (tried to {words})"
            raise QueueUnavailable(text, code="TimedOut") from None

    async def _stop_renewing(self) -> None:
        """Cancel the next renewal and wait for one under way: its answer holds our receipt."""
        self.let_go()
        if self._renewal is not None and not self._renewal.done():
            await asyncio.wait([self._renewal])


def _whole(lease_s: float) -> float:
    """The lease as the service keeps it: it knows whole seconds only, and cuts the rest."""
    return float(int(lease_s))

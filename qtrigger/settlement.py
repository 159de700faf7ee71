"""Carries out what becomes of a message, thinly.

Owns the order of the requests for a disposition, and how they are repeated. Decides nothing; knows
no functions and no workers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import assert_never

from qtrigger.backoff import doubling
from qtrigger.clock import Clock
from qtrigger.dispositions import (
    Abandon,
    Ack,
    Disposition,
    Drop,
    Poison,
    Release,
    Retry,
    TriesPolicy,
    varied,
)
from qtrigger.errors import LeaseLostError, QueueError, QueueMissing, QueueUnavailable
from qtrigger.lease import Lease
from qtrigger.poison_copies import PoisonCopies
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient, QueueMessage
from qtrigger.refusals import Foresight
from qtrigger.wakeups import Wakeups

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
NOT_FOUND = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How carrying out went: `error` is None when the service took it.

    `gone` says why the message was no longer ours when we came to settle it; `copied` that it was
    now copied to the poison queue, and `perhaps_twice` that there may be two: the answer
    to the first was lost, so that nobody can know. `copy_id` is the id that the copy has there.
    """

    error: QueueError | None = None
    gone: str = ""
    copied: bool = False
    perhaps_twice: bool = False
    copy_id: str = ""


_AS_WANTED = Settled()


@dataclass(slots=True)
class _Copy:
    """Whether a poison copy was made, noted at once: what comes after it may fail."""

    made: bool = False
    unsure: bool = False
    id: str = ""

    def settled(self, error: QueueError | None = None, gone: str = "") -> Settled:
        """How carrying out went, with what is known of the copy."""
        return Settled(
            error=error,
            gone=gone,
            copied=self.made,
            perhaps_twice=self.unsure,
            copy_id=self.id,
        )


class Settlement:
    """Carries dispositions out on one queue, and its poison queue where there is one.

    `foresight` looks, at the first failed try, whether the poison queue could be had;
    `poison_ttl_s` is how long a message stays there.
    """

    def __init__(
        self,
        *,
        poison: QueueClient | None,
        clock: Clock,
        wakeups: Wakeups,
        foresight: Foresight | None = None,
        poison_ttl_s: float = NEVER_EXPIRES_S,
        random: Random | None = None,
    ) -> None:
        self.poison = poison
        self._foresight = foresight
        self._random = random or Random()  # noqa: S311  # spreads pauses, guards nothing
        self._clock = clock
        self._wakeups = wakeups
        self._copies: PoisonCopies | None = None
        if poison is not None:
            self._copies = PoisonCopies(poison, wakeups, ttl_s=poison_ttl_s)

    def varied(self, disposition: Disposition, policy: TriesPolicy) -> Disposition:
        """See `varied`: by this one's own random numbers."""
        return varied(disposition, policy, self._random)

    async def carry_out(self, disposition: Disposition, lease: Lease) -> Settled:
        """Do it, trying again as long as the lease lasts; never raises a `QueueError`."""
        copy = _Copy()
        try:
            match disposition:
                case Ack():
                    await self._persist(lease.delete, lease)
                case Retry(after_s=after_s) | Release(after_s=after_s):
                    await self._persist(lambda: lease.release(after_s), lease, releases=True)
                case Poison():
                    await self._move_to_poison(lease, copy)
                case Abandon() | Drop():
                    lease.let_go()
                case _:
                    assert_never(disposition)
        except (LeaseLostError, QueueMissing) as error:
            # Somebody else has it, or it is gone: nothing is left to do, and nothing is wrong.
            return copy.settled(gone=str(error))
        except QueueError as error:
            return copy.settled(error)
        if isinstance(disposition, Retry) and self._foresight is not None:
            await self._foresight.look()
        return copy.settled() if copy.made else _AS_WANTED

    def has_copied(self, message: QueueMessage) -> bool:
        """Whether it is in the poison queue already, and only its delete is still due."""
        return self._copies is not None and self._copies.has(message)

    def hasten(self, queue: QueueClient) -> None:
        """Have the queue polled now: a message that was released there need not wait."""
        self._wakeups.wake(queue.address)

    async def _move_to_poison(self, lease: Lease, copy: _Copy) -> None:
        """Copy first, delete afterwards: a crash in between duplicates, and never loses."""
        copies, message = self._copies, lease.message
        if copies is None:
            lease.let_go()
            return
        if not copies.has(message):
            await self._persist(lambda: copies.make(message), lease)
            copy.made, copy.unsure = True, copies.perhaps_twice(message)
            copy.id = copies.id_of(message)
        await self._persist(lease.delete, lease)
        copies.forget(message)

    async def _persist(
        self, request: Callable[[], Awaitable[None]], lease: Lease, *, releases: bool = False
    ) -> None:
        """Repeat a request through passing faults, for as long as the message stays ours."""
        pauses: Iterator[float] | None = None
        while True:
            try:
                await request()
            except QueueUnavailable as error:
                pauses = pauses or doubling(FIRST_PAUSE_S, LONGEST_PAUSE_S)
                pause_s = next(pauses)
                left_s = lease.expires_at - self._clock.monotonic()
                if left_s <= FIRST_PAUSE_S:
                    raise
                # However long the pause, and the one the service wishes, a try is left in time.
                await self._clock.sleep(min(max(pause_s, error.retry_after_s or 0.0), left_s / 2))
            except LeaseLostError as error:
                if pauses and (releases or error.status == NOT_FOUND):
                    # The request before was carried out after all, and only its answer was lost;
                    # a message that was released may be with the next already.
                    return
                raise
            else:
                return

"""What happens to a message after its run: decided purely, carried out thinly.

Owns the table from outcome to disposition and the order of the requests that carry one out.
Every message ends in exactly one disposition. Knows no functions and no workers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import assert_never

from qtrigger.backoff import doubling
from qtrigger.clock import Clock
from qtrigger.errors import LeaseLostError, QueueError, QueueMissing, QueueUnavailable
from qtrigger.invocation import (
    Failed,
    Interrupted,
    LeaseLost,
    Outcome,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.lease import Lease
from qtrigger.poison_copies import PoisonCopies
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient, QueueMessage
from qtrigger.refusals import Foresight
from qtrigger.wakeups import Wakeups

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
NOT_FOUND = 404
LONGEST_VISIBILITY_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TriesPolicy:
    """How tries are counted and spaced.

    `pauses_s` are the pauses after the first, second … failed try; the last one repeats. `jitter`
    is the part of a pause by which it may be varied. Of a message's tries `unfailed` are known not
    to have failed: they move it to no later pause.
    """

    max_dequeue_count: int
    pauses_s: tuple[float, ...]
    has_poison_queue: bool
    jitter: float = 0.0
    unfailed: int = 0

    @classmethod
    def of(cls, function: FunctionDefinition, *, has_poison_queue: bool) -> TriesPolicy:
        """The policy that a function's options mean: retryDelays goes before visibilityTimeout."""
        own = function.own
        return cls(
            max_dequeue_count=function.options.max_dequeue_count,
            pauses_s=own.retry_delays_s or (function.options.visibility_timeout_s,),
            has_poison_queue=has_poison_queue,
            jitter=own.retry_jitter if own.retry_delays_s else 0.0,
        )

    def pause_after(self, dequeue_count: int) -> float:
        """Return the pause after the try with that dequeue count (from 1)."""
        failed = max(dequeue_count - self.unfailed, 1)
        return self.pauses_s[min(failed, len(self.pauses_s)) - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """Delete it: done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Make it visible again after `after_s` seconds: the try failed."""

    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison:
    """Move it to the poison queue; `reason` is tries, undecodable or rejected."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Make it visible again after `after_s` seconds: no try failed."""

    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandon:
    """Leave it hidden until its lease ends: it failed, and has no poison queue to go to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Do nothing: it is no longer ours."""


Disposition = Ack | Retry | Poison | Release | Abandon | Drop


def decide(outcome: Outcome, dequeue_count: int, policy: TriesPolicy) -> Disposition:
    """Return what becomes of a message whose run had that outcome.

    Source: QueueProcessor.CompleteProcessingMessageAsync of the storage extension; without a
    poison queue a failed message is left alone there, whatever `visibilityTimeout` says, and
    here it is released after that time when there is one.
    """
    match outcome:
        case Succeeded():
            return Ack()
        case Interrupted() | WorkerLost(alone=False):
            return Release(after_s=0.0)
        case Failed() | TimedOut() | WorkerLost():
            return _after_failure(dequeue_count, policy)
        case LeaseLost():
            return Drop()
        case Postponed(delay_s=delay_s):
            return Release(after_s=delay_s)
        case Rejected():
            return Poison(reason="rejected") if policy.has_poison_queue else Abandon()
        case _:
            assert_never(outcome)


def varied(disposition: Disposition, policy: TriesPolicy, random: Random) -> Disposition:
    """Return it with the pause of a failed try varied by the policy's jitter, if that has one.

    In whole seconds, which is all that the service keeps, from 0 to the 7 days that it takes.
    """
    if not policy.jitter or not isinstance(disposition, Retry):
        return disposition
    least_s, most_s = spread_of(disposition.after_s, policy.jitter)
    return Retry(after_s=float(round(random.uniform(least_s, most_s))))


def spread_of(pause_s: float, jitter: float) -> tuple[float, float]:
    """Return the least and the longest of a pause that is varied by that part of itself."""
    most_s = min(pause_s * (1 + jitter), LONGEST_VISIBILITY_S)
    return min(max(pause_s * (1 - jitter), 0.0), most_s), most_s


def _after_failure(dequeue_count: int, policy: TriesPolicy) -> Disposition:
    if policy.has_poison_queue:
        if dequeue_count >= policy.max_dequeue_count:
            return Poison(reason="tries")
        return Retry(after_s=policy.pause_after(dequeue_count))
    pause_s = policy.pause_after(dequeue_count)
    return Retry(after_s=pause_s) if pause_s > 0 else Abandon()


def refused_on_arrival(dequeue_count: int, policy: TriesPolicy) -> bool:
    """Whether a message has used up its tries before this one and must not run.

    That happens when hosts died during its last tries. Where there is no poison queue it runs,
    whatever the count.
    """
    return policy.has_poison_queue and dequeue_count > policy.max_dequeue_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How carrying out went: `error` is None when the service took it.

    `gone` says why the message was no longer ours when we came to settle it; `copied` that it was
    now copied to the poison queue, and `perhaps_twice` that there may be two: the answer
    to the first was lost, so that nobody can know.
    """

    error: QueueError | None = None
    gone: str = ""
    copied: bool = False
    perhaps_twice: bool = False


_AS_WANTED = Settled()


@dataclass(slots=True)
class _Copy:
    """Whether a poison copy was made, noted at once: what comes after it may fail."""

    made: bool = False
    unsure: bool = False


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
            return Settled(gone=str(error), copied=copy.made, perhaps_twice=copy.unsure)
        except QueueError as error:
            return Settled(error=error, copied=copy.made, perhaps_twice=copy.unsure)
        if isinstance(disposition, Retry) and self._foresight is not None:
            await self._foresight.look()
        if not copy.made:
            return _AS_WANTED
        return Settled(copied=True, perhaps_twice=copy.unsure)

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

"""What becomes of a message after its run, as a value: decided purely.

Owns the table from outcome to disposition, and how tries are counted and spaced. Every message ends
in exactly one disposition; who carries it out is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import assert_never

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
from qtrigger.project.model import FunctionDefinition

# The service takes no more.
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

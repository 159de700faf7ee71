"""Ends one function's messages: after a run, or without one.

Owns what follows a message's fate: decide, settle, remember the try, tell. How it got there, its
lease and its run, is the lifecycle's concern.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from qtrigger.clock import Clock
from qtrigger.dispositions import (
    Abandon,
    Ack,
    Disposition,
    Poison,
    Release,
    Retry,
    TriesPolicy,
    decide,
)
from qtrigger.errors import QueueError
from qtrigger.guard import Guard
from qtrigger.invocation import (
    Interrupted,
    Invocation,
    LeaseLost,
    Outcome,
    Rejected,
    TimedOut,
    WorkerLost,
)
from qtrigger.lease import Lease
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.client import QueueClient
from qtrigger.remarks import Remarks
from qtrigger.reports import MessageReports
from qtrigger.retrying import Ended
from qtrigger.settlement import Settled, Settlement
from qtrigger.tries import Seen, TriesSeen
from qtrigger.usual import UsualTime

RELEASE_TIMEOUT_S = 2.0  # for a message whose way is cut short


class Endings:
    """The named ends of every message of one function.

    `usual` learns how long runs take that succeed, and `remarks` what is odd about a pause.
    """

    def __init__(
        self,
        function: FunctionDefinition,
        *,
        queue: QueueClient,
        settlement: Settlement,
        tries: TriesSeen,
        clock: Clock,
        reports: MessageReports,
        usual: UsualTime,
        remarks: Remarks,
    ) -> None:
        self.guard: Guard | None = None
        self._queue = queue
        self._settlement = settlement
        self._tries = tries
        self._clock = clock
        self._reports = reports
        self._usual = usual
        self._remarks = remarks
        # Delays are meant as what they are.
        self._remarks_on_pauses = not function.own.retry_delays_s
        has_poison = settlement.poison is not None
        self._policy = TriesPolicy.of(function, has_poison_queue=has_poison)

    def policy_for(self, seen: Seen) -> TriesPolicy:
        """The policy with a message's own limit: excused tries do not count towards it."""
        if not (seen.excused or seen.unfailed):
            return self._policy
        limit = self._policy.max_dequeue_count + seen.excused
        unfailed = max(seen.excused, seen.unfailed)
        return replace(self._policy, max_dequeue_count=limit, unfailed=unfailed)

    async def after_run(
        self,
        lease: Lease,
        policy: TriesPolicy,
        invocation: Invocation,
        ended: Ended,
        waited_s: float,
    ) -> None:
        """End a message whose function has run, or was kept from it by what `ended` says."""
        if lease.lost and not isinstance(ended.outcome, Interrupted):
            ended = replace(ended, outcome=LeaseLost())
        outcome = ended.outcome
        guard = self.guard
        if guard is not None:
            # A try before may have been spared while this one ran.
            policy = self.policy_for(self._tries.of(lease.message.id))
        disposition = decide(outcome, lease.message.dequeue_count, policy)
        if guard is not None:
            disposition = await guard.judge(lease, outcome, disposition)
        if isinstance(disposition, Ack):
            self._usual.succeeded(ended.duration_s)
        else:
            disposition = self._settlement.varied(disposition, policy)
        settled = await self._settle_run(lease, invocation.id, outcome, disposition)
        self._reports.finished(
            invocation,
            lease.message,
            ended=ended,
            disposition=disposition,
            settled=settled,
            max_dequeue_count=policy.max_dequeue_count,
            waited_s=waited_s,
        )
        if isinstance(disposition, Ack):
            return
        if isinstance(disposition, Retry) and self._remarks_on_pauses:
            self._remarks.pause(disposition.after_s)
        if isinstance(disposition, Poison) and settled.copied:
            detail = outcome.reason if isinstance(outcome, Rejected) else ""
            self._reports.poisoned(
                lease.message,
                settled,
                disposition.reason,
                detail,
                invocation.id,
                policy.max_dequeue_count,
                outcome,
            )
        if isinstance(outcome, (Interrupted, TimedOut, WorkerLost)) and not lease.lost:
            # The message did not choose its pause; the back-off may be far into its waits.
            self._settlement.hasten(self._queue)

    async def refuse(
        self,
        lease: Lease,
        policy: TriesPolicy,
        reason: str,
        detail: str,
        invocation_id: str = "",
    ) -> None:
        """End a message that never runs; without a poison queue it is left alone."""
        has_poison = self._settlement.poison is not None
        settled = await self._settle(lease, Poison(reason=reason) if has_poison else Abandon())
        if settled.copied or not has_poison:
            limit = policy.max_dequeue_count
            self._reports.poisoned(lease.message, settled, reason, detail, invocation_id, limit)

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that was received too late to be started; no try is held against it."""
        seen = self._tries.of(lease.message.id)
        self._tries.add(lease.message.id, seen.invocation_id, Interrupted())
        guard = self.guard
        by_breaker = guard is not None and guard.open
        after_s = guard.away_s if guard is not None and by_breaker else 0.0
        await self._settle(lease, Release(after_s=after_s))
        if lease.settled:
            self._reports.handed_back(lease.message, "breaker" if by_breaker else "stop")

    async def release_in_time(self, lease: Lease) -> None:
        """Hand a message back whose way is cut short, if the service lets us at once."""
        with contextlib.suppress(QueueError, TimeoutError):
            async with self._clock.timeout(RELEASE_TIMEOUT_S):
                await lease.release(0.0)
            self._reports.handed_back(lease.message)

    async def _settle_run(
        self, lease: Lease, invocation_id: str, outcome: Outcome, disposition: Disposition
    ) -> Settled:
        """Settle after a run, and remember the try of a message that comes back."""
        deletes = isinstance(disposition, Ack)
        if not deletes:
            # Before it is released: it may be received again at once.
            self._tries.add(lease.message.id, invocation_id, outcome)
        settled = await self._settle(lease, disposition)
        if deletes and settled.error is not None:
            self._tries.add(lease.message.id, invocation_id, outcome)
        return settled

    async def _settle(self, lease: Lease, disposition: Disposition) -> Settled:
        settled = await self._settlement.carry_out(disposition, lease)
        self._reports.settled(lease, disposition, settled)
        if settled.error is None and isinstance(disposition, (Ack, Poison)):
            self._tries.forget(lease.message.id)
        return settled

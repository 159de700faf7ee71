"""Takes one received message to its named end.

Owns the order of things: refuse, decode, lease, run, write outputs, decide, settle, tell. It
polls nothing and counts no slots; it says when the function has ended, so that whoever does can
give the slot to another message while this one is still being settled.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

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
    refused_on_arrival,
)
from qtrigger.errors import QueueError
from qtrigger.guard import Guard
from qtrigger.ids import new_id
from qtrigger.intake import trigger_message, undecodable_text
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
from qtrigger.overdue import Overdue
from qtrigger.project.model import FunctionDefinition, HostConfig
from qtrigger.queues.client import QueueClient, QueueMessage
from qtrigger.queues.encoding import BodyUndecodable
from qtrigger.remarks import Remarks
from qtrigger.reports import MessageReports, tries_used_up
from qtrigger.retrying import Ended, MessageRuns
from qtrigger.settlement import Settled, Settlement
from qtrigger.tries import Seen, TriesSeen
from qtrigger.turns import Turns
from qtrigger.usual import UsualTime

RELEASE_TIMEOUT_S = 2.0  # for a message whose way is cut short


class MessageLifecycle:
    """The way of every message of one function."""

    def __init__(
        self,
        function: FunctionDefinition,
        *,
        queue: QueueClient,
        retrying: MessageRuns,
        settlement: Settlement,
        tries: TriesSeen,
        config: HostConfig,
        clock: Clock,
        reports: MessageReports,
    ) -> None:
        self.lease_s = config.lease_s
        self._function = function
        self._queue = queue
        self._retrying = retrying
        self._settlement = settlement
        self._function_timeout_s = config.function_timeout_s
        self._clock = clock
        self._tries = tries
        self._guard: Guard | None = None
        self._usual = UsualTime(clock, function.own.slow_run_after_s, reports.where)
        self._renewals = Overdue(clock)
        has_poison = settlement.poison is not None
        self._policy = TriesPolicy.of(function, has_poison_queue=has_poison)
        self._reports = reports
        self._remarks = Remarks(function.name, reports.sink)
        # Delays are meant as what they are.
        self._remarks_on_pauses = not function.own.retry_delays_s
        place = function.own.order_by
        self._turns = Turns(place, self._remarks.without_order) if place else None

    def guarded_by(self, guard: Guard) -> None:
        """Have a circuit breaker look at each end; before the first message."""
        self._guard = guard

    def stop_retrying(self) -> None:
        """Begin no more retries within a receipt; what waits for one, or its turn, is released."""
        self._retrying.stop()
        if self._turns is not None:
            self._turns.stop()
        if self._guard is not None:
            self._guard.stop()

    def lease(self, message: QueueMessage, received_at: float) -> Lease:
        """Take hold of a received message; `received_at` is from before the request."""
        return Lease(
            self._queue,
            message,
            lease_s=self.lease_s,
            received_at=received_at,
            clock=self._clock,
            renewals=self._renewals,
            encoding=self._function.options.message_encoding,
        )

    def together(self, leases: Sequence[Lease]) -> None:
        """These came by one answer, and are about to be processed: each goes its own way."""

    async def process(
        self, lease: Lease, function_ended: Callable[[], None], invocation_id: str = ""
    ) -> None:
        """Run the function on the message and settle it; never raises a `QueueError`.

        The run has that id where one is given.
        """
        lease.keep(self._reports)
        try:
            await self._process(lease, function_ended, invocation_id)
        except asyncio.CancelledError:
            if not lease.over:
                await self._release_in_time(lease)
            raise
        except Exception as error:
            self._reports.defect(lease.message, error)
            raise

    async def _process(
        self, lease: Lease, function_ended: Callable[[], None], invocation_id: str
    ) -> None:
        message = lease.message
        seen = self._tries.of(message.id)
        policy = self._policy_for(seen)
        let_pass = self._guard.tries_let_pass if self._guard is not None else 0
        used_up = refused_on_arrival(message.dequeue_count - let_pass, policy)
        if used_up or self._settlement.has_copied(message):
            function_ended()
            detail = tries_used_up(message, seen)
            await self._refuse(lease, policy, "tries", detail, seen.invocation_id)
            return
        try:
            received = trigger_message(self._function, message)
        except BodyUndecodable as error:
            function_ended()
            detail = undecodable_text(self._function, error)
            await self._refuse(lease, policy, "undecodable", detail)
            return
        invocation = Invocation(
            id=invocation_id or new_id(),
            function=self._function.name,
            messages=(received,),
            max_dequeue_count=policy.max_dequeue_count,
            timeout_s=self._function_timeout_s,
            alone=seen.suspect,
            next_try=lease,
        )
        waited_s = max((self._clock.utcnow() - message.inserted).total_seconds(), 0.0)
        if self._turns is None:
            ended = await self._run(lease, invocation, function_ended)
        else:
            run = partial(self._run_in_turn, lease, invocation, function_ended)
            ended = await self._turns.run(received.body, lease.loss, run)
            function_ended()  # where it was never run
        await self._finish(lease, policy, invocation, ended, waited_s)

    def _policy_for(self, seen: Seen) -> TriesPolicy:
        """The policy with a message's own limit: excused tries do not count towards it."""
        if not (seen.excused or seen.unfailed):
            return self._policy
        limit = self._policy.max_dequeue_count + seen.excused
        unfailed = max(seen.excused, seen.unfailed)
        return replace(self._policy, max_dequeue_count=limit, unfailed=unfailed)

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that was received too late to be started; no try is held against it."""
        seen = self._tries.of(lease.message.id)
        self._tries.add(lease.message.id, seen.invocation_id, Interrupted())
        guard = self._guard
        by_breaker = guard is not None and guard.open
        after_s = guard.away_s if guard is not None and by_breaker else 0.0
        await self._settle(lease, Release(after_s=after_s))
        if lease.settled:
            self._reports.handed_back(lease.message, "breaker" if by_breaker else "stop")

    async def _release_in_time(self, lease: Lease) -> None:
        """Hand a message back whose way is cut short, if the service lets us at once."""
        with contextlib.suppress(QueueError, TimeoutError):
            async with self._clock.timeout(RELEASE_TIMEOUT_S):
                await lease.release(0.0)
            self._reports.handed_back(lease.message)

    async def _refuse(
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

    async def _run(
        self, lease: Lease, invocation: Invocation, function_ended: Callable[[], None]
    ) -> Ended:
        self._reports.started(invocation, lease.message)

        def late(for_s: float, usual_s: float, stack: str) -> None:
            self._reports.still_running(invocation, lease.message, for_s, usual_s, stack)

        try:
            return await self._retrying.run(
                invocation,
                lost=lease.loss,
                watching=partial(self._usual.watching, late, invocation.id),
                tell=partial(self._reports.retrying, invocation, lease.message),
            )
        finally:
            function_ended()

    async def _run_in_turn(
        self, lease: Lease, invocation: Invocation, function_ended: Callable[[], None]
    ) -> Ended:
        """Run it, unless the circuit breaker has opened while it waited for its turn."""
        if self._guard is not None and self._guard.open:
            return Ended(outcome=Interrupted(by="breaker"), duration_s=0.0)
        return await self._run(lease, invocation, function_ended)

    async def _finish(
        self,
        lease: Lease,
        policy: TriesPolicy,
        invocation: Invocation,
        ended: Ended,
        waited_s: float,
    ) -> None:
        if lease.lost and not isinstance(ended.outcome, Interrupted):
            ended = replace(ended, outcome=LeaseLost())
        outcome = ended.outcome
        guard = self._guard
        if guard is not None:
            # A try before may have been spared while this one ran.
            policy = self._policy_for(self._tries.of(lease.message.id))
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

"""Takes one received message to its named end.

Owns the order of things: refuse, decode, lease, run, end; what an end takes is `endings`. It
polls nothing and counts no slots; it says when the function has ended, so that whoever does can
give the slot to another message while this one is still being settled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from qtrigger.clock import Clock
from qtrigger.dispositions import TriesPolicy, refused_on_arrival
from qtrigger.endings import Endings
from qtrigger.guard import Guard
from qtrigger.ids import new_id
from qtrigger.intake import trigger_message, undecodable_text
from qtrigger.invocation import Interrupted, Invocation
from qtrigger.lease import Lease
from qtrigger.overdue import Overdue
from qtrigger.project.model import FunctionDefinition, HostConfig
from qtrigger.queues.client import QueueClient, QueueMessage
from qtrigger.queues.encoding import BodyUndecodable
from qtrigger.remarks import Remarks
from qtrigger.reports import MessageReports, tries_used_up
from qtrigger.retrying import Ended, MessageRuns
from qtrigger.settlement import Settlement
from qtrigger.tracing import BeginTrace
from qtrigger.tries import TriesSeen
from qtrigger.turns import Turns
from qtrigger.usual import UsualTime


class MessageLifecycle:
    """The way of every message of one function."""

    def __init__(  # noqa: PLR0913 - each is a seam of its own
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
        begin_trace: BeginTrace | None = None,
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
        # Messages that share a run share its trace, which is begun with the run.
        self._begin_trace = None if function.trigger.many else begin_trace
        self._reports = reports
        remarks = Remarks(function.name, reports.sink)
        place = function.own.order_by
        self._turns = Turns(place, remarks.without_order) if place else None
        self._endings = Endings(
            function,
            queue=queue,
            settlement=settlement,
            tries=tries,
            clock=clock,
            reports=reports,
            usual=self._usual,
            remarks=remarks,
        )

    def guarded_by(self, guard: Guard) -> None:
        """Have a circuit breaker look at each end; before the first message."""
        self._guard = self._endings.guard = guard

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

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that was received too late to be started."""
        await self._endings.hand_back(lease)

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
                await self._endings.release_in_time(lease)
            raise
        except Exception as error:
            self._reports.defect(lease.message, error)
            raise

    async def _process(
        self, lease: Lease, function_ended: Callable[[], None], invocation_id: str
    ) -> None:
        message = lease.message
        seen = self._tries.of(message.id)
        policy = self._endings.policy_for(seen)
        let_pass = self._guard.tries_let_pass if self._guard is not None else 0
        used_up = refused_on_arrival(message.dequeue_count - let_pass, policy)
        if used_up or self._settlement.has_copied(message):
            function_ended()
            detail = tries_used_up(message, seen)
            await self._endings.refuse(lease, policy, "tries", detail, seen.invocation_id)
            return
        try:
            received = trigger_message(self._function, message)
        except BodyUndecodable as error:
            function_ended()
            detail = undecodable_text(self._function, error)
            await self._endings.refuse(lease, policy, "undecodable", detail)
            return
        run_id = invocation_id or new_id()
        begin_trace = self._begin_trace
        trace = None if begin_trace is None else begin_trace(run_id, (received,))
        invocation = Invocation(
            id=run_id,
            function=self._function.name,
            messages=(received,),
            max_dequeue_count=policy.max_dequeue_count,
            timeout_s=self._function_timeout_s,
            alone=seen.suspect,
            next_try=lease,
            trace=trace,
        )
        try:
            await self._run_to_its_end(lease, policy, invocation, function_ended)
        finally:
            if trace is not None:
                trace.close()

    async def _run_to_its_end(
        self,
        lease: Lease,
        policy: TriesPolicy,
        invocation: Invocation,
        function_ended: Callable[[], None],
    ) -> None:
        message = lease.message
        waited_s = max((self._clock.utcnow() - message.inserted).total_seconds(), 0.0)
        if self._turns is None:
            ended = await self._run(lease, invocation, function_ended)
        else:
            run = partial(self._run_in_turn, lease, invocation, function_ended)
            ended = await self._turns.run(invocation.messages[0].body, lease.loss, run)
            function_ended()  # where it was never run
        await self._endings.after_run(lease, policy, invocation, ended, waited_s)

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

"""Takes one received message to its named end.

Owns the order of things: refuse, decode, lease, run, write outputs, decide, settle, tell. It
polls nothing and counts no slots; it says when the function has ended, so that whoever does can
give the slot to another message while this one is still being settled.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

from qtrigger.clock import Clock
from qtrigger.errors import QtriggerError
from qtrigger.events import (
    EventSink,
    InvocationFinished,
    InvocationStarted,
    LeaseEnded,
    LeaseRenewed,
    MessageHandedBack,
    MessagePoisoned,
    SettlementFailed,
)
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    LeaseLost,
    Outcome,
    Ran,
    Rejected,
    Succeeded,
    TriggerMessage,
)
from qtrigger.lease import Lease
from qtrigger.outputs import OutputError, OutputWriter
from qtrigger.project.binding_data import binding_data
from qtrigger.project.model import FunctionDefinition, HostConfig
from qtrigger.queues.client import QueueClient, QueueMessage
from qtrigger.queues.encoding import BodyUndecodable, decode
from qtrigger.settlement import (
    Abandon,
    Ack,
    Disposition,
    Drop,
    Poison,
    Release,
    Retry,
    Settled,
    Settlement,
    TriesPolicy,
    decide,
    refused_on_arrival,
)

Run = Callable[[Invocation], Awaitable[Ran]]


class MessageLifecycle:
    """The way of every message of one function."""

    def __init__(
        self,
        function: FunctionDefinition,
        *,
        queue: QueueClient,
        run: Run,
        outputs: OutputWriter,
        settlement: Settlement,
        config: HostConfig,
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._function = function
        self._queue = queue
        self._run = run
        self._outputs = outputs
        self._settlement = settlement
        self.lease_s = config.lease_s
        self._function_timeout_s = config.function_timeout_s
        self._clock = clock
        self._sink = sink
        self._policy = TriesPolicy(
            max_dequeue_count=function.options.max_dequeue_count,
            pauses_s=(function.options.visibility_timeout_s,),
            has_poison_queue=settlement.poison is not None,
        )

    def lease(self, message: QueueMessage, received_at: float) -> Lease:
        """Take hold of a received message; `received_at` is from before the request."""
        return Lease(
            self._queue, message, lease_s=self.lease_s, received_at=received_at, clock=self._clock
        )

    async def process(self, lease: Lease, function_ended: Callable[[], None]) -> None:
        """Run the function on the message and settle it; never raises a `QueueError`."""
        self._keep(lease)
        message = lease.message
        if refused_on_arrival(message.dequeue_count, self._policy):
            function_ended()
            await self._poison(
                lease, "tries", "used up its tries before; their results are not known here"
            )
            return
        try:
            body = decode(message.text, self._function.options.message_encoding)
        except BodyUndecodable as error:
            function_ended()
            encoding = self._function.options.message_encoding
            await self._poison(lease, "undecodable", f"messageEncoding is {encoding}, but {error}")
            return
        await self._invoke(lease, _trigger_message(message, body), function_ended)

    async def hand_back(self, lease: Lease) -> None:
        """Release a message that was received too late to be started."""
        settled = await self._settle(lease, Release(after_s=0.0))
        if settled.error is None:
            self._sink.emit(
                MessageHandedBack(
                    function=self._function.name,
                    queue=self._queue.name,
                    message_id=lease.message.id,
                )
            )

    def _keep(self, lease: Lease) -> None:
        function, queue, message_id = self._function.name, self._queue.name, lease.message.id

        def renewed() -> None:
            self._sink.emit(
                LeaseRenewed(
                    function=function, queue=queue, message_id=message_id, lease_s=self.lease_s
                )
            )

        def lost(reason: str) -> None:
            self._sink.emit(
                LeaseEnded(function=function, queue=queue, message_id=message_id, detail=reason)
            )

        lease.keep(renewed=renewed, lost=lost)

    async def _invoke(
        self, lease: Lease, message: TriggerMessage, function_ended: Callable[[], None]
    ) -> None:
        invocation = Invocation(
            id=str(uuid.uuid4()),
            function=self._function.name,
            messages=(message,),
            max_dequeue_count=self._policy.max_dequeue_count,
            timeout_s=self._function_timeout_s,
        )
        waited_s = max((self._clock.utcnow() - message.inserted).total_seconds(), 0.0)
        self._sink.emit(
            InvocationStarted(
                function=invocation.function,
                queue=self._queue.name,
                invocation_id=invocation.id,
                message_id=message.id,
                dequeue_count=message.dequeue_count,
            )
        )
        try:
            ran = await self._run(invocation)
            outcome = await self._with_outputs_written(ran.outcomes[0], message)
        finally:
            function_ended()
        await self._finish(lease, invocation, outcome, ran.duration_s, waited_s)

    async def _with_outputs_written(self, outcome: Outcome, message: TriggerMessage) -> Outcome:
        if not isinstance(outcome, Succeeded) or not outcome.outputs:
            return outcome
        try:
            await self._outputs.write(outcome.outputs, binding_data(message))
        except QtriggerError as error:
            kind = type(error).__name__ if isinstance(error, OutputError) else "OutputError"
            return Failed(error=ErrorDetail(type=kind, message=str(error)))
        return outcome

    async def _finish(
        self,
        lease: Lease,
        invocation: Invocation,
        outcome: Outcome,
        duration_s: float,
        waited_s: float,
    ) -> None:
        message = lease.message
        if lease.lost and not isinstance(outcome, Interrupted):
            outcome = LeaseLost()
        disposition = decide(outcome, message.dequeue_count, self._policy)
        settled = await self._settle(lease, disposition)
        self._sink.emit(
            InvocationFinished(
                function=self._function.name,
                queue=self._queue.name,
                invocation_id=invocation.id,
                message_id=message.id,
                dequeue_count=message.dequeue_count,
                max_dequeue_count=self._policy.max_dequeue_count,
                duration_s=duration_s,
                waited_s=waited_s,
                outcome=outcome,
                disposition=disposition_name(disposition),
                retry_after_s=_returns_after(disposition),
                settled=settled.error is None,
            )
        )
        if isinstance(disposition, Poison) and settled.error is None:
            detail = outcome.reason if isinstance(outcome, Rejected) else ""
            self._tell_poisoned(lease, disposition.reason, detail, invocation.id)

    async def _poison(self, lease: Lease, reason: str, detail: str) -> None:
        """End a message that never runs; without a poison queue it is left alone."""
        has_poison = self._settlement.poison is not None
        settled = await self._settle(lease, Poison(reason=reason) if has_poison else Abandon())
        if settled.error is None:
            self._tell_poisoned(lease, reason, detail, "")

    async def _settle(self, lease: Lease, disposition: Disposition) -> Settled:
        settled = await self._settlement.carry_out(disposition, lease)
        message_id = lease.message.id
        if settled.error is not None:
            self._sink.emit(
                SettlementFailed(
                    function=self._function.name,
                    queue=self._queue.name,
                    message_id=message_id,
                    disposition=disposition_name(disposition),
                    message=str(settled.error),
                    hint="The message comes back by itself when its lease ends.",
                )
            )
        elif settled.gone and not lease.lost:
            self._sink.emit(
                LeaseEnded(
                    function=self._function.name,
                    queue=self._queue.name,
                    message_id=message_id,
                    detail=f"{settled.gone} Another consumer has taken the message, or the "
                    "function itself updated or deleted it.",
                )
            )
        return settled

    def _tell_poisoned(self, lease: Lease, reason: str, detail: str, invocation_id: str) -> None:
        poison = self._settlement.poison
        self._sink.emit(
            MessagePoisoned(
                function=self._function.name,
                queue=self._queue.name,
                poison_queue=poison.name if poison else "",
                message_id=lease.message.id,
                invocation_id=invocation_id,
                dequeue_count=lease.message.dequeue_count,
                max_dequeue_count=self._policy.max_dequeue_count,
                reason=reason,
                detail=detail,
            )
        )


def disposition_name(disposition: Disposition) -> str:
    """Return the word for it in events and log lines."""
    names: dict[type[Disposition], str] = {
        Ack: "acked",
        Retry: "retried",
        Poison: "poisoned",
        Release: "released",
        Abandon: "abandoned",
        Drop: "dropped",
    }
    return names[type(disposition)]


def _returns_after(disposition: Disposition) -> float:
    return disposition.after_s if isinstance(disposition, Retry | Release) else 0.0


def _trigger_message(message: QueueMessage, body: bytes) -> TriggerMessage:
    return TriggerMessage(
        id=message.id,
        body=body,
        dequeue_count=message.dequeue_count,
        inserted=message.inserted,
        expires=message.expires,
        next_visible=message.next_visible,
        pop_receipt=message.pop_receipt,
    )

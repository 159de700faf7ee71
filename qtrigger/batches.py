"""Lets the messages of one answer run together, where a function takes lists.

Each message keeps its own way: it is refused, decoded, leased, settled and told of alone. Owns the
run that they share, and its outputs; a message that drops out before keeps no other waiting. It
asks for no messages and settles none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Final

from qtrigger.ids import new_id
from qtrigger.invocation import Invocation, Outcome, Succeeded, Trace, WorkerLost
from qtrigger.lease import Lease
from qtrigger.lifecycle import MessageLifecycle
from qtrigger.queues.client import QueueMessage
from qtrigger.retrying import Ended, Pending, Retrying
from qtrigger.tracing import BeginTrace
from qtrigger.tries import TriesSeen

# What became of the messages of a list is told of each, and of the run as a whole only this.
BY_MESSAGE: Final = "by message"

Watching = Callable[[], AbstractContextManager[None]]


class Batch:
    """The messages of one answer, by their ids; `ended` is called once nobody needs it any more."""

    def __init__(self, messages: Sequence[str], ended: Callable[[Batch], None]) -> None:
        self.id = new_id()
        self.trace: Trace | None = None
        self._in_hand = set(messages)
        self._due = set(messages)
        self._ended = ended
        self._arrived: dict[str, Invocation] = {}
        self._complete = asyncio.Event()
        self._run: asyncio.Task[Mapping[str, Ended]] | None = None

    def leave(self, message: str) -> None:
        """That message needs no run, or none any more."""
        self._arrived.pop(message, None)
        self._no_more_due(message)
        if self._due or self._arrived:
            return
        if self._run is not None:
            self._run.cancel()
        self._ended(self)

    def done(self, message: str) -> None:
        """That message has reached its end; the trace of the run ends with the last of them."""
        self._in_hand.discard(message)
        if self.trace is not None and not self._in_hand:
            self.trace.close()

    async def run(
        self,
        invocation: Invocation,
        together: Callable[[Sequence[Invocation]], asyncio.Task[Mapping[str, Ended]]],
    ) -> Ended:
        """Wait for the others, and for the end of the run with them, which one of them begins."""
        (message,) = invocation.messages
        self._arrived[message.id] = invocation
        self._no_more_due(message.id)
        await self._complete.wait()
        if self._run is None:
            self._run = together(tuple(self._arrived.values()))
        # The others need it, though this one be given up.
        return (await asyncio.shield(self._run))[message.id]

    def _no_more_due(self, message: str) -> None:
        self._due.discard(message)
        if not self._due:
            self._complete.set()


class Batches:
    """The runs of one function that takes lists; what belongs to no batch is a list of one.

    `retrying` has no policy for such a function: what failed comes back by the queue.
    """

    def __init__(self, retrying: Retrying, begin_trace: BeginTrace | None = None) -> None:
        self._retrying = retrying
        self._begin_trace = begin_trace
        self._open: dict[str, Batch] = {}

    def stop(self) -> None:
        """See `Retrying`."""
        self._retrying.stop()

    def begin(self, messages: Sequence[str]) -> Batch:
        """These are to run together; each of them must arrive by `run`, or leave."""
        batch = Batch(messages, self._ended)
        self._open[batch.id] = batch
        return batch

    async def run(
        self,
        invocation: Invocation,
        *,
        lost: asyncio.Event,
        watching: Watching,
        tell: Callable[[Pending], None],
    ) -> Ended:
        """See `Retrying`: the end of this message in the run of its batch."""
        batch = self._open.get(invocation.id)
        if batch is None:
            return await self._run_alone(invocation, lost, watching, tell)
        return await batch.run(invocation, partial(self._begin_run, batch, watching))

    async def _run_alone(
        self,
        invocation: Invocation,
        lost: asyncio.Event,
        watching: Watching,
        tell: Callable[[Pending], None],
    ) -> Ended:
        begin_trace = self._begin_trace
        if begin_trace is None:
            return await self._retrying.run(invocation, lost=lost, watching=watching, tell=tell)
        trace = begin_trace(invocation.id, invocation.messages)
        invocation = replace(invocation, trace=trace)
        try:
            ended = await self._retrying.run(invocation, lost=lost, watching=watching, tell=tell)
            trace.ended(ended.outcome, BY_MESSAGE)
            return ended
        finally:
            trace.close()

    def _ended(self, batch: Batch) -> None:
        self._open.pop(batch.id, None)

    def _begin_run(
        self, batch: Batch, watching: Watching, invocations: Sequence[Invocation]
    ) -> asyncio.Task[Mapping[str, Ended]]:
        first = invocations[0]
        return asyncio.create_task(
            self._run_together(batch, watching, invocations), name=f"{first.function} {first.id}"
        )

    async def _run_together(
        self, batch: Batch, watching: Watching, invocations: Sequence[Invocation]
    ) -> Mapping[str, Ended]:
        messages = tuple(message for each in invocations for message in each.messages)
        if self._begin_trace is not None:
            batch.trace = self._begin_trace(batch.id, messages)
        # Made anew: what else an invocation carries is one message's.
        whole = Invocation(
            id=invocations[0].id,
            function=invocations[0].function,
            messages=messages,
            max_dequeue_count=min(each.max_dequeue_count for each in invocations),
            timeout_s=invocations[0].timeout_s,
            trace=batch.trace,
        )
        ends = await self._retrying.run_together(whole, watching)
        if batch.trace is not None:
            _tell_end(batch.trace, ends)
        return {
            message.id: replace(ended, outcome=_shared(ended.outcome, len(ends)))
            for message, ended in zip(whole.messages, ends, strict=True)
        }


class BatchLifecycle:
    """The way of every message of a function that takes lists: `lifecycle`'s, but for the run.

    A suspect belongs to no batch: its next run is alone, and shows whether it was the cause.
    """

    def __init__(self, lifecycle: MessageLifecycle, batches: Batches, tries: TriesSeen) -> None:
        self._lifecycle = lifecycle
        self._batches = batches
        self._tries = tries
        self._batch_of: dict[Lease, Batch] = {}

    @property
    def lease_s(self) -> float:
        """See `Lifecycle`."""
        return self._lifecycle.lease_s

    def lease(self, message: QueueMessage, received_at: float) -> Lease:
        """See `Lifecycle`."""
        return self._lifecycle.lease(message, received_at)

    def together(self, leases: Sequence[Lease]) -> None:
        """See `Lifecycle`: they run together, as far as they come to it."""
        members = [each for each in leases if not self._tries.of(each.message.id).suspect]
        if not members:
            return
        batch = self._batches.begin([each.message.id for each in members])
        self._batch_of.update((each, batch) for each in members)

    async def process(self, lease: Lease, function_ended: Callable[[], None]) -> None:
        """See `Lifecycle`."""
        batch = self._batch_of.pop(lease, None)
        if batch is None:
            await self._lifecycle.process(lease, function_ended)
            return
        message_id = lease.message.id

        def ended() -> None:
            batch.leave(message_id)
            function_ended()

        try:
            await self._lifecycle.process(lease, ended, batch.id)
        finally:
            batch.leave(message_id)
            batch.done(message_id)

    async def hand_back(self, lease: Lease) -> None:
        """See `Lifecycle`."""
        batch = self._batch_of.pop(lease, None)
        if batch is not None:
            batch.leave(lease.message.id)
            batch.done(lease.message.id)
        await self._lifecycle.hand_back(lease)

    def stop_retrying(self) -> None:
        """See `Lifecycle`."""
        self._lifecycle.stop_retrying()


def _tell_end(trace: Trace, ends: Sequence[Ended]) -> None:
    """As the first that did not succeed, since the run is one; each message has its own line."""
    outcomes = [each.outcome for each in ends]
    worst = next((each for each in outcomes if not isinstance(each, Succeeded)), outcomes[0])
    trace.ended(worst, BY_MESSAGE)


def _shared(outcome: Outcome, messages: int) -> Outcome:
    """A worker's end under several messages is laid to none of them; each runs alone next."""
    if messages > 1 and isinstance(outcome, WorkerLost):
        return replace(outcome, alone=False)
    return outcome

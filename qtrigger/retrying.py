"""Carries out a function's retry policy: further runs within one receipt of a message.

Owns what one run is, outputs included, how often there is another, after which waits, and what
ends them early. It knows no queue and no worker. Source: the retry loop of the WebJobs SDK's
FunctionExecutor, with its waits; a receipt is one try, however many runs it took.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import count, repeat
from random import Random
from typing import Any, Protocol

from qtrigger.backoff import PollBackoff
from qtrigger.clock import Clock
from qtrigger.errors import QtriggerError
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    LeaseLost,
    Outcome,
    Ran,
    Retrial,
    Succeeded,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.outputs import OutputWriter
from qtrigger.project.binding_data import binding_data
from qtrigger.project.model import RetryPolicy
from qtrigger.trace_context import TraceContext
from qtrigger.values import value

Failure = Failed | TimedOut | WorkerLost


@value(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the last run ended, how long it took, and how many runs there were before it."""

    outcome: Outcome
    duration_s: float
    retries: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Pending:
    """A run has failed, and the retry with that number (from 1) comes after `after_s` seconds."""

    failure: Failure
    duration_s: float
    retry: int
    most: int
    after_s: float


Run = Callable[[Invocation], Awaitable[Ran]]
Due = Callable[[Invocation, asyncio.Event], Awaitable[bool]]
"""Waits until an invocation may run; False when the event, of a stop, was set first."""


class MessageRuns(Protocol):
    """What a message's lifecycle needs to have its function run."""

    def stop(self) -> None:
        """Begin no more retries; a message that waits for one is to be handed back."""

    async def run(
        self,
        invocation: Invocation,
        *,
        lost: asyncio.Event,
        watching: Callable[[], AbstractContextManager[None]],
        tell: Callable[[Pending], None],
    ) -> Ended:
        """Run it to its end; see `Retrying.run`."""


class Retrying:
    """The runs of one function; without a policy there is one for each message.

    Each waits until it is `due`, where that is given; nobody takes such a wait for a run.
    """

    def __init__(
        self,
        policy: RetryPolicy | None,
        *,
        run: Run,
        outputs: OutputWriter,
        clock: Clock,
        random: Random,
        due: Due | None = None,
    ) -> None:
        self._policy = policy
        self._run = run
        self._due = due
        self._outputs = outputs
        self._clock = clock
        self._random = random
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Begin no more retries; a message that waits for one is to be handed back."""
        self._stopped.set()

    def run(
        self,
        invocation: Invocation,
        *,
        lost: asyncio.Event,
        watching: Callable[[], AbstractContextManager[None]],
        tell: Callable[[Pending], None],
    ) -> Coroutine[Any, Any, Ended]:
        """Run until a run does not fail, the retries are used up, or something ends them.

        `lost` is set once the message is no longer ours; `watching` is around each run. All runs
        have the invocation's id; the one after the end of a worker asks to run alone.
        """
        if self._policy is None:
            return self._run_once(invocation, lost, watching)
        return self._run_by(self._policy, invocation, lost, watching, tell)

    async def _run_by(
        self,
        policy: RetryPolicy,
        invocation: Invocation,
        lost: asyncio.Event,
        watching: Callable[[], AbstractContextManager[None]],
        tell: Callable[[Pending], None],
    ) -> Ended:
        last: ErrorDetail | None = None
        waits = _waits(policy, self._random)
        for retry in count():
            retrial = Retrial(count=retry, most=policy.max_retries, error=last)
            again = replace(invocation, retry=retrial)
            ended = await self._run_once(again, lost, watching, retry)
            failure = _failure(ended.outcome)
            if failure is None or retry == policy.max_retries or lost.is_set():
                return ended
            pending = Pending(
                failure=failure,
                duration_s=ended.duration_s,
                retry=retry + 1,
                most=policy.max_retries,
                after_s=next(waits),
            )
            tell(pending)
            await self._pause(pending.after_s, lost)
            if self._stopped.is_set():
                return replace(ended, outcome=Interrupted())
            if lost.is_set():
                return ended
            if invocation.next_try is not None and invocation.next_try.latest is not None:
                invocation = _continued(invocation, invocation.next_try.latest)
            last = error_of(failure)
            if isinstance(failure, WorkerLost):
                invocation = replace(invocation, alone=True)
        raise AssertionError("unreachable")

    async def _run_once(
        self,
        invocation: Invocation,
        lost: asyncio.Event,
        watching: Callable[[], AbstractContextManager[None]],
        retries: int = 0,
    ) -> Ended:
        if self._due is not None:
            due = await self._due(invocation, self._stopped)
            if lost.is_set() or not due:
                never = LeaseLost() if due else Interrupted()
                return Ended(outcome=never, duration_s=0.0, retries=retries)
        with watching():
            ran = await self._run(invocation)
        outcome = ran.outcomes[0]
        if isinstance(outcome, Succeeded) and outcome.outputs:
            (message,) = invocation.messages
            outcome = await with_outputs_written(
                outcome, message, self._outputs, _context_of(invocation)
            )
        return Ended(outcome=outcome, duration_s=ran.duration_s, retries=retries)

    async def run_together(
        self, invocation: Invocation, watching: Callable[[], AbstractContextManager[None]]
    ) -> Sequence[Ended]:
        """Run once on all of its messages; the end of each, in their order.

        The outputs are the run's. Where they cannot be written, nothing has succeeded.
        """
        if self._due is not None and not await self._due(invocation, self._stopped):
            return [Ended(outcome=Interrupted(), duration_s=0.0) for _ in invocation.messages]
        with watching():
            ran = await self._run(invocation)
        outcomes = ran.outcomes
        done = (outcome for outcome in outcomes if isinstance(outcome, Succeeded))
        if outputs := [output for each in done for output in each.outputs]:
            try:
                await self._outputs.write(outputs, {}, _context_of(invocation))
            except QtriggerError as error:
                failed = Failed(error=ErrorDetail(type="OutputError", message=str(error)))
                outcomes = tuple(
                    failed if isinstance(each, Succeeded) else each for each in outcomes
                )
        return [Ended(outcome=outcome, duration_s=ran.duration_s) for outcome in outcomes]

    async def _pause(self, delay_s: float, lost: asyncio.Event) -> None:
        """Wait, unless the message is lost or we are stopping."""
        ends = {asyncio.ensure_future(event.wait()) for event in (lost, self._stopped)}
        try:
            async with self._clock.timeout(delay_s):
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            pass
        finally:
            for each in ends:
                each.cancel()


def _continued(invocation: Invocation, body: bytes) -> Invocation:
    """The next run gets what the one before left for it."""
    (message,) = invocation.messages
    return replace(invocation, messages=(replace(message, body=body),))


async def with_outputs_written(
    outcome: Outcome,
    message: TriggerMessage,
    outputs: OutputWriter,
    context: TraceContext | None = None,
) -> Outcome:
    """Write what a success gave; a success whose outputs cannot be written is a failure."""
    if not isinstance(outcome, Succeeded) or not outcome.outputs:
        return outcome
    try:
        await outputs.write(outcome.outputs, binding_data(message), context)
    except QtriggerError as error:
        return Failed(error=ErrorDetail(type="OutputError", message=str(error)))
    return outcome


def _context_of(invocation: Invocation) -> TraceContext | None:
    return None if invocation.trace is None else invocation.trace.context


def _failure(outcome: Outcome) -> Failure | None:
    """What the function is to blame for; not the end of a worker in which others ran as well."""
    shared = isinstance(outcome, WorkerLost) and not outcome.alone
    return outcome if isinstance(outcome, Failure) and not shared else None


def error_of(failure: Failure) -> ErrorDetail:
    """How a run failed, as the next one reads it in its retry context, and whoever is told."""
    match failure:
        case Failed(error=error):
            return error
        case TimedOut(after_s=after_s):
            text = f"timed out after {after_s:g} s (functionTimeout)"
            return ErrorDetail(type="TimedOut", message=text)
        case WorkerLost(how=how):
            return ErrorDetail(type="WorkerLost", message=f"the worker process ended: {how}")


def _waits(policy: RetryPolicy, random: Random) -> Iterator[float]:
    """Yield the waits before the retries: equal ones, or from the least on growing to the most.

    Source: RetryAttribute.GetNextDelay, which uses the same randomised growth as the polls.
    """
    if policy.minimum_s in (0.0, policy.maximum_s):
        yield from repeat(policy.minimum_s)
    growing = PollBackoff(policy.maximum_s, random, minimum_s=policy.minimum_s)
    while True:
        yield growing.next(found=False)

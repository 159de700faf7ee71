"""What events add up to: counters and histograms in a registry of their own.

Owns the way from an event to a number. Children are kept by function, so that a message costs a few
additions; what is read and not counted (queues, states, memory) is `measuring`'s. To be imported by
those alone who want metrics, for the library is not small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Final, TypeVar

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from qtrigger.events import (
    Event,
    InvocationFinished,
    LeaseEnded,
    LeaseRenewed,
    MessagePoisoned,
    Reloaded,
    ReloadRejected,
    RenewalFailed,
    RetryPending,
    WorkerEnded,
)
from qtrigger.invocation import Failed, Interrupted, LeaseLost, Succeeded
from qtrigger.telemetry import metric_table as table
from qtrigger.telemetry.error_types import ErrorTypes
from qtrigger.telemetry.metric_table import Metric
from qtrigger.telemetry.outcome_words import WORDS

# Those in which the function did not run, or not to an end of its own.
_CUT_SHORT: Final = (Interrupted, LeaseLost)

M = TypeVar("M", bound=MetricWrapperBase)


class Meters:
    """An event sink; `registry` has what it counts."""

    def __init__(self) -> None:
        # Of the library as a whole, and of this process alone: nobody needs to know since when.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._invocations = self._made(Counter, table.INVOCATIONS)
        self._retries = self._made(Counter, table.RETRIES)
        self._durations = self._made(partial(Histogram, buckets=table.BUCKETS), table.DURATION)
        self._waits = self._made(partial(Histogram, buckets=table.BUCKETS), table.WAIT)
        self._poisoned = self._made(Counter, table.POISONED)
        self._renewals = self._made(Counter, table.RENEWALS)
        self._lost = self._made(Counter, table.LEASES_LOST)
        self._restarts = self._made(Counter, table.WORKER_RESTARTS)
        self._reloads = self._made(Counter, table.RELOADS)
        self._functions: dict[str, _OfFunction] = {}
        self._gone: set[str] = set()
        for reason in table.RESTART_REASONS:
            self._restarts.labels(reason)
        for result in ("done", "rejected"):
            self._reloads.labels(result)

    def keep_only(self, functions: Collection[str]) -> None:
        """Count for these from 0 where they are new, and forget the others that there were.

        What of those still ends, on the code from before a reload, is no longer counted.
        """
        self._gone.difference_update(functions)
        for name in functions:
            self._of(name)
        for name in [each for each in self._functions if each not in functions]:
            self._functions.pop(name).forget()
            self._gone.add(name)

    def emit(self, event: Event) -> None:
        """Take one event."""
        # The commonest first, by far.
        if type(event) is InvocationFinished and (found := self._functions.get(event.function)):
            found.finished(event)
        elif getattr(event, "function", "") not in self._gone:
            self._count(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`: nothing is to be made for this that is not made anyway."""
        return kind is InvocationFinished

    def _count(self, event: Event) -> None:
        match event:
            case InvocationFinished():
                self._of(event.function).finished(event)
            case LeaseRenewed():
                self._of(event.function).renewed.inc()
            case RenewalFailed():
                self._of(event.function).not_renewed.inc()
            case LeaseEnded():
                self._of(event.function).lost.inc()
            case RetryPending():
                self._of(event.function).retries.inc()
            case MessagePoisoned() if event.poison_queue:
                self._of(event.function).poisoned(event.reason)
            case WorkerEnded() if event.retired or not event.expected:
                self._restarts.labels(_reason(event)).inc()
            case Reloaded():
                self._reloads.labels("done").inc()
            case ReloadRejected():
                self._reloads.labels("rejected").inc()
            case _:
                pass

    def _of(self, function: str) -> _OfFunction:
        found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = _OfFunction(
                function,
                invocations=self._invocations,
                durations=self._durations,
                waits=self._waits,
                retries=self._retries,
                poisoned=self._poisoned,
                renewals=self._renewals,
                lost=self._lost,
            )
        return found

    def _made(self, kind: partial[M] | type[M], metric: Metric) -> M:
        return kind(metric.name, metric.text, metric.labels, registry=self.registry)


class _OfFunction:
    """The children of one function."""

    def __init__(
        self,
        name: str,
        *,
        invocations: Counter,
        durations: Histogram,
        waits: Histogram,
        retries: Counter,
        poisoned: Counter,
        renewals: Counter,
        lost: Counter,
    ) -> None:
        self._name = name
        self._invocations = invocations
        self._poisoned = poisoned
        self._families = (invocations, durations, waits, retries, poisoned, renewals, lost)
        self._error_types = ErrorTypes()
        self._by_error: dict[str, Counter] = {}
        self._ended = {
            kind: invocations.labels(name, word, "")
            for kind, word in WORDS.items()
            if kind is not Failed
        }
        self._succeeded = self._ended[Succeeded]
        self._duration = durations.labels(name)
        self._wait = waits.labels(name)
        self.retries = retries.labels(name)
        self.renewed = renewals.labels(name, "renewed")
        self.not_renewed = renewals.labels(name, "failed")
        self.lost = lost.labels(name)
        for reason in table.REASONS:
            poisoned.labels(name, reason)

    def finished(self, event: InvocationFinished) -> None:
        outcome = event.outcome
        kind = type(outcome)
        if kind is Succeeded:
            self._succeeded.inc()
        elif isinstance(outcome, Failed):
            self._failed(outcome.error.type).inc()
        else:
            self._ended[kind].inc()
        if kind not in _CUT_SHORT:
            self._duration.observe(event.duration_s)
            if event.dequeue_count == 1:
                self._wait.observe(event.waited_s)

    def poisoned(self, reason: str) -> None:
        word = reason if reason in table.REASONS else table.OTHER
        self._poisoned.labels(self._name, word).inc()

    def forget(self) -> None:
        for family in self._families:
            family.remove_by_labels({"function": self._name})

    def _failed(self, error_type: str) -> Counter:
        """Of a kind of error; there are so many of them at most, whatever a function raises."""
        word = self._error_types.word(error_type)
        found = self._by_error.get(word)
        if found is None:
            found = self._by_error[word] = self._invocations.labels(self._name, "failed", word)
        return found


def _reason(event: WorkerEnded) -> str:
    """Why a worker ended, in one of a few words; see `how`."""
    if event.retired:
        return "timed_out"
    if not event.pid:
        return "not_started"
    words: Iterable[tuple[str, str]] = (("exit code", "exit"), ("signal", "signal"))
    return next((word for start, word in words if event.how.startswith(start)), table.OTHER)

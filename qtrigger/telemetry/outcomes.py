"""The words for how an invocation ended.

Owns the texts of the closed union of outcomes; adding an outcome fails the type check here until
it has words.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from qtrigger.events import InvocationFinished, RetryPending
from qtrigger.invocation import (
    Failed,
    Interrupted,
    LeaseLost,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)

# See `Interrupted.by`.
INTERRUPTED_BY = {
    "stop": "our stop",
    "neighbour": "the end of its worker, which another run has brought about",
    "load": "a worker that cannot load its function",
    "breaker": "the circuit breaker before it began",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """An invocation's end in words."""

    outcome: str
    tag: str
    level: int
    text: str
    details: str = ""
    error_fields: Mapping[str, object] = field(default_factory=dict)


def describe_outcome(event: InvocationFinished) -> Described:
    """Return the words for a finished invocation."""
    took = duration_text(event.duration_s)
    outcome = event.outcome
    if isinstance(outcome, Succeeded):  # by far the commonest, and mostly at the first try
        first = event.dequeue_count == 1 and not event.retries
        text = took if first else f"{_try(event)}  {took}"
        return Described(outcome="succeeded", tag="ok", level=logging.INFO, text=text)
    tries = _try(event)
    match outcome:
        case WorkerLost(alone=False):
            return Described(
                outcome="worker_lost",
                tag="back",
                level=logging.WARNING,
                text=f"{tries}  {took}  {_cause(outcome)}, with others running there; this try is "
                "not counted, and the next one runs alone",
            )
        case Failed() | TimedOut() | WorkerLost():
            return _failure(outcome, f"{_failed(event)}  {took}")
        case Interrupted() | LeaseLost() | Postponed() | Rejected():
            return _other(outcome, f"{tries}  {took}")
        case _:
            assert_never(outcome)


def describe_retry(event: RetryPending) -> Described:
    """Return the words for a run that failed and is followed by another within its receipt."""
    most = f" of {event.max_retries}" if event.max_retries >= 0 else ""
    when = f"in {duration_text(event.after_s)}" if event.after_s else "at once"
    tries = f"try {event.dequeue_count}/{event.max_dequeue_count}, retry {event.retry}{most} {when}"
    return _failure(event.outcome, f"{tries}  {duration_text(event.duration_s)}")


def _failure(outcome: Failed | TimedOut | WorkerLost, text: str) -> Described:
    if not isinstance(outcome, Failed):
        return Described(
            outcome="timed_out" if isinstance(outcome, TimedOut) else "worker_lost",
            tag="FAILED",
            level=logging.ERROR,
            text=f"{text}  {_cause(outcome)}",
        )
    error = outcome.error
    place = f"  ({error.place})" if error.place else ""
    return Described(
        outcome="failed",
        tag="FAILED",
        level=logging.ERROR,
        text=f"{text}  {error.type}: {error.message}{place}",
        details=error.traceback,
        error_fields={
            "error.type": error.type,
            "error.message": error.message,
            "error.place": error.place,
        },
    )


def _other(outcome: Interrupted | LeaseLost | Postponed | Rejected, text: str) -> Described:
    match outcome:
        case Interrupted(by=by):
            return Described(
                outcome="interrupted",
                tag="back",
                level=logging.INFO,
                text=f"{text}  interrupted by {INTERRUPTED_BY[by]} and handed back",
            )
        case LeaseLost():
            return Described(
                outcome="lease_lost",
                tag="LEASE",
                # The loss itself was told as a warning when it was found.
                level=logging.INFO,
                text=f"{text}  ended, but the message was no longer ours",
            )
        case Postponed(delay_s=delay_s):
            return Described(
                outcome="postponed",
                tag="later",
                level=logging.INFO,
                text=f"{text}  asked to come back in {duration_text(delay_s)}",
            )
        case Rejected(reason=reason):
            return Described(
                outcome="rejected",
                tag="REJECT",
                level=logging.WARNING,
                text=f"{text}  rejected: {reason}",
            )
        case _:
            assert_never(outcome)


def _cause(outcome: TimedOut | WorkerLost) -> str:
    if isinstance(outcome, TimedOut):
        return f"timed out after {duration_text(outcome.after_s)} (functionTimeout)"
    return f"its worker process {ended_text(outcome.how)}"


def ended_text(how: str) -> str:
    """Return the words for the end of a process, from how it ended."""
    if how.startswith("signal"):
        return f"was killed by {how}"
    return f"ended with {how}" if how.startswith("exit code") else f"ended: {how}"


def _failed(event: InvocationFinished) -> str:
    """Say which try failed, and what comes next when that is another try."""
    tries = _try(event)
    if not event.settled:
        return f"{tries}, again when its lease ends"
    if event.disposition == "retried":
        when = f"in {duration_text(event.retry_after_s)}" if event.retry_after_s else "at once"
        return f"{tries}, again {when}"
    if event.disposition == "poisoned":
        return f"{tries}, last try"
    if event.disposition == "abandoned":
        return f"{tries}, again when its lease ends"
    if event.disposition == "released":  # by an open circuit breaker alone
        return f"{tries}, not counted, again in {duration_text(event.retry_after_s)}"
    return tries


def _try(event: InvocationFinished) -> str:
    return f"try {event.dequeue_count}/{event.max_dequeue_count}{_after_retries(event)}"


def _after_retries(event: InvocationFinished) -> str:
    if not event.retries:
        return ""
    return f" after {event.retries} retr{'y' if event.retries == 1 else 'ies'}"


def duration_text(seconds: float) -> str:
    """Return a duration for people: `42 ms`, `1.5 s`, `2 min 5 s`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.00995 else f"{seconds * 1000:.0f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"

"""The word for each outcome, wherever programs read one: lines, metrics, spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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

WORDS: Final[Mapping[type[Outcome], str]] = {
    Succeeded: "succeeded",
    Failed: "failed",
    TimedOut: "timed_out",
    WorkerLost: "worker_lost",
    Interrupted: "interrupted",
    LeaseLost: "lease_lost",
    Postponed: "postponed",
    Rejected: "rejected",
}


def error_type(outcome: Outcome) -> str:
    """The kind of error: an exception's class, or the outcome's word; "" for what is no error."""
    match outcome:
        case Failed(error=error):
            return error.type
        case TimedOut() | WorkerLost():
            return WORDS[type(outcome)]
        case _:
            return ""

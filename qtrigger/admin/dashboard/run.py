"""A run as it is kept for the pages, and the words for how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from qtrigger.invocation import (
    ErrorDetail,
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
from qtrigger.retrying import error_of

SUCCEEDED: Final = "succeeded"
WORDS: Final[Mapping[type[Outcome], str]] = {
    Succeeded: SUCCEEDED,
    Failed: "failed",
    TimedOut: "timed out",
    WorkerLost: "worker lost",
    Interrupted: "interrupted",
    LeaseLost: "lease lost",
    Postponed: "postponed",
    Rejected: "rejected",
}
OUTCOMES: Final = tuple(WORDS.values())


@dataclass(slots=True)
class Texts:
    """What is said of a run besides figures; `left_out` when there was no room for it any more."""

    error_type: str = ""
    error_message: str = ""
    place: str = ""
    traceback: str = ""
    lines: tuple[str, ...] = ()
    left_out: bool = False

    @property
    def size(self) -> int:
        """How many characters that is."""
        own = len(self.error_type) + len(self.error_message) + len(self.traceback)
        return own + len(self.place) + sum(map(len, self.lines))

    def leave_out(self) -> None:
        """Keep the error's type alone."""
        self.error_message = self.place = self.traceback = ""
        self.lines, self.left_out = (), True


class Run(NamedTuple):
    """One message's run; `ended` is on the monotonic clock, `number` counts from 1 in order."""

    number: int
    ended: float
    invocation_id: str
    message_id: str
    dequeue_count: int
    max_dequeue_count: int
    duration_s: float
    outcome: str
    disposition: str
    texts: Texts | None


def run_object(run: Run, utc: Callable[[float], datetime]) -> Mapping[str, Any]:
    """A run as JSON has it; `utc` gives the time of the monotonic clock in UTC."""
    texts = run.texts or Texts()
    return {
        "number": run.number,
        "ended": utc(run.ended).isoformat(),
        "started": utc(run.ended - run.duration_s).isoformat(),
        "invocation_id": run.invocation_id,
        "message_id": run.message_id,
        "dequeue_count": run.dequeue_count,
        "max_dequeue_count": run.max_dequeue_count,
        "duration_s": run.duration_s,
        "outcome": run.outcome,
        "disposition": run.disposition,
        "error": {
            "type": texts.error_type,
            "message": texts.error_message,
            "place": texts.place,
            "traceback": texts.traceback,
        }
        if texts.error_type
        else None,
        "lines": list(texts.lines),
        "left_out": texts.left_out,
    }


def counts(outcome: Outcome) -> bool:
    """Whether that is a failure of the function's own."""
    kind = type(outcome)
    if kind is WorkerLost:
        return bool(getattr(outcome, "alone", False))
    return kind is Failed or kind is TimedOut


def said_of(outcome: Outcome) -> ErrorDetail:
    """What is said of it beside the word; the type is "" where nothing was raised."""
    match outcome:
        case Failed() | TimedOut() | WorkerLost():
            return error_of(outcome)
        case Rejected(reason=reason):
            return ErrorDetail(type="Rejected", message=reason)
        case Postponed(delay_s=delay_s):
            return ErrorDetail(type="", message=f"asked to come back in {delay_s:g} s")
        case _:
            return ErrorDetail(type="", message="")

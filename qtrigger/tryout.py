"""One run of one function by hand: no queue is polled and no message is settled.

Owns finding the function, making up the message that it gets, and what would have become of the
outputs and of the message. It knows neither terminals nor HTTP; the worker is given, started.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from qtrigger.dispositions import Disposition, TriesPolicy, decide
from qtrigger.errors import ProjectError, QtriggerError
from qtrigger.ids import new_id
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Invocation,
    Outcome,
    Retrial,
    Succeeded,
    TriggerMessage,
)
from qtrigger.outputs import OutputWriter, Planned
from qtrigger.project.binding_data import binding_data
from qtrigger.project.model import FunctionDefinition, Project, Severity
from qtrigger.workers.worker import Worker

EXPIRES_AFTER = timedelta(days=7)
NO_RECEIPT: Final = "invoked-by-hand"

# Azure's names for what comes with a message, and those of the Python class.
_FIELDS: Final = {
    "id": "id",
    "dequeuecount": "dequeue_count",
    "insertiontime": "inserted",
    "expirationtime": "expires",
    "nextvisibletime": "next_visible",
    "timenextvisible": "next_visible",
    "popreceipt": "pop_receipt",
}
NAMES: Final = (
    "id",
    "dequeueCount",
    "insertionTime",
    "expirationTime",
    "nextVisibleTime",
    "popReceipt",
)


class NoSuchFunction(ProjectError):
    """The project has no function of that name."""


class FunctionNotRun(ProjectError):
    """The function is there and cannot be run here; says why."""


class MetadataError(QtriggerError):
    """What is said to come with the message is no such thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedOut:
    """How the run ended.

    `planned` are the messages for output queues, which were sent when `written`; `disposition` is
    what would become of the message on its queue.
    """

    invocation: Invocation
    outcome: Outcome
    disposition: Disposition
    duration_s: float
    planned: Sequence[Planned] = ()
    written: bool = False


def find_function(project: Project, name: str) -> FunctionDefinition:
    """Return the function, whatever the case of its name.

    Raises NoSuchFunction with the nearest name, or FunctionNotRun.
    """
    wanted = name.casefold()
    for function in project.functions:
        if function.name.casefold() == wanted:
            if function.disabled:
                raise FunctionNotRun(
                    f"{function.name} is disabled: {function.disabled}. Enable it first."
                )
            return function
    for other, kind in project.not_run.items():
        if other.casefold() == wanted:
            raise FunctionNotRun(
                f"{other} is not run here: its trigger is of type {kind}, and only functions with "
                "a queueTrigger are."
            )
    names = [*(each.name for each in project.functions), *project.failed, *project.not_run]
    if wanted in {each.casefold() for each in project.failed} or _may_be_missing(project):
        raise FunctionNotRun(f"{name} cannot be run: the project has errors. Mend them first.")
    raise NoSuchFunction(f"there is no function {name!r} in {project.root}.{_meant(name, names)}")


def message_of(
    body: bytes, metadata: Mapping[str, str], *, now: datetime, lease_s: float
) -> TriggerMessage:
    """Return a message with that body, and what is not given filled in.

    Defaults: a fresh id, dequeue count 1, inserted now, expiring in 7 days, visible again when the
    lease of `lease_s` seconds would end, and a pop receipt that no queue knows. Names are Azure's
    or those of `azure.functions.QueueMessage`, whatever their case. Raises MetadataError.
    """
    given = {_field(name): value for name, value in metadata.items()}
    inserted = _time(given, "inserted", now)
    return TriggerMessage(
        id=given.get("id") or new_id(),
        body=body,
        dequeue_count=_count(given.get("dequeue_count", "1")),
        inserted=inserted,
        expires=_time(given, "expires", inserted + EXPIRES_AFTER),
        next_visible=_time(given, "next_visible", now + timedelta(seconds=lease_s)),
        pop_receipt=given.get("pop_receipt", NO_RECEIPT),
    )


async def try_out(
    function: FunctionDefinition,
    message: TriggerMessage,
    *,
    worker: Worker,
    outputs: OutputWriter,
    timeout_s: float | None,
    write: bool,
) -> TriedOut:
    """Run the function once; its outputs are sent only if `write` says so.

    A retry policy is shown to the function, and not carried out. `timeout_s` is functionTimeout.
    """
    invocation = Invocation(
        id=new_id(),
        function=function.name,
        messages=(message,),
        max_dequeue_count=function.options.max_dequeue_count,
        timeout_s=timeout_s,
        retry=Retrial(count=0, most=function.retry.max_retries) if function.retry else None,
    )
    ran = await worker.invoke(invocation)
    outcome = ran.outcomes[0]
    planned: Sequence[Planned] = ()
    policy = TriesPolicy.of(function, has_poison_queue=function.poison_queue is not None)
    if isinstance(outcome, Succeeded):
        try:
            planned = outputs.plan(outcome.outputs, binding_data(message))
            if write:
                await outputs.send(planned)
        except QtriggerError as error:
            # The error says what was written before it.
            outcome, planned = Failed(error=ErrorDetail(type="OutputError", message=str(error))), ()
    return TriedOut(
        invocation=invocation,
        outcome=outcome,
        disposition=decide(outcome, message.dequeue_count, policy),
        duration_s=ran.duration_s,
        planned=planned,
        written=write and isinstance(outcome, Succeeded),
    )


def _may_be_missing(project: Project) -> bool:
    """Whether no function is known for an error that belongs to none of them."""
    if project.blocked or project.functions:
        return project.blocked
    return any(each.severity is Severity.ERROR and not each.function for each in project.problems)


def _meant(name: str, names: Sequence[str]) -> str:
    if near := difflib.get_close_matches(name, names, n=1):
        return f" Did you mean {near[0]}?"
    return f" There are: {', '.join(sorted(names))}." if names else " It has none."


def _field(name: str) -> str:
    bare = name.replace("_", "").replace("-", "").casefold()
    if bare not in _FIELDS:
        near = difflib.get_close_matches(bare, [each.casefold() for each in NAMES], n=1)
        meant = [each for each in NAMES if each.casefold() in near] or NAMES
        raise MetadataError(
            f"a message has no {name!r}. "
            + (f"Did you mean {meant[0]}?" if len(meant) == 1 else f"It has {', '.join(NAMES)}.")
        )
    return _FIELDS[bare]


def _count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise MetadataError(f"dequeueCount is {text!r}; it is a whole number from 1 up")
    return count


def _time(given: Mapping[str, str], field: str, default: datetime) -> datetime:
    text = given.get(field)
    if text is None:
        return default
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise MetadataError(
            f"{text!r} is no time; write it as 2026-01-31T12:00:00 (UTC unless it says otherwise)"
        ) from None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)

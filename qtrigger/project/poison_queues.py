"""Which functions look after the poison queues of others, as all of the project's are known.

Owns that such a function has no poison queue unless it names one, and that messages cannot go
round in circles. What a name must look like is `own_options`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from qtrigger.project.findings import Findings, shown
from qtrigger.project.functions import Functions
from qtrigger.project.host_json import HostFile
from qtrigger.project.model import FunctionDefinition
from qtrigger.project.own_options import POISON_QUEUE, is_own

_HINT: Final = "let one of these queues have no function, or its function another poison queue"


class _Queue(NamedTuple):
    endpoint: str
    name: str


def settle(functions: Functions, host: HostFile) -> None:
    """Refuse circles; give the functions on others' poison queues none of their own."""
    after = {_queue(each): each for each in functions.defined}
    for function in list(functions.defined):
        if is_own(host, function.name, POISON_QUEUE) and _returns(function, after):
            _refuse(function, functions, host)
    named = _named(functions.defined)
    functions.defined[:] = [_without(each, named) for each in functions.defined]


def _named(functions: Iterable[FunctionDefinition]) -> set[_Queue]:
    """The queues that are said to be poison queues, in so many words."""
    return {
        _Queue(each.trigger.account.endpoint, each.own.poison_queue)
        for each in functions
        if each.own.poison_queue
    }


def _without(function: FunctionDefinition, named: set[_Queue]) -> FunctionDefinition:
    if function.own.poison_queue or _queue(function) not in named:
        return function
    return replace(function, own=replace(function.own, poison_queue=None))


def _returns(function: FunctionDefinition, after: Mapping[_Queue, FunctionDefinition]) -> bool:
    """Whether a message that fails everywhere would come back to the function's queue.

    With the usual names as well: that a function on a named queue loses its own would hide the
    circle, and leave messages where they fail.
    """
    start, seen = _queue(function), set[_Queue]()
    at: FunctionDefinition | None = function
    while at is not None and at.poison_queue:
        queue = _Queue(at.trigger.account.endpoint, at.poison_queue)
        if queue == start:
            return True
        if queue in seen:
            return False
        seen.add(queue)
        at = after.get(queue)
    return False


def _refuse(function: FunctionDefinition, functions: Functions, host: HostFile) -> None:
    findings = Findings(function.name)
    queue = shown(function.own.poison_queue or "")
    findings.error(
        f"{POISON_QUEUE}: from {queue} a message that fails would come back to "
        f"{shown(function.trigger.queue)}, and so on without end",
        host.tree.place(host.own_path(function.name, POISON_QUEUE)),
        _HINT,
    )
    functions.defined.remove(function)
    functions.failed.append(function.name)
    functions.problems.extend(findings.problems)


def _queue(function: FunctionDefinition) -> _Queue:
    return _Queue(function.trigger.account.endpoint, function.trigger.queue)

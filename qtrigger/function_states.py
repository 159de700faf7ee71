"""The list of a host's functions, as it is shown.

Owns what is said of each; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from qtrigger.assembly import within
from qtrigger.events import FunctionState
from qtrigger.pauses import Pause
from qtrigger.project.model import FunctionDefinition, Project


def states(
    project: Project,
    *,
    broken: AbstractSet[str],
    at_once: Mapping[str, int],
    pause_of: Callable[[str], Pause | None],
) -> Sequence[FunctionState]:
    """All functions by name: those that can run, those that are `broken`, those not run here.

    `at_once` says for how many messages of a function the workers have room.
    """
    known = {each.name for each in project.functions} | set(project.failed)
    unread = [name for name in broken if project.unread and name not in known]
    return sorted(
        [
            *(_state(each, project, broken, at_once, pause_of) for each in project.functions),
            *(_without("failed", name, "see above") for name in (*project.failed, *unread)),
            *(
                _without("not run here", name, f"its trigger is of type {kind}")
                for name, kind in project.not_run.items()
            ),
        ],
        key=lambda state: state.name.lower(),
    )


def _without(state: str, name: str, why: str) -> FunctionState:
    return FunctionState(name=name, queue="", connection="", state=state, why=why)


def _state(
    function: FunctionDefinition,
    project: Project,
    broken: AbstractSet[str],
    at_once: Mapping[str, int],
    pause_of: Callable[[str], Pause | None],
) -> FunctionState:
    state, why = "ready", ""
    if function.disabled:
        state, why = "disabled", function.disabled
    elif function.name in broken:
        state, why = "failed", "see above"
    elif pause := pause_of(function.name):
        state, why = "paused", pause.in_words()
    room = within(function, at_once.get(function.name)).options.concurrency
    limits = (function.own.max_concurrent, project.host.max_concurrent)
    return FunctionState(
        name=function.name,
        queue=function.trigger.queue,
        connection=function.trigger.connection,
        state=state,
        why=why,
        concurrency=min([room, *(each for each in limits if each is not None)]),
    )

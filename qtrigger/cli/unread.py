"""What is said where the script with decorators cannot be imported.

Owns that a name which a person gives is then taken for nothing that it may not be: nobody knows
which functions and queues the script names.
"""

from __future__ import annotations

from typing import Final

from qtrigger.cli import wiring
from qtrigger.errors import ProjectError
from qtrigger.project.glimpse import Seen, elsewhere, glimpse
from qtrigger.project.model import Project, Severity

DEFAULT_CONNECTION: Final = "AzureWebJobsStorage"


def tell(project: Project) -> None:
    """Say what keeps the script from being read, before anything is said that follows from it."""
    for each in project.problems if project.unread else ():
        if each.severity is Severity.ERROR and not each.function:
            place = f"{each.place}: " if each.place else ""
            wiring.note(f"error: {place}{each.message} (qtrigger check says more)")


def check_found(project: Project) -> None:
    """Raise ProjectError where what is not found may be in a script that could not be read."""
    if project.unread and project.decorator_script is not None:
        script = project.decorator_script.name
        raise ProjectError(f"{script} cannot be read, so what is in it is not known. Mend it first")


def connection_of(project: Project, name: str) -> str | None:
    """The connection of a queue of that name which the script seems to have; None: the usual one.

    Raises ProjectError where the name may be a function's, or the queue's account is not certain.
    """
    _check_no_function(project, name)
    if not project.unread or project.decorator_script is None:
        return None
    seen = [*glimpse(project.root), *elsewhere(project.root)]
    connections = {each for one in seen if name in _queues(one) for each in one.connections}
    if len(connections) == 1:
        return connections.pop()
    queue = next((one.queue for one in seen if one.name.casefold() == name and one.queue), "")
    hint = f"its queue seems to be {queue}" if queue else "or name the queue"
    raise ProjectError(
        f"{project.decorator_script.name} cannot be read, so it is not known whether {name!r} is a "
        f"queue or a function there. Mend it first, {hint} with --connection "
        f"(usually {DEFAULT_CONNECTION})"
    )


def _check_no_function(project: Project, name: str) -> None:
    for failed in project.failed:
        if failed.casefold() == name:
            why = next((str(each) for each in project.problems if each.function == failed), "")
            raise ProjectError(
                f"{failed} is a function, and its queue is not known, since it has errors. "
                f"Mend it first: {why}"
            )


def _queues(seen: Seen) -> tuple[str, ...]:
    return (seen.queue, *seen.outputs)

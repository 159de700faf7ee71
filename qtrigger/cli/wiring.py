"""Puts real parts together for the verbs: queue services, what a person is told.

Owns no behaviour of its own. Heavy modules are imported by the functions that need them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qtrigger.errors import ProjectError

if TYPE_CHECKING:
    from qtrigger.clock import Clock
    from qtrigger.events import EventSink
    from qtrigger.project.model import Problem, Project
    from qtrigger.queues.account import Account
    from qtrigger.queues.client import QueueService
    from qtrigger.queues.request_counts import RequestCounts

HOST_FILE = "host.json"

# The same for every verb that reads a project.
environment_option = click.option(
    "--environment",
    envvar="AZURE_FUNCTIONS_ENVIRONMENT",
    default="Development",
    metavar="NAME",
    show_default=True,
    show_envvar=True,
    help="Which defaults apply: Development, or Production and any other name.",
)


def _else_of_systemd(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> str | None:
    """The folder; where none is named, the first that systemd gives a service to write in."""
    return value or os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or None


# The same for every verb that reads or writes what outlives a host.
state_option = click.option(
    "--state",
    envvar="QTRIGGER_STATE",
    type=click.Path(file_okay=False),
    callback=_else_of_systemd,
    metavar="FOLDER",
    show_envvar=True,
    help="Where pauses, the journal and the host's socket are (default: STATE_DIRECTORY, which "
    "systemd sets, else .qtrigger in the project).",
)


def find_root(given: str | None) -> Path:
    """Return the project's folder: the given one, else the nearest with host.json upwards.

    Raises ProjectError when there is none.
    """
    if given is not None:
        root = Path(given)
        if not root.is_dir():
            raise ProjectError(f"{given} is not a folder. Give the folder that holds {HOST_FILE}.")
        return root.resolve()
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise ProjectError("the current folder no longer exists. Change to another.") from None
    for folder in (here, *here.parents):
        if (folder / HOST_FILE).is_file():
            return folder
    raise ProjectError(
        f"no {HOST_FILE} in {here} or above it. Change to a project's folder, name one "
        "(qtrigger start PROJECT), or make one here: qtrigger init."
    )


def named_root(given: str | None) -> Path:
    """Return the same folder as `find_root`, by the name that the user has for it.

    Links in that name are kept, so that one that is made to lead elsewhere can be followed.
    """
    import os

    root = find_root(given)
    here = Path(os.environ.get("PWD") or Path.cwd())
    if given is None:
        up = len(Path.cwd().relative_to(root).parts)
        named = [here, *here.parents][min(up, len(here.parents))]
    else:
        named = here / given
    # What `..` means beside a link is not to be seen from the name.
    is_it = named.is_absolute() and ".." not in named.parts and named.exists()
    return named if is_it and named.samefile(root) else root


def open_service_with(
    clock: Clock, counts: RequestCounts | None = None
) -> Callable[[Account], QueueService]:
    """Return what opens the service of an account over HTTP; requests are counted in `counts`."""
    from qtrigger.queues.rest import RestQueueService

    def open_service(account: Account) -> QueueService:
        return RestQueueService(account, clock, counts=counts)

    return open_service


def check_runnable(project: Project) -> None:
    """Raise ProjectError when the project has no function that a host could run."""
    if any(not function.disabled for function in project.functions):
        return
    if project.problems:
        raise ProjectError(f"no function in {project.root} can run. Mend the findings above.")
    if project.decorator_script is not None:
        raise ProjectError(
            f"{project.decorator_script} declares no functions. Decorate them with "
            "app.queue_trigger, or add functions/NAME/function.json with a queueTrigger binding."
        )
    raise ProjectError(
        f"there is no function in {project.root}. Add functions/NAME/function.json with a "
        "queueTrigger binding and functions/NAME/__init__.py with its main(), or function_app.py "
        "with decorators."
    )


def tell_findings(problems: Sequence[Problem], sink: EventSink) -> None:
    """Emit the project's findings."""
    from qtrigger.events import Finding

    for problem in problems:
        sink.emit(
            Finding(
                function=problem.function,
                place=problem.place,
                severity=problem.severity,
                message=problem.message,
                hint=problem.hint,
                traceback=problem.traceback,
            )
        )


def note(text: str) -> None:
    """Tell a person what is going on, on stderr."""
    click.echo(text, err=True)

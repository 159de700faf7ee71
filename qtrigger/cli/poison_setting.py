"""What the verbs of `qtrigger poison` have in common: flags, and what they read first.

Owns neither a verb nor what it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import click

from qtrigger.cli import projects, wiring
from qtrigger.cli.poisoned import PoisonQueue, find
from qtrigger.journal import JournalFile
from qtrigger.pauses import state_folder
from qtrigger.project.model import Project

F = TypeVar("F", bound=Callable[..., Any])

_SHARED: Final = (
    click.option(
        "--connection", metavar="NAME", help="Connection name (default: that of the function)."
    ),
    wiring.environment_option,
    wiring.state_option,
    click.option(
        "--project",
        "root",
        type=click.Path(),
        help="The project's folder (default: the nearest upwards with a host.json).",
    ),
)


def shared_options(function: F) -> F:
    """Add the flags that all of them have; pass them to `Setting`."""
    for option in reversed(_SHARED):
        function = option(function)
    return function


class Setting:
    """The project, its journal and the poison queues that were named."""

    def __init__(self, name: str | None, flags: Mapping[str, Any]) -> None:
        root = wiring.find_root(flags["root"])
        self.project: Project = projects.load_alone(root, os.environ, flags["environment"])
        self.journal = JournalFile(state_folder(root, flags["state"]))
        self.queues: Sequence[PoisonQueue] = find(
            self.project, self.journal, name, flags["connection"]
        )

    def tell_journal(self) -> None:
        """Say so when the journal cannot be read."""
        if self.journal.problem:
            wiring.note(f"warning: {self.journal.problem}")

"""`--reload` of `qtrigger start`: whether files are watched, and how.

Owns the options and their defaults. What a change leads to is not decided here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.watching.changes import ChangeSource, NoChanges

OpenChanges = Callable[[Callable[[], None]], ChangeSource]
"""Opens a source of changes; what it is given is called at the first sign of one."""


def reload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the verb gets `reload` (None: by the environment) and `reload_poll`."""
    poll = click.option(
        "--reload-poll",
        is_flag=True,
        help="Look for changed files every second, as on mounts that tell of no changes.",
    )
    switch = click.option(
        "--reload/--no-reload",
        default=None,
        help="Load saved code anew by itself (default: in Development only).",
    )
    return switch(poll(command))


def watches(environment: str, *, reload: bool | None, poll: bool) -> bool:
    """Whether files are watched, by the options and, where they say nothing, the environment."""
    return (poll or environment.casefold() == "development") if reload is None else reload


def changes_of(
    root: Path,
    *,
    environment: str,
    wanted: bool,
    poll: bool,
    clock: Clock,
    sink: EventSink,
) -> OpenChanges:
    """Return what opens the changes of the project in `root`; `root` is as the user named it.

    Where they are not `wanted`, there are never any.
    """

    def open_them(sign: Callable[[], None]) -> ChangeSource:
        if not wanted:
            return NoChanges()
        from qtrigger.watching.opening import open_changes

        return open_changes(
            root,
            environ=os.environ,
            environment=environment,
            clock=clock,
            sink=sink,
            poll=poll,
            sign=sign,
        )

    return open_them

"""Finds the function of a project that a person means.

Owns what is said of a name that no function has; runs nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from qtrigger.cli import projects, wiring


def is_path(text: str) -> bool:
    """Whether a text can only be a folder: no function's name holds a dot or a slash."""
    return text.startswith(".") or os.sep in text


def function_of(root: Path, name: str, environment: str) -> str:
    """The name as the project spells it. Raises UsageError with the nearest one there is.

    Where the functions of a script cannot be listed, because it cannot be imported, the name is
    taken as it is: what is broken must be stoppable.
    """
    project = projects.load_alone(root, os.environ, environment)
    known = [each.name for each in project.functions]
    known += [*project.failed, *project.not_run]
    spelled = {each.casefold(): each for each in known}
    if name.casefold() in spelled:
        return spelled[name.casefold()]
    if project.decorator_script is not None and not project.functions:
        wiring.note(f"note: {root} lists no functions now, so {name!r} is taken as it is")
        return name
    from qtrigger.project.findings import suggest

    hint = suggest(name, known) or f"there are: {', '.join(sorted(known)) or 'none'}"
    raise click.UsageError(f"there is no function {name!r} in {root}; {hint}")

"""What all verbs have in common in their flags: the variable of each, and names to complete.

Owns the one place where it is done, so that no verb says it for itself. A flag's environment
variable is `QTRIGGER_<VERB>_<FLAG>`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from qtrigger.errors import QtriggerError

_PREFIX: Final = "QTRIGGER"
# What a parameter of that name takes, whichever verb it belongs to.
_FUNCTIONS: Final = frozenset({"function", "functions"})
_QUEUES: Final = frozenset({"queue", "output"})


class _Name(click.ParamType[str]):
    """A text that the project's files have proposals for. They are proposals: any text is taken."""

    def __init__(self, name: str, known: Callable[[Path], Sequence[str]]) -> None:
        self.name = name
        self._known = known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        return str(click.STRING.convert(value, param, ctx))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """See click; a project that cannot be read has no proposals."""
        del param
        try:
            names = self._known(_root(ctx))
        except (QtriggerError, OSError):
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def dress(command: click.Command, path: Sequence[str]) -> None:
    """Give every option of a verb its variable, shown in the help, and complete names.

    `path` is the command's words: `emulator`, `status`. An option with a variable of its own, such
    as one of Azure's, keeps it. Harmless twice.
    """
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            parameter.envvar = parameter.envvar or _variable(parameter, path)
            parameter.show_envvar = True
        if parameter.type is click.STRING and parameter.name in _FUNCTIONS:
            parameter.type = _Name("text", _function_names)
        elif parameter.type is click.STRING and parameter.name in _QUEUES:
            parameter.type = _Name("text", _queue_names)
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        dress(inner, (*path, name))


def _variable(option: click.Option, path: Sequence[str]) -> str:
    """As people would guess it: after the flag, whatever the code calls it."""
    flag = max(option.opts, key=len).lstrip("-")
    return "_".join((_PREFIX, *path, flag)).upper().replace("-", "_")


def _root(ctx: click.Context) -> Path:
    from qtrigger.cli.wiring import find_root

    given = ctx.params.get("project")
    before = ctx.find_root().params.get("directory")
    if given is not None and before is not None:
        given = str(Path(before, given))
    return find_root(given or before)


def _function_names(root: Path) -> Sequence[str]:
    from qtrigger.project.glimpse import glimpse

    return [each.name for each in glimpse(root)]


def _queue_names(root: Path) -> Sequence[str]:
    from qtrigger.project.glimpse import glimpse

    queues = [queue for each in glimpse(root) for queue in (each.queue, *each.outputs)]
    # What a setting or a message completes is no name yet.
    return sorted({queue for queue in queues if queue and not set(queue) & set("%{}")})

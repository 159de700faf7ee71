"""The reference page of the command line, made from the commands themselves.

Owns how a command reads as Markdown. `python -m qtrigger.cli.reference` prints the page, which
stands in docs/reference/cli.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from qtrigger.cli.main import VERBS, cli

_INTRODUCTION: Final = """\
# Command line

Made from the commands by `python -m qtrigger.cli.reference`; `qtrigger VERB --help` says the same.

A flag wins over its environment variable, that over `host.json`, and this over the default.
Results go to standard output; errors, hints and progress to standard error.
Colour is shown on a terminal only, and not with `NO_COLOR` or `TERM=dumb`.
The project is the nearest folder upwards with a `host.json`; `qtrigger -C DIR …` begins in DIR.
Nothing is sent to anybody but the project's own storage accounts: there is no telemetry.
What each verb may end with: [exit codes](exit-codes.md).
"""


def page() -> str:
    """The whole page, as Markdown."""
    parts = [_INTRODUCTION]
    group = click.Context(cli, info_name="qtrigger")
    for verb in VERBS:
        command = cli.get_command(group, verb)
        assert command is not None
        parts += _command(command, ("qtrigger", verb))
    return "\n".join(parts)


def _command(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    if command.hidden:
        return
    context = click.Context(command, info_name=path[-1])
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"{'#' * len(path)} {' '.join(path)}\n"
    yield f"```\n{' '.join(path)} {pieces}\n```\n"
    yield f"{_text(command.help)}\n"
    rows = [
        _option(each)
        for each in command.params
        if isinstance(each, click.Option) and not each.hidden
    ]
    if rows:
        yield table(("flag", "default", "variable", "meaning"), rows)
    if command.epilog:
        yield f"{_epilog(command.epilog)}\n"
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _command(inner, (*path, name))


def _option(option: click.Option) -> tuple[str, ...]:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += " / " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    if not (option.is_flag or option.count):
        names += f" {_value(option)}"
    return names, _default(option), f"`{option.envvar}`", line(option.help)


def _value(option: click.Option) -> str:
    if option.metavar:
        return f"`{option.metavar}`"
    if isinstance(option.type, click.Choice):
        return f"`{'|'.join(str(choice) for choice in option.type.choices)}`"
    return f"`{option.type.name.split(' ')[0].upper()}`"


def _default(option: click.Option) -> str:
    default: Any = option.to_info_dict().get("default")
    if option.is_flag and option.secondary_opts and isinstance(default, bool):
        return f"`{(option.opts if default else option.secondary_opts)[0]}`"
    if default is None or default is False or default in ("", ()) or callable(default):
        return ""
    return f"`{default}`"


def _text(help_text: str | None) -> str:
    """Its paragraphs; those that click keeps as they are stay so too."""
    return "\n\n".join(line(each) for each in (help_text or "").split("\n\n") if each.strip())


def _epilog(epilog: str) -> str:
    """The examples as code, and what follows them as text."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", epilog.replace("\b\n", "").strip("\n")):
        first, _, rest = paragraph.partition("\n")
        if first.strip() == "Examples:":
            code = "\n".join(line.removeprefix("  ") for line in rest.splitlines())
            parts.append(f"```console\n{code}\n```")
        else:
            parts.append(line(paragraph))
    return "\n\n".join(parts)


def line(text: str | None) -> str:
    """A help text as one line."""
    return " ".join((text or "").replace("\b", "").split())


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [header, tuple("---" for _ in header), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())

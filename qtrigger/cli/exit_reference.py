"""The reference page of exit codes, made from the codes and from what each verb says of its own.

Owns what a code means and what its caller should do. `python -m qtrigger.cli.exit_reference`
prints the page, which stands in docs/reference/exit-codes.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final

import click

from qtrigger.cli.main import VERBS, cli
from qtrigger.cli.reference import line, table
from qtrigger.errors import ExitCode

_INTRODUCTION: Final = """\
# Exit codes

Made from the commands by `python -m qtrigger.cli.exit_reference`; each verb's help says the same.

The codes are the same for all verbs, so that a script need not know which one it calls.
Results are on standard output; with any code but 0, standard error says what, where and what to do.
"""
_MEANINGS: Final = {
    ExitCode.OK: ("done; stopped on request; nothing left to do", "go on"),
    ExitCode.BUG: (
        "a defect of qtrigger (`status --check`: not ready)",
        "start it again, and report it with what `qtrigger version` says",
    ),
    ExitCode.USAGE: ("wrong usage: a verb, a flag or a name that is not there", "mend the command"),
    ExitCode.PROJECT: (
        "the project cannot be run, or has errors",
        "mend what it says; starting it again does not help",
    ),
    ExitCode.SERVICE: (
        "the queue service cannot be reached or refuses, or no host runs that could be asked",
        "try again later, or look at the connection",
    ),
    ExitCode.PARTLY: ("partly done", "the same command goes on from there"),
    ExitCode.FAILED: ("the function failed (`invoke`)", "look at its traceback"),
}
_SIGNALS: Final = (
    "130, 143",
    "left at once by a second Ctrl-C or SIGTERM",
    "messages that ran were handed back",
)
_SAID: Final = re.compile(r"Exit codes: (.*?)\.(?: |$)")
_CODE: Final = re.compile(r"(?:^|, |; )(?=(?:with --\w+ )?\d )")


def page() -> str:
    """The whole page, as Markdown."""
    meanings = [(str(int(code)), *_MEANINGS[code]) for code in ExitCode]
    return "\n".join(
        (
            _INTRODUCTION,
            table(("code", "meaning", "what to do"), [*meanings, _SIGNALS]),
            "Every verb may end with 1 and 2 as well, and with 130 when Ctrl-C ends it.",
            "The unit of `qtrigger systemd` does not start a host again after 2 and 3.\n",
            "## Of each verb\n",
            table(("verb", "ends with"), _rows()),
        )
    )


def codes_of(command: click.Command) -> tuple[str, ...]:
    """What a verb says of its exit codes: `0 done`, `4 no host runs`; empty where it says none."""
    found = _SAID.search(line(f"{command.help or ''} {command.epilog or ''}"))
    return tuple(part for part in _CODE.split(found[1]) if part) if found else ()


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every verb that does something by itself, with its words."""
    context = click.Context(cli)
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{verb} {name}", inner) for name, inner in command.commands.items())
        else:
            yield verb, command


def _rows() -> Iterator[tuple[str, str]]:
    for words, command in commands():
        if not command.hidden:
            yield f"`{words}`", "; ".join(codes_of(command))


if __name__ == "__main__":
    sys.stdout.write(page())

"""Asks before something is removed for good.

Owns the rule: a terminal is asked, and anywhere else `--yes` says it.
"""

from __future__ import annotations

import sys

import click

# The same for every verb that removes something.
yes_option = click.option("--yes", is_flag=True, help="Do it without being asked.")


def confirm(what: str, *, yes: bool) -> None:
    """Go on if the person says so; `what` names the deed and the number: `delete 3 messages`.

    Raises Abort for a no, and UsageError where nobody can be asked and `yes` was not said.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"say --yes to {what}: there is no terminal to ask on")
    click.confirm(f"{what[:1].upper()}{what[1:]}?", abort=True, err=True)

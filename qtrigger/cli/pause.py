"""`qtrigger pause`: ask for no more messages of a function, or list what is paused."""

from __future__ import annotations

import asyncio
import getpass
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from qtrigger.cli import hosts, named, wiring
from qtrigger.cli.listing import document
from qtrigger.cli.span import Span
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode, ProjectError
from qtrigger.pauses import Pause, PauseFile, state_folder, writable

EPILOG = """\b
Examples:
  qtrigger pause charge
  qtrigger pause charge --for 10m --reason "the bank is down"
  qtrigger pause                       # list what is paused

Exit codes: 0 done, 2 there is no such function, 3 the project or what is paused cannot be read.
"""


@click.command(
    short_help="Ask for no more messages of a function, or list what is paused.", epilog=EPILOG
)
@click.argument("function", required=False)
@click.argument("project", required=False, type=click.Path())
@click.option(
    "--for",
    "span",
    type=Span(),
    metavar="TIME",
    help="How long: 90s, 10m, 2h, 1d or hh:mm:ss (default: until it is resumed).",
)
@click.option("--reason", default="", metavar="TEXT", help="Why; shown wherever the pause is.")
@wiring.environment_option
@wiring.state_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the list is written.",
)
def pause(
    function: str | None,
    project: str | None,
    span: timedelta | None,
    reason: str,
    environment: str,
    state: str | None,
    form: str,
) -> int:
    """Ask for no more messages of FUNCTION in PROJECT (default: the nearest with a host.json).

    A host that runs does so within about a second, one that starts later from its start. What
    runs goes on. Without FUNCTION, say what is paused; a folder's path alone lists that one's.
    """
    if function is not None and project is None and named.is_path(function):
        function, project = None, function
    root = wiring.find_root(project)
    file = PauseFile(state_folder(root, state))
    if function is None:
        if span is not None or reason:
            raise click.UsageError("--for and --reason are of a pause: name the function")
        return _list(file, hosts.open_breakers(root, state_folder(root, state)), form)
    name = named.function_of(root, function, environment)
    asyncio.run(_pause(file, name, span, reason))
    where = "" if root == _here() else f" {root}"
    where += "" if state is None or "QTRIGGER_STATE" in os.environ else f" --state {state}"
    click.echo(f"resume it with: qtrigger resume {name}{where}")
    return ExitCode.OK


async def _pause(file: PauseFile, name: str, span: timedelta | None, reason: str) -> None:
    clock = SystemClock()
    now = clock.utcnow().replace(microsecond=0)
    until = None if span is None else clock.utcnow() + span
    # Lines stand alone: what would break one is shown in one.
    plain = " ".join(reason.split())
    new = Pause(function=name, since=now, until=until, reason=writable(plain), by=_who())
    before = await file.pause(new, clock)
    if before.problem:
        wiring.note(f"note: {before.problem}; it was moved aside and written anew")
    click.echo(f"{name} is paused {new.in_words()}")


def _list(file: PauseFile, breakers: Sequence[Mapping[str, Any]], form: str) -> int:
    written, now = file.read(), datetime.now(UTC)
    if written.problem:
        wiring.note(
            f"warning: {written.problem}, so nothing is known of pauses by hand. Delete it, or "
            "pause again: qtrigger pause FUNCTION"
        )
    paused = sorted(
        (each for each in written.pauses.values() if not each.over(now)),
        key=lambda each: each.function.casefold(),
    )
    click.echo(_as_json(paused, breakers) if form == "json" else _as_text(paused, breakers))
    return ExitCode.PROJECT if written.problem else ExitCode.OK


def _as_text(paused: Sequence[Pause], breakers: Sequence[Mapping[str, Any]]) -> str:
    names = [*(each.function for each in paused), *(each["name"] for each in breakers)]
    width = max(map(len, names), default=0)
    by_hand = [f"{each.function:<{width}}  paused {each.in_words()}" for each in paused]
    by_breaker = [
        f"{each['name']:<{width}}  paused by its circuit breaker in host {each['pid']}: "
        f"{each['why']}"
        for each in breakers
    ]
    return "\n".join([*(by_hand or ["no function is paused by hand"]), *by_breaker])


def _as_json(paused: Sequence[Pause], breakers: Sequence[Mapping[str, Any]]) -> str:
    return document(
        paused=[
            {
                "function": each.function,
                "since": each.since.isoformat(),
                "until": each.until.isoformat() if each.until else None,
                "reason": each.reason,
                "by": each.by,
            }
            for each in paused
        ],
        breakers=[
            {"function": each["name"], "host": each["pid"], "why": each["why"]} for each in breakers
        ],
    )


def _who() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        user = f"user {os.getuid()}"
    return f"{user}@{socket.gethostname()}"


def _here() -> Path | None:
    try:
        return wiring.find_root(None)
    except ProjectError:
        return None

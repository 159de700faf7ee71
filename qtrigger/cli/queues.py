"""`qtrigger queues`: what waits in the project's queues, and what was poisoned."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import click

from qtrigger.cli import bodies, projects, targets, wiring
from qtrigger.cli.listing import document, format_option, table
from qtrigger.cli.queue_client import open_queues
from qtrigger.cli.standing import Standing, silences, standings
from qtrigger.cli.targets import OUTPUT, POISON, TRIGGER, Target
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.project.model import Project
from qtrigger.queues.account import Account

EPILOG = """\b
Examples:
  qtrigger queues
  qtrigger queues --all --format json
  qtrigger queues --watch
"""
LOOK_EVERY_S: Final = 2.0
_COLUMNS: Final = ("QUEUE", "FUNCTION", "WAITING", "HIDDEN", "OLDEST", "POISON")
# A number that has the hidden messages in it, since a peek shows no more than 32.
_ABOUT: Final = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A queue, and about how many messages are in the poison queues of its functions."""

    target: Target
    standing: Standing
    poison: int | None


@click.command(short_help="Show what waits in the project's queues.", epilog=EPILOG)
@click.argument("project", required=False, type=click.Path())
@click.option("--all", "every", is_flag=True, help="Every queue of the project's accounts.")
@click.option("--watch", is_flag=True, help="Look again every two seconds, until Ctrl-C.")
@wiring.environment_option
@format_option
def queues(project: str | None, every: bool, watch: bool, environment: str, form: str) -> int:
    """Show the queues that the functions of PROJECT have messages from, poison, and write to.

    WAITING are visible, HIDDEN in processing or to show up later; with ~ the two cannot be told
    apart, since more than 32 wait. OLDEST is the age of the oldest of the first 32. Exit codes: 0
    shown, 3 the project cannot be read, 4 an account cannot be reached or refuses.
    """
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    if watch:
        if form == "json" or not sys.stdout.isatty():
            raise click.UsageError(
                "--watch draws on a terminal; elsewhere, call it again and again"
            )
        return _watch(loaded, every)
    rows, errors = asyncio.run(_rows(loaded, every))
    if form == "json" or rows or not loaded.unread:
        click.echo(_as_json(rows) if form == "json" else as_table(rows, SystemClock().utcnow()))
    for error in errors:
        wiring.note(f"error: {error}")
    if errors:
        return ExitCode.SERVICE
    return ExitCode.PROJECT if loaded.unread else ExitCode.OK


async def _rows(project: Project, every: bool) -> tuple[list[Row], list[str]]:
    clock = SystemClock()
    named = targets.queues_of(project)
    refused: list[str] = []
    if every:
        named, refused = await _with_strangers(project, named)
    async with open_queues(clock) as clients:
        found = await standings(named, clients, clock)
    by_queue = {
        (target.account, target.name): standing
        for target, standing in zip(named, found, strict=True)
    }
    rows = [
        Row(target=target, standing=standing, poison=_poison(target, by_queue))
        for target, standing in zip(named, found, strict=True)
    ]
    return rows, [*refused, *map(str, silences(named, found))]


async def _with_strangers(project: Project, named: list[Target]) -> tuple[list[Target], list[str]]:
    """The project's queues, then the others of its accounts; and what could not be listed."""
    from qtrigger.errors import QueueError
    from qtrigger.queues.management import list_queues

    known, refused = {(each.account, each.name) for each in named}, []
    accounts = list(dict.fromkeys(each.account for each in named))
    strangers: list[Target] = []
    for account in accounts or [targets.account_of(project, None)]:
        try:
            names = await list_queues(account, SystemClock())
        except QueueError as error:
            refused.append(str(error))
            continue
        strangers += [
            Target(name=name, account=account, encoding=project.host.queues.message_encoding)
            for name in names
            if (account, name) not in known
        ]
    return named + strangers, refused


def _poison(target: Target, found: Mapping[tuple[Account, str], Standing]) -> int | None:
    """About how many messages of this queue were poisoned; None where that says nothing."""
    if target.role != TRIGGER:
        return None
    names = {each.poison_queue for each in target.functions if each.poison_queue}
    standing = [found.get((target.account, name)) for name in names]
    return sum(each.count for each in standing if each) if names else None


def as_table(rows: Sequence[Row], now: datetime) -> str:
    """The queues in columns."""
    if not rows:
        return "the project names no queues"
    return table(_COLUMNS, [_cells(row, now) for row in rows])


def _cells(row: Row, now: datetime) -> tuple[str, ...]:
    standing = row.standing
    named = (row.target.name, _used_by(row.target))
    poison = "-" if row.poison is None else f"{row.poison:,}"
    if standing.error is not None:
        return (*named, "-", "-", "-", "-")
    if not standing.exists:
        return (*named, "no queue", "-", "-", poison)
    waiting = standing.waiting
    return (
        *named,
        f"{_ABOUT}{standing.count:,}" if waiting is None else f"{waiting:,}",
        _ABOUT if standing.hidden is None else f"{standing.hidden:,}",
        "-" if standing.oldest is None else bodies.since(standing.oldest, now),
        poison,
    )


def _used_by(target: Target) -> str:
    names = ", ".join(dict.fromkeys(each.name for each in target.functions))
    if target.role in (POISON, OUTPUT):
        return f"{names} ({target.role})"
    return names or "-"


def _watch(project: Project, every: bool) -> int:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    async def draw() -> None:
        clock = SystemClock()
        with Live(console=Console(), screen=True, auto_refresh=False) as live:
            while True:
                rows, errors = await _rows(project, every)
                lines = [as_table(rows, clock.utcnow()), "", *errors, "Ctrl-C ends this"]
                live.update(Text("\n".join(lines)), refresh=True)
                await clock.sleep(LOOK_EVERY_S)

    try:
        asyncio.run(draw())
    except KeyboardInterrupt:
        return ExitCode.OK
    return ExitCode.OK


def _as_json(rows: Sequence[Row]) -> str:
    return document(queues=[_as_object(row) for row in rows])


def _as_object(row: Row) -> dict[str, object]:
    standing, target = row.standing, row.target
    known = standing.error is None and standing.exists
    return {
        "queue": target.name,
        "account": target.account.name,
        "role": target.role,
        "functions": [each.name for each in target.functions],
        "exists": None if standing.error else standing.exists,
        "messages": standing.count if known else None,
        "waiting": standing.waiting if known else None,
        "hidden": standing.hidden if known else None,
        "oldest": standing.oldest.isoformat() if standing.oldest else None,
        "poison": row.poison,
        "error": str(standing.error) if standing.error else "",
    }

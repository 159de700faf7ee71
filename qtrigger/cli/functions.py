"""`qtrigger list`: the functions of a project, and what state each is in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import click

from qtrigger.cli import projects, targets, wiring
from qtrigger.cli.listing import broken, document, fits, format_option, table, terminal_width
from qtrigger.cli.queue_client import open_queues
from qtrigger.cli.standing import Standing, silences, standings
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.pauses import PauseFile, state_folder
from qtrigger.project.model import FunctionDefinition, Project, Severity

EPILOG = """\b
Examples:
  qtrigger list
  qtrigger list ./orders --format json
"""
READY, DISABLED, PAUSED, ERROR, NOT_RUN = "ready", "disabled", "paused", "error", "not run here"


_HEADER: Final = ("NAME", "QUEUE", "CONNECTION", "STATE", "MESSAGES", "WHY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One function; `definition` is None for one that cannot be run."""

    name: str
    state: str
    why: str = ""
    definition: FunctionDefinition | None = None
    standing: Standing | None = None


@click.command(
    "list", short_help="List the functions, their queues and what state each is in.", epilog=EPILOG
)
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@wiring.state_option
@format_option
def list_functions(project: str | None, environment: str, state: str | None, form: str) -> int:
    """List the functions of PROJECT (default: the nearest folder upwards with a host.json).

    MESSAGES is about how many stand in a function's queue, hidden ones too, and - where that is
    not known. Whether a host runs is not looked at. Exit codes: 0 listed, 3 the project cannot be
    read.
    """
    root = wiring.find_root(project)
    loaded = projects.load_alone(root, os.environ, environment)
    written = PauseFile(state_folder(root, state)).read()
    if written.problem:
        wiring.note(f"warning: {written.problem}")
    now = datetime.now(UTC)
    pauses = {name: each.in_words() for name, each in written.pauses.items() if not each.over(now)}
    listed = asyncio.run(_counted(list(functions_of(loaded, pauses))))
    if form == "json" or listed or not loaded.unread:
        click.echo(_as_json(listed) if form == "json" else as_table(listed, terminal_width()))
    if loaded.blocked or loaded.unread:
        return ExitCode.PROJECT
    return ExitCode.OK


def functions_of(project: Project, pauses: Mapping[str, str]) -> Iterator[Listed]:
    """The functions by name; `pauses` are the words for those paused by hand, by small name."""
    found: list[Listed] = []
    for function in project.functions:
        state, why = READY, ""
        if function.disabled:
            state, why = DISABLED, function.disabled
        elif paused := pauses.get(function.name.casefold()):
            state, why = PAUSED, paused
        found.append(Listed(name=function.name, state=state, why=why, definition=function))
    found += [Listed(name=name, state=ERROR, why=_error(project, name)) for name in project.failed]
    found += [
        Listed(name=name, state=NOT_RUN, why=f"its trigger is {type_}")
        for name, type_ in project.not_run.items()
    ]
    yield from sorted(found, key=lambda each: each.name.casefold())


def _error(project: Project, name: str) -> str:
    problems = (
        each
        for each in project.problems
        if each.function == name and each.severity == Severity.ERROR
    )
    problem = next(problems, None)
    return "" if problem is None else f"{problem.place}: {problem.message}".removeprefix(": ")


async def _counted(listed: list[Listed]) -> list[Listed]:
    clock = SystemClock()
    runnable = [(each, each.definition) for each in listed if each.definition is not None]
    asked = [
        targets.Target(
            name=function.trigger.queue,
            account=function.trigger.account,
            encoding=function.options.message_encoding,
        )
        for _, function in runnable
    ]
    async with open_queues(clock) as queues:
        found = await standings(asked, queues, clock, look=False)
    for error in silences(asked, found):
        wiring.note(f"note: {error}")
    counted = {each.name: one for (each, _), one in zip(runnable, found, strict=True)}
    return [
        Listed(
            name=each.name,
            state=each.state,
            why=each.why,
            definition=each.definition,
            standing=counted.get(each.name),
        )
        for each in listed
    ]


def as_table(listed: list[Listed], width: int | None = None) -> str:
    """The functions in columns; on a narrow terminal, why they are as they are stands below."""
    if not listed:
        return "the project has no functions; qtrigger check says why where something is wrong"
    rows = [_row(each) for each in listed]
    whole = table(_HEADER, rows)
    if fits(whole, width):
        return whole
    narrow = table(_HEADER[:-1], rows, width=width, names=3)
    why = [broken(f"{each.name}: {each.why}", width) for each in listed if each.why]
    return "\n".join([narrow, *(["", *why] if why else [])])


def _row(each: Listed) -> tuple[str, ...]:
    trigger = each.definition.trigger if each.definition else None
    return (
        each.name,
        trigger.queue if trigger else "-",
        trigger.connection if trigger else "-",
        each.state,
        _count(each),
        each.why,
    )


def _count(each: Listed) -> str:
    standing = each.standing
    if standing is None or standing.error is not None:
        return "-"
    return f"{standing.count:,}" if standing.exists else "no queue"


def _as_json(listed: list[Listed]) -> str:
    return document(
        functions=[
            {
                "name": each.name,
                "queue": each.definition.trigger.queue if each.definition else None,
                "connection": each.definition.trigger.connection if each.definition else None,
                "poison_queue": each.definition.poison_queue if each.definition else None,
                "state": each.state,
                "why": each.why,
                "messages": (
                    each.standing.count
                    if each.standing and each.standing.exists and not each.standing.error
                    else None
                ),
            }
            for each in listed
        ]
    )

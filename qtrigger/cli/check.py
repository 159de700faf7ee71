"""`qtrigger check`: everything that is wrong with a project, at once, as a compiler says it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from qtrigger.cli import colours, projects, wiring
from qtrigger.cli.connect import REQUEST_LIMIT_S, Queue, look_at
from qtrigger.cli.connect import problems as queue_problems
from qtrigger.cli.outlet import width_of
from qtrigger.cli.report import Report, as_github, as_json, as_text, ordered
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import ExitCode, ProjectError
from qtrigger.project.model import Problem, Project, Severity
from qtrigger.queues.account import Account
from qtrigger.queues.look import Inspected

EPILOG = """\b
Examples:
  qtrigger check
  qtrigger check ./orders --connect --environment Production
  qtrigger check --strict --format github
"""


@click.command(epilog=EPILOG, short_help="Say everything that is wrong with the project.")
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@click.option(
    "--format",
    "form",
    envvar="QTRIGGER_CHECK_FORMAT",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How findings are written; github: annotations of GitHub Actions.",
)
@click.option(
    "--connect",
    is_flag=True,
    help="Go on to each queue: is it reachable, is it there, what is refused. Takes no message.",
)
@click.option("--no-import", is_flag=True, help="Do not import the functions' code.")
@click.option("--strict", is_flag=True, help="Let warnings count like errors.")
@colours.colour_option
def check(
    project: str | None,
    environment: str,
    form: str,
    connect: bool,
    no_import: bool,
    strict: bool,
    color: str,
) -> int:
    """Read PROJECT (default: the nearest folder upwards with a host.json) and say what is wrong.

    The functions' code is imported in a worker of its own, as a host would.

    Exit codes: 0 nothing is wrong, 3 the project has errors, 4 a queue service cannot be reached
    or refuses (with --connect).
    """
    root = wiring.find_root(project)
    clock = SystemClock()
    if no_import:
        loaded = projects.read(root, os.environ, environment)
        problems = [*loaded.problems, *(_unlisted(loaded) or _nothing_runs(loaded))]
    else:
        loaded, failures = asyncio.run(_imported(root, environment, clock))
        problems = [*loaded.problems, *_nothing_runs(loaded), *failures]
    queues: list[Queue] = []
    if connect:
        queues = asyncio.run(look_at(loaded, _open_with(clock), clock))
    found = queue_problems(queues)
    report = Report(
        root=root,
        environment=environment,
        problems=tuple(ordered([*problems, *found])),
        functions=len(loaded.functions) + len(loaded.failed) + len(loaded.not_run),
        queues=tuple(queues),
    )
    _write(report, form, color)
    return _exit_code(problems, found, strict=strict)


async def _imported(root: Path, environment: str, clock: Clock) -> tuple[Project, list[Problem]]:
    """The project with everything that only a worker can tell."""
    from qtrigger.cli.imports import load_failures

    notes = projects.ImportNotes()
    loaded = await projects.load(root, os.environ, environment, clock=clock, sink=notes)
    try:
        return loaded.project, await load_failures(loaded, clock)
    finally:
        await loaded.close()


def _unlisted(project: Project) -> list[Problem]:
    """What is left unsaid of a script with decorators that nobody has imported."""
    if project.decorator_script is None or project.blocked:
        return []
    return [
        Problem(
            severity=Severity.WARNING,
            message="the functions of this file are not checked: without importing it nobody can "
            "list them",
            file=project.decorator_script.name,
            line=1,
            hint="leave away --no-import",
        )
    ]


def _nothing_runs(project: Project) -> list[Problem]:
    """What a host would say in the end, where no other error says why."""
    if any(problem.severity is Severity.ERROR for problem in project.problems):
        return []
    try:
        wiring.check_runnable(project)
    except ProjectError as error:
        return [Problem(severity=Severity.ERROR, message=str(error))]
    return []


def _write(report: Report, form: str, color: str) -> None:
    if form == "json":
        click.echo(as_json(report))
    elif form == "github":
        click.echo(as_github(report, Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())))
    else:
        width = width_of(sys.stdout) if sys.stdout.isatty() else None
        click.echo(as_text(report, width), color=colours.wanted(color, sys.stdout))


def _exit_code(problems: list[Problem], of_queues: list[Problem], *, strict: bool) -> ExitCode:
    """The project's own errors first: they have to be mended before a service matters."""
    if any(strict or problem.severity is Severity.ERROR for problem in problems):
        return ExitCode.PROJECT
    if any(problem.severity is Severity.ERROR for problem in of_queues):
        return ExitCode.SERVICE
    return ExitCode.PROJECT if strict and of_queues else ExitCode.OK


def _open_with(clock: Clock) -> Callable[[Account], Inspected]:
    from qtrigger.queues.rest import RestQueueService

    def open_service(account: Account) -> Inspected:
        return RestQueueService(account, clock, timeout_s=REQUEST_LIMIT_S)

    return open_service

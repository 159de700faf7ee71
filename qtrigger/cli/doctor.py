"""`qtrigger doctor`: what stands in the way on this machine, and the cure for each."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qtrigger import __version__
from qtrigger.cli import projects, wiring
from qtrigger.cli.examined import Examined, State
from qtrigger.cli.listing import document, format_option, table
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import ExitCode, ProjectError

if TYPE_CHECKING:
    from qtrigger.project.model import Project
    from qtrigger.queues.probe import Listening

# All together stay under ten seconds: a person waits for it.
PROJECT_LIMIT_S: Final = 4.0
PORTS_LIMIT_S: Final = 1.0
SERVICES_LIMIT_S: Final = 4.0
SLOW_IMPORT: Final = "see what the functions' script does while it is imported: qtrigger check"
SLOW_NETWORK: Final = "qtrigger check --connect waits longer"

EPILOG = """\b
Examples:
  qtrigger doctor
  qtrigger doctor ./orders --format json

Exit codes: 0 nothing fails, 2 wrong usage, 3 something fails.
"""


@click.command(
    epilog=EPILOG, short_help="Look at this machine, and say what stands in the way and its cure."
)
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@wiring.state_option
@format_option
def doctor(project: str | None, environment: str, state: str | None, form: str) -> int:
    """Look at this machine, and at PROJECT (default: the nearest upwards with a host.json).

    Looks at Python and packages, Node.js and Azurite, ports, connections, clocks, the watching of
    files, their rights, proxies and the journal. Changes nothing and takes no message; under ten
    seconds.
    """
    found: list[Examined] = []
    try:
        root: Path | None = wiring.find_root(project)
    except ProjectError as error:
        if project is not None:
            raise
        root = None
        found.append(_no_project(str(error)))
    found += _of_machine(root, state)
    if root is not None:
        found += asyncio.run(_of_project(root, environment, SystemClock()))
    _write(found, form)
    return ExitCode.PROJECT if any(each.state is State.FAIL for each in found) else ExitCode.OK


def _no_project(why: str) -> Examined:
    return Examined(
        what="project",
        state=State.WARN,
        found=why.partition(". ")[0],
        cure="change to a project's folder, or qtrigger init",
    )


def _of_machine(root: Path | None, state: str | None) -> Iterator[Examined]:
    from qtrigger.cli import examine_machine
    from qtrigger.pauses import state_folder
    from qtrigger.queues.azurite_find import Machine

    python = f"{platform.python_version()}, {platform.system()}"
    yield Examined(what="qtrigger", found=f"{__version__}, Python {python}")
    yield from examine_machine.packages()
    yield examine_machine.azurite(root or Path.cwd(), Machine.here())
    if root is not None:
        yield from examine_machine.files(root, state_folder(root, state).absolute())
    for each in (
        examine_machine.watching(),
        examine_machine.proxies(os.environ),
        examine_machine.journal(os.environ),
    ):
        if each is not None:
            yield each


async def _of_project(root: Path, environment: str, clock: Clock) -> list[Examined]:
    from qtrigger.cli import examine_project
    from qtrigger.queues.azurite import DATA_FOLDER
    from qtrigger.queues.azurite_process import DataFolder

    loaded = await _loaded(root, environment, clock)
    used = examine_project.accounts(loaded.project) if loaded.project else ()
    holder = DataFolder(root / DATA_FOLDER).used_by()
    needed = examine_project.emulator_ports(used)
    seen = await examine_project.look_at_ports(needed, clock, limit_s=PORTS_LIMIT_S)
    on_ports = [
        examine_project.of_port(port, found, holder, needed=needed[port])
        for port, found in seen.items()
    ]
    # Elsewhere nobody brings an emulator, and each is a service like any other.
    development = environment.casefold() == "development"
    listening = {port: each.listening for port, each in seen.items()} if development else {}
    return [*loaded.examined, *on_ports, *await _services(loaded.project, listening, clock)]


@dataclass(slots=True, kw_only=True)
class _Loaded:
    project: Project | None = None
    examined: list[Examined] = field(default_factory=list)


async def _loaded(root: Path, environment: str, clock: Clock) -> _Loaded:
    """The project, and what is to be said of it and of the Python of its functions."""
    from qtrigger.cli import examine_project
    from qtrigger.workers.interpreter import choose_interpreter

    found = _Loaded()
    try:
        files = projects.read(root, os.environ, environment)
    except ProjectError as error:
        found.examined.append(Examined(what="project", state=State.FAIL, found=str(error)))
        return found
    chosen = choose_interpreter(root, files.settings)
    python = asyncio.to_thread(examine_project.interpreter, chosen, root, files.settings)

    async def load() -> list[Examined]:
        whole = await projects.load(
            root, os.environ, environment, clock=clock, sink=projects.ImportNotes()
        )
        found.project = whole.project
        await whole.close()
        return [examine_project.findings(whole.project.problems)]

    asked, loaded = await asyncio.gather(
        python, _within(PROJECT_LIMIT_S, "project", load(), clock, cure=SLOW_IMPORT)
    )
    found.examined += [asked, *loaded]
    return found


async def _services(
    project: Project | None, on_ports: Mapping[int, Listening], clock: Clock
) -> list[Examined]:
    """What the project's accounts answer."""
    from qtrigger.cli import examine_project
    from qtrigger.queues.account import Account
    from qtrigger.queues.look import Inspected
    from qtrigger.queues.rest import RestQueueService
    from qtrigger.queues.skew import skew

    if project is None:
        return []

    def open_service(account: Account) -> Inspected:
        return RestQueueService(account, clock, timeout_s=SERVICES_LIMIT_S / 2)

    used = examine_project.accounts(project)
    connections = examine_project.connections(project, on_ports, open_service, clock)
    clocks = examine_project.clocks(used, lambda endpoint: skew(endpoint, clock))
    both = await asyncio.gather(
        _within(SERVICES_LIMIT_S, "connection", connections, clock, cure=SLOW_NETWORK),
        _within(SERVICES_LIMIT_S, "clock", clocks, clock, cure=SLOW_NETWORK),
    )
    return [each for found in both for each in found]


async def _within(
    limit_s: float, what: str, looking: Awaitable[list[Examined]], clock: Clock, *, cure: str
) -> list[Examined]:
    """What was found, or that it took too long or could not be told."""
    try:
        async with clock.timeout(limit_s):
            return await looking
    except TimeoutError:
        found = f"no answer within {limit_s:g} s"
        return [Examined(what=what, state=State.WARN, found=found, cure=cure)]
    except ProjectError as error:
        return [Examined(what=what, state=State.FAIL, found=str(error))]


def _write(found: Iterable[Examined], form: str) -> None:
    if form == "json":
        things: list[dict[str, Any]] = [
            {"what": each.what, "state": each.state, "found": each.found, "cure": each.cure or None}
            for each in found
        ]
        click.echo(document(examined=things))
        return
    rows = [
        (each.state, each.what, f"{each.found}  cure: {each.cure}" if each.cure else each.found)
        for each in found
    ]
    click.echo(table(("STATE", "WHAT", "FOUND"), rows))

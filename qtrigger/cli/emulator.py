"""`qtrigger emulator`: the project's local queue service, seen from outside."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qtrigger.cli import wiring
from qtrigger.cli.asking import confirm, yes_option
from qtrigger.cli.listing import document, format_option, table
from qtrigger.clock import SystemClock
from qtrigger.errors import EmulatorError, ExitCode
from qtrigger.queues.account import EMULATOR_PORT

if TYPE_CHECKING:
    from qtrigger.queues.probe import Found

EPILOG = """\b
Examples:
  qtrigger emulator start
  qtrigger emulator status
  qtrigger emulator clean --yes

Exit codes: 0 done, 2 wrong usage, 3 there is no project, 4 nothing answers, or it is in use.
"""
START_EPILOG = """\b
Examples:
  qtrigger emulator start
  qtrigger emulator start ./orders --port 10011

Exit codes: 0 stopped, or one runs there already, 2 wrong usage, 3 there is no project, 4 it does
not come up.
"""
STATUS_EPILOG = """\b
Examples:
  qtrigger emulator status
  qtrigger emulator status --port 10011 --format json

Exit codes: 0 a queue service answers, 2 wrong usage, 3 there is no project, 4 none answers.
"""
CLEAN_EPILOG = """\b
Examples:
  qtrigger emulator clean
  qtrigger emulator clean --dry-run

Exit codes: 0 done, 2 wrong usage, 3 there is no project, 4 a running host uses the data.
"""
project_argument = click.argument("project", required=False, type=click.Path())


@click.group(
    epilog=EPILOG,
    short_help="Run or show the project's local queue service, or remove its data.",
)
def emulator() -> None:
    """Run or show the local queue service of a project, or remove its data.

    `qtrigger start` brings one as well, for as long as it runs.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What answers on the port, and whose the data folder is; `holder` 0 is nobody's."""

    port: int
    found: Found
    data: Path
    holder: int


@emulator.command(epilog=START_EPILOG)
@project_argument
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=EMULATOR_PORT,
    metavar="PORT",
    help="Where it listens.",
)
def start(project: str | None, port: int) -> int:
    """Run PROJECT's local queue service until Ctrl-C, without its functions.

    A host that is started meanwhile uses it, and leaves it running.
    """
    return asyncio.run(_serve(wiring.find_root(project), port))


@emulator.command(epilog=STATUS_EPILOG)
@project_argument
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    metavar="PORT",
    help=f"Where to look (default: where a host of the project put it, else {EMULATOR_PORT}).",
)
@format_option
def status(project: str | None, port: int | None, form: str) -> int:
    """Say where PROJECT's local queue service listens, what it is and where its data are."""
    from qtrigger.queues.probe import HOST, Listening

    seen = asyncio.run(_look(wiring.find_root(project), port))
    state = {
        Listening.NOTHING: "not running",
        Listening.QUEUE_SERVICE: "running",
        Listening.SOMETHING_ELSE: "something else",
        Listening.SILENT: "no answer",
    }[seen.found.listening]
    data = str(seen.data) if seen.data.is_dir() else ""
    if form == "json":
        click.echo(
            document(
                state=state,
                address=f"{HOST}:{seen.port}",
                version=seen.found.server or None,
                data=data or None,
                host_pid=seen.holder or None,
            )
        )
    else:
        whose = f"process {seen.holder}" if seen.holder else "-"
        row = (state, f"{HOST}:{seen.port}", seen.found.server or "-", data or "-", whose)
        click.echo(table(("STATE", "ADDRESS", "VERSION", "DATA", "USED BY"), [row]))
    running = seen.found.listening is Listening.QUEUE_SERVICE
    return ExitCode.OK if running else ExitCode.SERVICE


@emulator.command(epilog=CLEAN_EPILOG)
@project_argument
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@yes_option
def clean(project: str | None, dry_run: bool, yes: bool) -> int:
    """Remove the queues and messages that PROJECT's Azurite keeps; not while it is in use."""
    from qtrigger.queues.azurite import DATA_FOLDER
    from qtrigger.queues.azurite_process import DataFolder

    folder = DataFolder(wiring.find_root(project) / DATA_FOLDER)
    if not folder.path.is_dir():
        click.echo(f"nothing to remove: there is no {folder.path}")
        return ExitCode.OK
    size = _size(folder.path)
    if dry_run:
        click.echo(f"would remove {folder.path} ({size})")
        return ExitCode.OK
    if holder := folder.used_by():
        raise EmulatorError(_in_use(folder.path, holder))
    confirm(f"remove all queues and messages in {folder.path} ({size})", yes=yes)
    if not folder.remove():
        raise EmulatorError(_in_use(folder.path, folder.used_by()))
    click.echo(f"removed {folder.path} ({size})")
    return ExitCode.OK


async def _serve(root: Path, port: int) -> int:
    from functools import partial

    from qtrigger.cli.progress import waiting
    from qtrigger.queues.azurite import ensure_emulator

    stop, clock = asyncio.Event(), SystemClock()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    coming = asyncio.create_task(
        ensure_emulator(
            root, port, progress=wiring.note, clock=clock, waiting=partial(waiting, clock=clock)
        )
    )
    stopped = asyncio.create_task(stop.wait())
    # An installation takes long, and may be given up.
    await asyncio.wait({coming, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if not coming.done():
        coming.cancel()
        await asyncio.wait({coming})
        return ExitCode.OK
    running = coming.result()
    try:
        click.echo(running.description)
        if running.started:
            wiring.note("Ctrl-C stops it")
            await stopped
    finally:
        stopped.cancel()
        await running.stop()
    return ExitCode.OK


async def _look(root: Path, port: int | None) -> Seen:
    from qtrigger.queues.azurite import DATA_FOLDER
    from qtrigger.queues.azurite_process import DataFolder
    from qtrigger.queues.probe import probe

    folder = DataFolder(root / DATA_FOLDER)
    holder = folder.used_by()
    noted = folder.holder()[1] if holder else 0
    where = port or noted or EMULATOR_PORT
    found = await probe(where, SystemClock())
    return Seen(port=where, found=found, data=folder.path, holder=holder)


def _in_use(folder: Path, holder: int) -> str:
    return f"{folder} is in use by process {holder}; stop that qtrigger first"


def _size(folder: Path) -> str:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} KB"

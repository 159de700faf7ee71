"""`qtrigger resume`: end a function's pause, and close its circuit breaker."""

from __future__ import annotations

import asyncio

import click

from qtrigger.cli import named, wiring
from qtrigger.clock import SystemClock
from qtrigger.errors import ExitCode
from qtrigger.pauses import PauseFile, state_folder

EPILOG = """\b
Examples:
  qtrigger resume charge
  qtrigger resume charge ./orders

Exit codes: 0 done, 2 there is no such function, 3 the project cannot be read.
"""


@click.command(short_help="End a function's pause, and close its circuit breaker.", epilog=EPILOG)
@click.argument("function")
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@wiring.state_option
def resume(function: str, project: str | None, environment: str, state: str | None) -> int:
    """Ask for messages of FUNCTION in PROJECT again (default: the nearest with a host.json).

    A host that runs does so within about a second; a circuit breaker that is open there is closed.
    """
    root = wiring.find_root(project)
    file = PauseFile(state_folder(root, state))
    # What is paused needs no look at a project, which may be broken by now.
    paused = file.read().pauses.get(function.casefold())
    name = paused.function if paused else named.function_of(root, function, environment)
    ended = asyncio.run(file.resume(name, SystemClock()))
    if ended is not None:
        click.echo(f"{name} is resumed; it was paused {ended.in_words()}")
    else:
        click.echo(f"{name} was not paused by hand; a circuit breaker that is open is closed")
    return ExitCode.OK

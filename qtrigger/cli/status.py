"""`qtrigger status`: how the hosts of a project stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from qtrigger.cli import hosts, wiring
from qtrigger.cli.listing import document, format_option, terminal_width
from qtrigger.errors import ExitCode
from qtrigger.rendezvous import NoAnswerError
from qtrigger.state import state_folder

EPILOG = """\b
Examples:
  qtrigger status
  qtrigger status ./orders --watch
  qtrigger status --check && echo ready

Exit codes: 0 done, 4 no host runs, or none answers; with --check 0 ready and 1 not ready.
"""


@click.command(short_help="Show how a running host stands.", epilog=EPILOG)
@click.argument("project", required=False, type=click.Path())
@click.option("--watch", is_flag=True, help="Show it anew each second; q or Ctrl-C ends.")
@click.option("--check", is_flag=True, help="Say nothing; exit with 0 when ready, else with 1.")
@wiring.state_option
@format_option
def status(project: str | None, *, watch: bool, check: bool, state: str | None, form: str) -> int:
    """Show how the hosts of PROJECT stand (default: the nearest folder with a host.json).

    Each function with what runs, what has come of its messages, and what waits on its queue.
    """
    if check and watch:
        raise click.UsageError("--check and --watch do not go together")
    root = wiring.find_root(project)
    folder = state_folder(root, state)
    if check:
        return ExitCode.OK if _all_ready(root, folder) else ExitCode.BUG
    if watch:
        from qtrigger.cli.watching import watched

        return watched(lambda: _standings(hosts.found(root, folder)), root)
    paths = hosts.found(root, folder)
    if not paths:
        return hosts.none_runs(root)
    standings = _standings(paths)
    if not standings:
        return ExitCode.SERVICE
    if form == "json":
        click.echo(document(hosts=standings))
    else:
        from qtrigger.cli.standings import as_text

        width = terminal_width()
        click.echo("\n\n".join(as_text(each, width=width) for each in standings))
    return ExitCode.OK


def _all_ready(root: Path, folder: Path) -> bool:
    try:
        states = [hosts.ask(path, "state")["state"] for path in hosts.found(root, folder)]
    except NoAnswerError:
        return False
    return bool(states) and all(each == "ready" for each in states)


def _standings(paths: Sequence[Path]) -> Sequence[Mapping[str, Any]]:
    """How those hosts stand that answer; of the others it is said that they do not."""
    found = []
    for path in paths:
        try:
            answer = dict(hosts.ask(path, "status", queues=True))
        except NoAnswerError as error:
            wiring.note(f"warning: {error}")
            continue
        del answer["version"]
        found.append(answer)
    return found

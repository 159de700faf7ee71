"""`qtrigger reload`: have running hosts load their project anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from qtrigger.cli import hosts, wiring
from qtrigger.errors import ExitCode
from qtrigger.rendezvous import NoAnswerError
from qtrigger.state import state_folder

EPILOG = """\b
Examples:
  qtrigger reload
  qtrigger reload ./orders --wait

Exit codes: 0 done, 3 the project cannot be loaded and the host goes on as before, or none of its
functions can run, 4 no host runs, 5 some of its functions cannot run.
"""


@click.command(short_help="Have a running host load its project anew.", epilog=EPILOG)
@click.argument("project", required=False, type=click.Path())
@click.option("--wait", is_flag=True, help="Wait until that is done, and say how it went.")
@wiring.state_option
def reload(project: str | None, *, wait: bool, state: str | None) -> int:
    """Have the hosts of PROJECT load it anew (default: the nearest folder with a host.json).

    A new host takes over once it is ready; until then, and if the project cannot be loaded, the
    one that runs goes on. The same as SIGHUP.
    """
    root = wiring.find_root(project)
    paths = hosts.found(root, state_folder(root, state))
    if not paths:
        return hosts.none_runs(root)
    codes = [_one(path, wait=wait) for path in paths]
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def _one(path: Path, *, wait: bool) -> ExitCode:
    """Ask one host, and say what becomes of it."""
    timeout_s = hosts.WAIT_S if wait else hosts.ANSWER_S
    try:
        answer = hosts.ask(path, "reload", wait=wait, timeout_s=timeout_s)
    except NoAnswerError as error:
        wiring.note(f"error: {error}")
        return ExitCode.SERVICE
    if answer["rejection"]:
        wiring.note(f"error: host {answer['pid']} goes on as before: {answer['rejection']}")
        return ExitCode.PROJECT
    # A host of an older version says nothing of faults.
    if answer["reloaded"] and answer.get("faults"):
        return _faulty(answer)
    if answer["reloaded"]:
        click.echo(f"host {answer['pid']} has loaded the project anew and is ready")
        return ExitCode.OK
    if wait:
        wiring.note(f"host {answer['pid']} stops instead")
        return ExitCode.SERVICE
    click.echo(f"host {answer['pid']} loads the project anew")
    return ExitCode.OK


def _faulty(answer: Mapping[str, Any]) -> ExitCode:
    """Say where to mend what cannot run."""
    which = "none of its functions" if answer["none_runs"] else "not all of its functions"
    wiring.note(f"error: host {answer['pid']} has loaded the project anew, and {which} can run:")
    for each in answer["faults"]:
        parts = [each["place"], each["function"], each["message"]]
        wiring.note(f"  {': '.join(part for part in parts if part)}")
    return ExitCode.PROJECT if answer["none_runs"] else ExitCode.PARTLY

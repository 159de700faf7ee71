"""`qtrigger reload`: have running hosts load their project anew."""

from __future__ import annotations

import click

from qtrigger.cli import hosts, wiring
from qtrigger.errors import ExitCode
from qtrigger.rendezvous import NoAnswerError
from qtrigger.state import state_folder

EPILOG = """\b
Examples:
  qtrigger reload
  qtrigger reload ./orders --wait

Exit codes: 0 done, 3 the project cannot be loaded and the host goes on as before, 4 no host runs.
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
    code = ExitCode.OK
    for path in paths:
        try:
            answer = hosts.ask(
                path, "reload", wait=wait, timeout_s=hosts.WAIT_S if wait else hosts.ANSWER_S
            )
        except NoAnswerError as error:
            wiring.note(f"error: {error}")
            code = ExitCode.SERVICE
            continue
        if answer["rejection"]:
            wiring.note(f"error: host {answer['pid']} goes on as before: {answer['rejection']}")
            code = ExitCode.PROJECT
        elif answer["reloaded"]:
            click.echo(f"host {answer['pid']} has loaded the project anew and is ready")
        elif wait:
            wiring.note(f"host {answer['pid']} stops instead")
            code = ExitCode.SERVICE
        else:
            click.echo(f"host {answer['pid']} loads the project anew")
    return code

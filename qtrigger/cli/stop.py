"""`qtrigger stop`: end running hosts once what runs has finished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from qtrigger.cli import hosts, wiring
from qtrigger.errors import ExitCode
from qtrigger.rendezvous import NoAnswerError
from qtrigger.state import state_folder

EPILOG = """\b
Examples:
  qtrigger stop
  qtrigger stop ./orders --wait

Exit codes: 0 done, 4 no host runs, 5 messages are left that come back when their leases end.
"""


@click.command(short_help="End a running host once what runs has finished.", epilog=EPILOG)
@click.argument("project", required=False, type=click.Path())
@click.option("--wait", is_flag=True, help="Wait until it has ended, and say how it went.")
@wiring.state_option
def stop(project: str | None, *, wait: bool, state: str | None) -> int:
    """End the hosts of PROJECT (default: the nearest folder upwards with a host.json).

    What runs may finish; what does not in time is handed back. Asked again, a host hands back
    what runs and leaves at once. The same as SIGTERM.
    """
    root = wiring.find_root(project)
    paths = hosts.found(root, state_folder(root, state))
    if not paths:
        return hosts.none_runs(root)
    code = ExitCode.OK
    for path in paths:
        try:
            answer = hosts.ask(
                path, "stop", wait=wait, timeout_s=hosts.WAIT_S if wait else hosts.ANSWER_S
            )
        except NoAnswerError as error:
            wiring.note(f"error: {error}")
            code = ExitCode.SERVICE
            continue
        if not wait:
            click.echo(f"host {answer['pid']} stops")
        elif not _ended(answer):
            code = ExitCode.PARTLY
    return code


def _ended(answer: Mapping[str, Any]) -> bool:
    """Say how a host has ended; whether nothing is left."""
    pid, counts, left = answer["pid"], answer["counts"], answer["unsettled"]
    if not hosts.wait_gone(pid):
        wiring.note(f"error: host {pid} has stopped, and its process does not end")
        return False
    handed = counts.get("handed_back", 0)
    click.echo(
        f"host {pid} has ended: {counts.get('succeeded', 0):,} succeeded, "
        f"{counts.get('failed_tries', 0):,} failed tries, {handed:,} handed back"
    )
    if left:
        wiring.note(f"{left:,} messages could not be handed back and come back with their leases")
    return not left

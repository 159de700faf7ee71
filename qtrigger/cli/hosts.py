"""Speaks to the hosts of a project that run on this machine.

Owns which hosts are meant, and what is said when there is none. Imports little: a probe asks every
few seconds.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from qtrigger import rendezvous
from qtrigger.errors import ExitCode

# What a host answers within, without a look at its queues, and with one.
ANSWER_S = 5.0
WAIT_S = 3600.0
# Once a host has answered that it has stopped, its process has so long to be gone.
GONE_S = 15.0
LOOK_S = 0.05
# As `standing` says it.
BREAKER_OPEN = "breaker open"


def found(root: Path, state: Path) -> Sequence[Path]:
    """The sockets of the project's hosts, none when none runs."""
    return rendezvous.hosts(root, state, os.environ)


def none_runs(root: Path) -> int:
    """Say that no host runs, and return the exit code for it."""
    click.echo(
        f"no host of {root} runs here, or it keeps its state elsewhere: start it with qtrigger "
        "start, or name the folder that it was given by --state",
        err=True,
    )
    return ExitCode.SERVICE


def ask(path: Path, what: str, *, timeout_s: float = ANSWER_S, **more: Any) -> Mapping[str, Any]:
    """Ask one host. Raises NoAnswerError."""
    return rendezvous.ask(path, {"do": what, **more}, timeout_s=timeout_s)


def open_breakers(root: Path, state: Path) -> Sequence[Mapping[str, Any]]:
    """The functions whose circuit breakers are open in a host, with `name`, `why` and `pid`.

    A host that does not answer is passed over.
    """
    found_open = []
    for path in found(root, state):
        with contextlib.suppress(rendezvous.NoAnswerError):
            answer = ask(path, "status", queues=False)
            found_open += [
                {"name": each["name"], "why": each["why"], "pid": answer["pid"]}
                for each in answer["functions"]
                if each["state"] == BREAKER_OPEN
            ]
    return found_open


def wait_gone(pid: int) -> bool:
    """Wait until a process has ended, for a while; whether it has."""
    until = time.monotonic() + GONE_S
    while time.monotonic() < until:
        if not _runs(pid):
            return True
        time.sleep(LOOK_S)
    return False


def _runs(pid: int) -> bool:
    """Whether that process has not ended; one that its parent has not asked about yet has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        said = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:  # there is no such file everywhere
        return True
    return said.rpartition(")")[2].split()[:1] != ["Z"]

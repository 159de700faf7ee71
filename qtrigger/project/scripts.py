"""Which file holds a function's code.

Owns Azure's rule for a function.json that does not say so. Does not look into the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from qtrigger.project.findings import shown

_NAMES: Final = ("index.js", "index.mjs", "index.cjs", "__init__.py")
_PYTHON: Final = ".py"


class ScriptError(Exception):
    """No script, or no Python script; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def primary_script(directory: Path, script_file: str | None) -> Path:
    """The script of the function in `directory`. Raises ScriptError."""
    script = _undeclared(directory) if script_file is None else _declared(directory, script_file)
    if script.suffix != _PYTHON:
        raise ScriptError(
            f"the script {shown(script.name)} is no Python file", "only Python runs here"
        )
    return script


def _declared(directory: Path, script_file: str) -> Path:
    if not script_file.strip() or "\0" in script_file:
        raise ScriptError("scriptFile is empty", "name the file, or leave scriptFile away")
    # Normalised as text: following links would lead out of a project that is itself linked to.
    script = Path(os.path.normpath(directory / script_file))
    if not script.is_file():
        hint = "it counts from the function's folder"
        if "\\" in script_file:
            hint = 'folders are separated by "/"'
        raise ScriptError(f"there is no file {shown(script_file)} as scriptFile says", hint)
    return script


def _undeclared(directory: Path) -> Path:
    found = sorted(
        entry for entry in directory.iterdir() if entry.is_file() and entry.name != "function.json"
    )
    if not found:
        raise ScriptError("the folder holds no script", "add __init__.py, or say scriptFile")
    if len(found) == 1:
        return found[0]
    named = {entry.name.lower(): entry for entry in found}
    for entry in found:
        if entry.stem.lower() == "run":
            return entry
    for name in _NAMES:
        if name in named:
            return named[name]
    names = ", ".join(entry.name for entry in found[:5])
    raise ScriptError(
        f"the script cannot be told among {names}{', …' if len(found) > 5 else ''}",
        "name it by scriptFile, or call it __init__.py",
    )

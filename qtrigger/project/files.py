"""Reading one configuration file from disk.

Owns what is said when a file cannot be read or is no JSON. Knows nothing of what files mean.
"""

from __future__ import annotations

from pathlib import Path

from qtrigger.project import jsonc
from qtrigger.project.findings import Findings, Place
from qtrigger.project.tree import Tree


def read(path: Path, name: str, findings: Findings) -> Tree | None:
    """The file's content; None after an error was noted. `name` is the path that people see."""
    try:
        with path.open("rb") as file:
            data = file.read(jsonc.MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        findings.error(f"the file cannot be read: {reason}", Place(file=name, line=1))
        return None
    try:
        return Tree(name, jsonc.parse(data))
    except jsonc.JsonError as error:
        place = Place(file=name, line=error.line, column=error.column)
        findings.error(f"not valid JSON: {error}", place)
        return None

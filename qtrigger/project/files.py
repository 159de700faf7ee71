"""Reading one configuration file from disk.

Owns what is said when a file cannot be read or is no JSON. Knows nothing of what files mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from qtrigger.project import jsonc
from qtrigger.project.findings import Findings, Place, looks_secret
from qtrigger.project.tree import Tree

SECRETS_FILE: Final = "local.settings.json"
CONTEXT: Final = 80


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
        findings.error(f"not valid JSON: {error}", place, _context(data, place))
        return None


def _context(data: bytes, place: Place) -> str:
    """The text around the mistake, unless the file is one of secrets or the text looks like one."""
    lines = data.decode("utf-8", "replace").splitlines()
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    start = max(0, place.column - 1 - CONTEXT // 2)
    text = line[start : start + CONTEXT].strip()
    if place.file == SECRETS_FILE or not text or not text.isprintable() or looks_secret(line):
        return "a comma, a quote or a bracket is missing before it, or one too many"
    return f"it stands in: {text}"

"""Function folders: where function.json files are, and what each declares.

Owns the two places where functions are looked for, and the clash of names between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from qtrigger.project import files
from qtrigger.project.definitions import Declaration
from qtrigger.project.findings import Findings, Place

FILE: Final = "function.json"
FOLDER: Final = "functions"


def folders(root: Path) -> tuple[Path, ...]:
    """The folders that hold a function.json, by name without case."""
    found = [*_holding(root), *_holding(root / FOLDER)]
    return tuple(sorted(found, key=lambda folder: (folder.name.casefold(), str(folder))))


def name_clashes(root: Path, found: tuple[Path, ...]) -> dict[str, Place]:
    """The first folder's place for each name, in small letters, that more than one folder has."""
    first: dict[str, Path] = {}
    clashes: dict[str, Place] = {}
    for folder in found:
        name = folder.name.casefold()
        if name in first:
            clashes[name] = Place(file=_shown(root, first[name]), line=1)
        first.setdefault(name, folder)
    return clashes


def read(root: Path, folder: Path, findings: Findings) -> Declaration | None:
    """What a folder declares; None after an error was noted."""
    tree = files.read(folder / FILE, _shown(root, folder), findings)
    if tree is None:
        return None
    return Declaration(name=folder.name, directory=folder, tree=tree)


def place(root: Path, folder: Path) -> Place:
    """The place of a folder's file as a whole."""
    return Place(file=_shown(root, folder), line=1)


def _holding(parent: Path) -> Iterator[Path]:
    try:
        entries = sorted(parent.iterdir())
    except OSError:
        return
    for entry in entries:
        try:
            if (entry / FILE).is_file():
                yield entry
        except OSError:
            continue


def _shown(root: Path, folder: Path) -> str:
    return (folder / FILE).relative_to(root).as_posix()

"""A file's value while it is brought into shape, and where each part of it came from.

Owns the way back from a part, by its path with keys spelled as the schema spells them, to the
place in the file or to the setting that overrode it. Knows no schema and no rule.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any, Protocol

from qtrigger.project.findings import Findings, Place
from qtrigger.project.jsonc import Duplicate, Path
from qtrigger.project.model import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A finding about the part at `path`; `on_key` when the key itself is at fault."""

    path: Path
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    on_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A setting that replaced a part: its name, and where the setting itself stands."""

    name: str
    place: Place


class Source(Protocol):
    """A value and the places of its parts, as `jsonc.Document` has them."""

    value: Any
    duplicates: tuple[Duplicate, ...]

    def value_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the part at `path`, or of the nearest part around it."""

    def key_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the key at the end of `path`."""

    def element(self, path: Path) -> str:
        """What tells the element at `path` from its neighbours."""


class OnePlace:
    """A value whose parts all have one place, such as a function declared by decorators."""

    def __init__(self, value: Any, line: int = 1) -> None:
        self.value = value
        self.duplicates: tuple[Duplicate, ...] = ()
        self._line = line

    def value_place(self, path: Path) -> tuple[int, int]:
        """The one place."""
        return self._line, 1

    key_place = value_place

    def element(self, path: Path) -> str:
        """Its name, since nobody sees the elements stand in an order."""
        part = self.value
        for key in path:
            part = part[key]
        name = part.get("name") if isinstance(part, dict) else None
        return json.dumps(path[-1] if name is None else name)


class Tree:
    """A file's value with the way back to its places. Changed only while a file is being read."""

    def __init__(self, file: str, document: Source) -> None:
        self.file = file
        self.value: Any = document.value
        self.document = document
        self._written: dict[Path, str] = {}
        self._overrides: dict[Path, Override] = {}

    def at(self, path: Path) -> Any:
        """The part at `path`, None when it is not there."""
        part = self.value
        for key in path:
            if isinstance(part, dict) and isinstance(key, str):
                part = part.get(key)
            elif isinstance(part, list) and isinstance(key, int) and key < len(part):
                part = part[key]
            else:
                return None
        return part

    def rename(self, path: Path, written: str) -> None:
        """Note how the file spells the last key of `path`."""
        self._written[path] = written

    def replace(self, path: Path, value: Any, by: Override | None = None) -> None:
        """Put a value at `path`, with the objects on the way; `by` is the setting that says so."""
        if by:
            self._overrides[path] = by
        if not path:
            self.value = value
            return
        if not isinstance(self.value, dict):
            self.value = {}
        part = self.value
        for key, following in itertools.pairwise(path):
            part = _container(part, key, empty=[] if isinstance(following, int) else {})
        if isinstance(part, list):
            _pad(part, path[-1])
        part[path[-1]] = value

    def override(self, path: Path) -> Override | None:
        """The setting that gave the part at `path` or what it stands in."""
        for end in range(len(path), 0, -1):
            if found := self._overrides.get(path[:end]):
                return found
        return None

    def place(self, path: Path, *, on_key: bool = False) -> Place:
        """Where the part stands: in the file, or where the overriding setting stands."""
        if found := self.override(path):
            return found.place
        written = tuple(self._written.get(path[: n + 1], key) for n, key in enumerate(path))
        find = self.document.key_place if on_key else self.document.value_place
        line, column = find(written)
        return Place(file=self.file, line=line, column=column)

    def label(self, path: Path) -> str:
        """The part's name in an error text: `bindings[0].type`, or the overriding setting's."""
        if found := self.override(path):
            return found.name
        text = ""
        for depth, key in enumerate(path, 1):
            if isinstance(key, int):
                text += f"[{self.document.element(path[:depth])}]"
            else:
                text += f".{key}"
        return text.removeprefix(".") or "the file"

    def report(self, fault: Fault, findings: Findings) -> None:
        """Turn a fault into a problem with its place."""
        place = self.place(fault.path, on_key=fault.on_key)
        add = findings.error if fault.severity is Severity.ERROR else findings.warning
        add(fault.message, place, fault.hint)


def _container(part: Any, key: str | int, *, empty: Any) -> Any:
    if isinstance(part, list):
        _pad(part, key)
    found = part.get(key) if isinstance(part, dict) else part[key]
    if not isinstance(found, type(empty)):
        part[key] = found = empty
    return found


def _pad(items: list[Any], key: str | int) -> None:
    assert isinstance(key, int)
    items.extend([None] * (key + 1 - len(items)))

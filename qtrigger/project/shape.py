"""Bringing a file's value into the shape that its schema speaks of.

Owns key spelling, unknown and misplaced keys, and texts that stand for numbers or words. Judges
no value; `problems` does. Works alike for every file, from the schema alone.
"""

from __future__ import annotations

import re
from typing import Any, Final

from qtrigger.project import schemas
from qtrigger.project.findings import nearest, shown, suggest
from qtrigger.project.jsonc import Path
from qtrigger.project.model import Severity
from qtrigger.project.schemas import Node
from qtrigger.project.tree import Fault, Tree

_INTEGER: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def shape(tree: Tree, root: Node, *, node: Node | None = None, at: Path = ()) -> list[Fault]:
    """Spell the keys of the part at `at` as the schema does and read its texts.

    `node` is what the schema says of that part (the whole schema when None). Returns warnings.
    """
    shaper = _Shaper(tree, root)
    tree.replace(at, shaper.walk(tree.at(at), schemas.resolved(root, node or root), at))
    return shaper.faults


def repeated_keys(tree: Tree) -> list[Fault]:
    """A warning for each key that stands twice in one object."""
    return [
        _warning(
            found.path,
            f"{shown(found.path[-1])} stands in line {found.first_line} already; this one counts",
            on_key=True,
        )
        for found in tree.document.duplicates
    ]


def coerced(value: Any, node: Node) -> Any:
    """The value that a text stands for where the schema wants a number, a truth or a word."""
    types = node.get("type", ())
    types = {types} if isinstance(types, str) else set(types)
    if isinstance(value, str):
        return _from_text(value, node, types)
    if "integer" in types and isinstance(value, float) and value.is_integer():
        return int(value)
    if "x-never" in node and not isinstance(value, bool) and value == -1:
        return "-1"
    return value


def unknown_key(key: str, node: Node, path: Path) -> Fault | None:
    """What an unknown key of an object is worth saying; `path` ends in the key."""
    moved = {name.casefold(): place for name, place in node.get("x-moved", {}).items()}
    known = node.get("properties", {})
    if place := moved.get(key.casefold()):
        return _warning(
            path,
            f'"{key}" has no effect here; '
            + (f"its place is {place}" if "." in place else f"{place} is meant"),
            hint=_nesting(place) if "." in place else "",
            on_key=True,
        )
    rule = node.get("x-unknown")
    if rule == "warn" or (rule == "near" and nearest(key, known)):
        return _warning(
            path,
            f"unknown key {shown(key)}; it has no effect",
            hint=suggest(key, known),
            on_key=True,
        )
    return None


class _Shaper:
    def __init__(self, tree: Tree, root: Node) -> None:
        self._tree = tree
        self._root = root
        self.faults: list[Fault] = []

    def walk(self, value: Any, node: Node, path: Path) -> Any:
        if isinstance(value, dict):
            return self._members(value, node, path)
        if isinstance(value, list):
            return [
                self.walk(item, schemas.member(self._root, node, index), (*path, index))
                for index, item in enumerate(value)
            ]
        found = coerced(value, node)
        if isinstance(value, str) and not isinstance(found, str):
            self.faults.append(
                _warning(
                    path,
                    f"{self._tree.label(path)} is written as text; taken as {shown(found)}",
                    hint="leave the quotes away",
                )
            )
        return found

    def _members(self, value: dict[str, Any], node: Node, path: Path) -> dict[str, Any]:
        shaped: dict[str, Any] = {}
        for written, item in value.items():
            key = schemas.spelling(node, written) or written
            here = (*path, key)
            if key != written:
                self._tree.rename(here, written)
                self._note_case(key, written, node, here)
            elif key not in node.get("properties", {}):
                fault = unknown_key(key, node, here)
                self.faults.extend([fault] if fault else [])
            if key in shaped:
                self.faults.append(
                    _warning(here, f'"{key}" stands here twice; this one counts', on_key=True)
                )
            shaped[key] = self.walk(item, schemas.member(self._root, node, key), here)
        return shaped

    def _note_case(self, key: str, written: str, node: Node, path: Path) -> None:
        if key in node.get("x-case", ()):
            self.faults.append(
                _warning(
                    path,
                    f'"{written}" is taken as "{key}"; Azure would not know it',
                    hint=f'write "{key}"',
                    on_key=True,
                )
            )


def _from_text(text: str, node: Node, types: set[str]) -> Any:
    bare = text.strip()
    if node.get("x-ignore-case"):
        same = (word for word in node["enum"] if word.casefold() == bare.casefold())
        return next(same, text)
    if "string" in types:
        return text
    if "integer" in types and _INTEGER.fullmatch(bare):
        return int(bare)
    if "boolean" in types and bare.casefold() in {"true", "false"}:
        return bare.casefold() == "true"
    return text


def _nesting(place: str) -> str:
    text = "…"
    for key in reversed(place.split(".")):
        text = f'{{ "{key}": {text} }}'
    return f"write {text[2:-2]}"


def _warning(path: Path, message: str, *, hint: str = "", on_key: bool = False) -> Fault:
    return Fault(path=path, message=message, hint=hint, severity=Severity.WARNING, on_key=on_key)

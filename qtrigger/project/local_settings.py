"""local.settings.json: app settings for local development.

Owns the file's rules: which values are taken as text, what encryption means, and that one bad
value costs only itself. What wins over what is decided in `settings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from qtrigger.project import files, problems, schemas
from qtrigger.project.findings import Findings, shown
from qtrigger.project.settings import Setting
from qtrigger.project.shape import repeated_keys, shape
from qtrigger.project.tree import Tree

FILE: Final = "local.settings.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """What the file gives; not `usable` when the project must not run on what can be read of it."""

    settings: tuple[Setting, ...] = ()
    usable: bool = True


def read(root: Path, findings: Findings) -> LocalSettings:
    """Read the file in the project's folder; without one there are no local settings."""
    path = root / FILE
    if not path.is_file():
        return LocalSettings()
    tree = files.read(path, FILE, findings)
    if tree is None:
        return LocalSettings(usable=False)
    schema = schemas.load(FILE)
    for fault in [*repeated_keys(tree), *shape(tree, schema)]:
        tree.report(fault, findings)
    faults = [fault for fault in problems.check(tree, schema) if fault.path != ("IsEncrypted",)]
    for fault in faults:
        tree.report(fault, findings)
    if faults or _encrypted(tree, findings):
        return LocalSettings(usable=False)
    return LocalSettings(settings=(*_values(tree, findings), *_connections(tree, findings)))


def glance(root: Path) -> tuple[Setting, ...] | None:
    """What the file gives if nothing is wrong with it, which nobody has looked at; else None."""
    path, unheard = root / FILE, Findings()
    if not path.is_file():
        return ()
    tree = files.read(path, FILE, unheard)
    sections = [tree.at((name,)) for name in ("Values", "ConnectionStrings")] if tree else []
    if tree is None or not all(each is None or isinstance(each, dict) for each in sections):
        return None
    return (*_values(tree, unheard), *_connections(tree, unheard))


def _encrypted(tree: Tree, findings: Findings) -> bool:
    flag = tree.at(("IsEncrypted",))
    if not tree.at(("Values",)) and not tree.at(("ConnectionStrings",)):
        return False
    place = tree.place(("IsEncrypted",))
    if flag is True:
        findings.error(
            "the values are encrypted, and only the Core Tools that encrypted them can read them",
            place,
            'run "func settings decrypt" in the project\'s folder',
        )
        return True
    if flag is None:
        findings.warning(
            "IsEncrypted is missing; the values are taken as plain text, where the Core Tools "
            "would try to decrypt them",
            place,
            'add "IsEncrypted": false',
        )
    elif flag is not False:
        findings.warning(
            "IsEncrypted must be true or false; the values are taken as plain text", place
        )
    return False


def _values(tree: Tree, findings: Findings) -> Iterator[Setting]:
    for name, value in (tree.at(("Values",)) or {}).items():
        text = _text(tree, ("Values", name), value, findings)
        if text is not None:
            yield Setting(name=name, value=text, place=tree.place(("Values", name)))


def _connections(tree: Tree, findings: Findings) -> Iterator[Setting]:
    for name, given in (tree.at(("ConnectionStrings",)) or {}).items():
        path: tuple[str, ...] = ("ConnectionStrings", name)
        value = given
        if isinstance(given, dict) and "ConnectionString" in given:
            path = (*path, "ConnectionString")
            value = given["ConnectionString"]
        text = _text(tree, path, value, findings)
        if text is not None:
            place = tree.place(path)
            yield Setting(name=f"ConnectionStrings:{name}", value=text, place=place)


def _text(tree: Tree, path: tuple[str, ...], value: Any, findings: Findings) -> str | None:
    """The value as text, None when it cannot be one; what is odd about it is noted."""
    name, place = path[-1], tree.place(path, on_key=True)
    if not name or "=" in name or "\0" in name:
        findings.warning("a setting needs a name without = in it; skipped", place)
    elif isinstance(value, (dict, list)):
        findings.error(
            f"{shown(name)} must be a text, not {shown(value)}", place, _flat(name, value)
        )
    elif value is None:
        findings.warning(f"{shown(name)} is null; taken as not set", place)
    elif isinstance(value, str) and "\0" in value:
        findings.error(f"{shown(name)} holds the character U+0000, which no setting can", place)
    elif isinstance(value, str):
        return value
    else:
        text = _scalar_text(value)
        findings.warning(f"{shown(name)} is no text; taken as one, as if in quotes", place)
        return text
    return None


def _scalar_text(value: bool | float) -> str:  # noqa: FBT001 - a value of the file, no switch
    # .NET writes True and False, and whole floating-point numbers without a fraction.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _flat(name: str, value: Any) -> str:
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    names = ", ".join(f'"{name}__{key}"' for key in keys[:3]) or f'"{name}__key"'
    return f"write one setting for each part: {names}{', …' if len(keys) > 3 else ''}"

"""host.json's values from settings: `AzureFunctionsJobHost__extensions__queues__batchSize`.

Owns how a setting's name leads to a key. The value is judged like the file's own, under the
setting's name.
"""

from __future__ import annotations

from typing import Final

from qtrigger.project import schemas
from qtrigger.project.findings import Findings
from qtrigger.project.jsonc import Path
from qtrigger.project.schemas import Node
from qtrigger.project.settings import Setting, Settings
from qtrigger.project.shape import coerced, unknown_key
from qtrigger.project.tree import Override, Tree

PREFIX: Final = "AzureFunctionsJobHost:"


def apply(tree: Tree, root: Node, settings: Settings, findings: Findings) -> None:
    """Put the settings' values over the file's."""
    lists: set[Path] = set()
    for setting in sorted(settings.all, key=lambda setting: setting.key.casefold()):
        if not setting.key.casefold().startswith(PREFIX.casefold()):
            continue
        path, node = _target(tree, root, setting, findings)
        if not path or _refused(path, node, setting, findings):
            continue
        by = Override(name=setting.name, place=setting.place)
        tree.replace(path, coerced(setting.value, node), by)
        if isinstance(path[-1], int):
            lists.add(path[:-1])
    for path in lists:
        # An index beyond the file's last element leaves no hole, as in .NET.
        tree.replace(path, [item for item in tree.at(path) if item is not None])


def _target(tree: Tree, root: Node, setting: Setting, findings: Findings) -> tuple[Path, Node]:
    """The path that the setting's name means; empty after a warning that there is none."""
    path: Path = ()
    node = root
    for part in setting.key.split(":")[1:]:
        if "array" in node.get("type", ()) and part.isdecimal() and len(part) < 4:
            path = (*path, int(part))
            node = schemas.member(root, node, int(part))
            continue
        key = schemas.spelling(node, part) or _existing(tree, path, part)
        if key not in node.get("properties", {}) and (
            fault := unknown_key(key, node, (*path, key))
        ):
            findings.warning(f"{setting.name}: {fault.message}", setting.place, fault.hint)
            return (), {}
        path = (*path, key)
        node = schemas.member(root, node, key)
    return path, node


def _existing(tree: Tree, path: Path, key: str) -> str:
    """The file's own spelling of a key that the schema does not name, such as a function's."""
    members = tree.at(path)
    names = members if isinstance(members, dict) else ()
    return next((name for name in names if name.casefold() == key.casefold()), key)


def _refused(path: Path, node: Node, setting: Setting, findings: Findings) -> bool:
    types = node.get("type", ())
    reason = ""
    if path == ("version",):
        reason = "only the file itself can say its version"
    elif "object" in types or "array" in types:
        reason = "an object or array is given by one setting for each of its parts"
    if reason:
        findings.warning(f"{setting.name} has no effect: {reason}", setting.place)
    return bool(reason)

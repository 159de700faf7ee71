"""The reference page of the configuration files, made from their schemas.

Owns how a schema reads as a table. `python -m qtrigger.project.reference` prints the page, which
stands in docs/reference/configuration.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from qtrigger.project import durations, schemas
from qtrigger.project.problems import expected
from qtrigger.project.schemas import Node

_INTRODUCTION: Final = """\
# Configuration files

Made from the JSON Schemas by `python -m qtrigger.project.reference`; the schemas come from
`qtrigger schema host`, `function` and `local.settings`, and editors use them through `$schema`.

All three files are JSON with comments, trailing commas and a byte-order mark allowed.
Durations are texts: `hh:mm:ss`, `d.hh:mm:ss`, with up to seven places after a decimal point.
An unknown key has no effect, and gets a warning with the nearest known name.
What options under `qtrigger` are for, with a project to try each: [How to](../how-to/README.md).
"""
_COLUMNS: Final = ("key", "value", "default", "meaning")
_PLACEHOLDERS: Final[dict[tuple[str, ...], str]] = {
    ("logging", "logLevel"): "<category>",
    ("qtrigger", "functions"): "<function>",
}


def page() -> str:
    """The whole page, as Markdown."""
    parts = [_INTRODUCTION]
    host = schemas.load("host.json")
    function = schemas.load("function.json")
    local = schemas.load("local.settings.json")
    parts += _section("##", "host.json", host, host)
    parts += _section("##", "function.json", function, function)
    for name in ("queueTrigger", "queue"):
        title = f"A binding of type `{name}`"
        parts += _section("###", title, function, function["$defs"][name])
    parts += _section("##", "local.settings.json", local, local)
    return "\n".join(parts)


def _section(level: str, title: str, root: Node, node: Node) -> Iterator[str]:
    yield f"{level} {title}\n"
    yield f"{node.get('description', '')}\n"
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *_rows(root, node, ())]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    if others := list(_others(root, node, ())):
        names = ", ".join(f"`{name}`" for name in others)
        yield f"Known, and of no meaning here: {names}.\n"


def _rows(root: Node, node: Node, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, given in node.get("properties", {}).items():
        member = schemas.resolved(root, given)
        here = (*path, key)
        if _is_described(member) and (not _has_members(member) or "default" in member):
            yield _row(here, member)
        if _has_members(member):
            yield from _rows(root, member, here)
    placeholder = _PLACEHOLDERS.get(path, "")
    if placeholder:
        member = schemas.resolved(root, node["additionalProperties"])
        here = (*path, placeholder)
        if _has_members(member):
            yield from _rows(root, member, here)
        else:
            yield _row(here, {"description": node["description"], **member})


def _others(root: Node, node: Node, path: tuple[str, ...]) -> Iterator[str]:
    for key, given in node.get("properties", {}).items():
        member = schemas.resolved(root, given)
        if _has_members(member):
            yield from _others(root, member, (*path, key))
        elif not _is_described(member) and key != "$schema":
            yield ".".join((*path, key))


def _has_members(node: Node) -> bool:
    return "properties" in node or isinstance(node.get("additionalProperties"), dict)


def _is_described(node: Node) -> bool:
    return "description" in node


def _row(path: tuple[str, ...], node: Node) -> tuple[str, ...]:
    cells = (f"`{'.'.join(path)}`", _value(node), _default(node), node.get("description", ""))
    return tuple(cell.replace("|", "\\|") for cell in cells)


def _value(node: Node) -> str:
    return durations.expected(node) if "x-timespan" in node else expected(node)


def _default(node: Node) -> str:
    if "x-default" in node:
        return str(node["x-default"])
    text = _spelled(node["default"]) if "default" in node else ""
    if "x-development-default" in node:
        text += f" ({_spelled(node['x-development-default'])} in Development)"
    return text


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_spelled(item) for item in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    sys.stdout.write(page())

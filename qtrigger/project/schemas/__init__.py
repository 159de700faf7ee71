"""The schemas of the three files: each key's type, range, default and meaning, in one place.

Owns reading them. JSON Schema cannot say all that the files mean; these annotations of our own
say the rest, and `shape`, `durations` and `problems` act on them:

- `x-timespan`: the text is a duration. `x-minimum` and `x-maximum` bound it, `x-number` gives the
  unit in which a bare JSON number is read, `x-never` the spelling that means "without end".
- `x-ignore-case`: the words of an `enum` are compared without case.
- `x-unknown`: what an unknown key of the object is worth: `warn` always a warning, `near` only
  when it looks like a known one. `x-moved` names keys that belong elsewhere, and where.
- `x-exact`: these keys of the object are matched with case, all others without; `x-case`: a key
  of these in other letters is taken, with a warning.
- `x-expected`: the right value in words. `x-hints`: hints for wrong values, by their beginning.
- `x-secret`: the text may hold a secret, and is shown in part.
- `x-default`: a default that is computed, in words. `x-development-default`: the default that
  Development has instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

Node = Mapping[str, Any]


def text(name: str) -> str:
    """The schema of a file as it is shipped, by the file's name, such as `host.json`."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def load(name: str) -> Node:
    """The schema of a file by the file's name, such as `host.json`."""
    schema: Node = json.loads(text(name))
    return schema


def resolved(root: Node, node: Node) -> Node:
    """The node itself, with what it refers to beneath its own keys."""
    if "$ref" not in node:
        return node
    target: Any = root
    for part in node["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**resolved(root, target), **node}


def spelling(node: Node, key: str) -> str | None:
    """The key of an object's node that is meant by `key`, None when it is an unknown one."""
    properties = node.get("properties", {})
    if key in properties:
        return key
    folded = key.casefold()
    for known in properties:
        if known.casefold() == folded and known not in node.get("x-exact", ()):
            return str(known)
    return None


def member(root: Node, node: Node, key: str | int) -> Node:
    """What the schema says of an object's member or an array's element; empty when nothing."""
    if isinstance(key, int):
        return resolved(root, node.get("items", {}))
    found = node.get("properties", {}).get(key, node.get("additionalProperties", {}))
    return resolved(root, found)


def at(root: Node, path: tuple[str, ...]) -> Node:
    """What the schema says of the key at `path`."""
    node = root
    for key in path:
        node = member(root, node, key)
    return node


def default(root: Node, path: tuple[str, ...], *, environment: str = "") -> Any:
    """The default of the key at `path`, None when it has none."""
    node = at(root, path)
    if environment.casefold() == "development" and "x-development-default" in node:
        return node["x-development-default"]
    return node.get("default")

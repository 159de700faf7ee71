"""What a schema finds wrong with a file's value, in our own words.

The only module that speaks to `jsonschema`, which it imports when first needed: the library's
import costs more than reading a project. Owns the wording per kind of violation; knows no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from qtrigger.project import durations, schemas
from qtrigger.project.findings import shown, suggest
from qtrigger.project.jsonc import Path
from qtrigger.project.model import Severity
from qtrigger.project.schemas import Node
from qtrigger.project.tree import Fault, Tree

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_NOUNS: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}


def check(tree: Tree, root: Node, *, name: str = "", at: Path = ()) -> list[Fault]:
    """All violations of the schema by the part at `at`, and the warnings about its durations.

    `name` picks one of the schema's definitions; without it the whole schema is meant.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see the module's docstring

    node = root["$defs"][name] if name else root
    value = tree.at(at)
    validator = Draft202012Validator({**node, "$defs": root.get("$defs", {})})
    faults: list[Fault] = []
    for error in validator.iter_errors(value):
        # Conditions are for editors: a binding is judged by its type once its keys are spelled.
        if "then" not in error.absolute_schema_path:
            faults.extend(_translated(tree, error, at))
    for path, part, said in _durations(root, node, value, at):
        faults.extend(_duration_faults(tree, path, part, said))
    return sorted(dict.fromkeys(faults), key=lambda fault: tuple(map(str, fault.path)))


def expected(node: Node) -> str:
    """What the schema wants of a value, in words: "a whole number from 1 to 32"."""
    if "x-expected" in node:
        return str(node["x-expected"])
    if "enum" in node:
        return "one of " + ", ".join(f'"{word}"' for word in node["enum"])
    types = node.get("type", "object")
    types = [types] if isinstance(types, str) else types
    text = " or ".join(_NOUNS[kind] for kind in types if kind != "null")
    if "minimum" in node and "maximum" in node:
        return f"{text} from {node['minimum']} to {node['maximum']}"
    return f"{text} of at least {node['minimum']}" if "minimum" in node else text


def _translated(tree: Tree, error: ValidationError, at: Path) -> Iterator[Fault]:
    path = (*at, *error.absolute_path)
    label = tree.label(path)
    node = error.schema if isinstance(error.schema, dict) else {}
    if error.validator == "required":
        for key in node["required"]:
            if key not in tree.at(path):
                yield _missing(tree, key, node, path)
    elif error.validator == "minItems":
        yield Fault(path=path, message=f"{label} is empty; at least one element must stand in it")
    elif "x-timespan" in node:
        # The duration itself is judged below, with better words than "is no text".
        return
    else:
        given = "what stands there" if "x-secret" in node else shown(error.instance)
        message = f"{label} must be {expected(node)}, not {given}"
        yield Fault(path=path, message=message, hint=_hint(error.instance, node))


def _hint(value: Any, node: Node) -> str:
    for beginning, hint in node.get("x-hints", {}).items():
        if str(value).startswith(beginning):
            return str(hint)
    return suggest(value, node.get("enum", ())) if isinstance(value, str) else ""


def _missing(tree: Tree, key: str, node: Node, path: Path) -> Fault:
    known = node.get("properties", {}).get(key, {})
    label = tree.label((*path, key))
    return Fault(path=path, message=f"{label} is missing", hint=known.get("description", ""))


def _durations(root: Node, node: Node, value: Any, path: Path) -> Iterator[tuple[Path, Any, Node]]:
    node = schemas.resolved(root, node)
    if "x-timespan" in node:
        if value is not None or "null" not in node.get("type", ()):
            yield path, value, node
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _durations(root, schemas.member(root, node, key), item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _durations(root, schemas.member(root, node, index), item, (*path, index))


def _duration_faults(tree: Tree, path: Path, value: Any, node: Node) -> Iterator[Fault]:
    try:
        found = durations.read(value, node)
    except durations.DurationError as error:
        yield Fault(path=path, message=f"{tree.label(path)} {error}", hint=error.hint)
        return
    if found.warning:
        yield Fault(
            path=path,
            message=f"{tree.label(path)} {found.warning}"
            if not isinstance(value, str)
            else f"{tree.label(path)}: {found.warning}",
            hint=found.hint,
            severity=Severity.WARNING,
        )

"""The reference page is what the schemas say, and the schemas say what every key means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qtrigger.project import reference, schemas
from tests.unit.project.folder import OUTPUT, TRIGGER

PAGE = Path(__file__).parents[3] / "docs/reference/configuration.md"
FILES = ("host.json", "function.json", "local.settings.json")


def test_the_page_in_the_documentation_is_the_one_that_the_schemas_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference.page(), (
        f"run: python -m qtrigger.project.reference > {PAGE}"
    )


@pytest.mark.parametrize("name", FILES)
def test_every_key_that_is_judged_says_what_it_means(name: str) -> None:
    schema = schemas.load(name)

    silent = [
        key
        for key, node in _keys(schema)
        if node.keys() & {"type", "enum", "const"}
        and node.get("type") != "object"
        and "description" not in schemas.resolved(schema, node)
    ]

    assert silent == []


@pytest.mark.parametrize(
    "binding",
    [
        {**TRIGGER, "queueName": 5},
        {**TRIGGER, "direction": "out"},
        {**OUTPUT, "direction": "in"},
        {"type": "queueTrigger", "name": "msg"},
    ],
)
def test_an_editor_sees_what_a_binding_of_a_type_needs(binding: Any) -> None:
    judge = jsonschema.Draft202012Validator(dict(schemas.load("function.json")))

    assert not judge.is_valid({"bindings": [binding]})
    assert judge.is_valid({"bindings": [TRIGGER, OUTPUT, {"type": "blob", "name": "b"}]})


def _keys(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield from node.get("properties", {}).items()
        for part in node.values():
            yield from _keys(part)

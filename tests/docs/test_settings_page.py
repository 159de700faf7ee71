"""docs/reference/settings.md names the variables that the code does, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs import commands
from tests.docs.blocks import DOCS, REPOSITORY

PAGE = (DOCS / "reference" / "settings.md").read_text("utf-8")
SOURCE = REPOSITORY / "qtrigger"
_NAME = re.compile(
    r"(?<![\w.])(?:_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|AzureWebJobs[A-Z]\w*|AzureFunctionsJobHost(?=:))"
)
_SHORT = re.compile(r"environ(?:ment)?\.get\(\s*\"([A-Z]+)\"")
_SHOWN = re.compile(r"`(_?[A-Za-z]+_[A-Z][A-Z_]*|[A-Z]{3,})(?:=[^`]*)?`")

# Texts for other programs: Dockerfiles, units, manifests.
_OF_OTHERS = ("manifests", "unit.py", "unit_text.py")
# In capitals, and no variable.
_NO_VARIABLES = frozenset(
    {
        "F_SETSIG",
        "STATE_FOLDER",
        "SOCK_CLOEXEC",
        "SC_CLK_TCK",
        "EXTEND_TIMEOUT_USEC",
        "MONOTONIC_USEC",
    }
)


def named() -> Iterator[tuple[str, Path]]:
    """Each variable that the code names in a text, and where; those of flags stand elsewhere."""
    of_flags = commands.variables() - {"QTRIGGER_STATE", "AZURE_FUNCTIONS_ENVIRONMENT"}
    for file in SOURCE.rglob("*.py"):
        if not {*file.parts, file.name} & {*_OF_OTHERS}:
            source = file.read_text("utf-8")
            names = {name for text in _texts(source) for name in _NAME.findall(text)}
            for name in {*names, *_SHORT.findall(source)} - _NO_VARIABLES:
                if name not in of_flags:
                    yield name, file.relative_to(REPOSITORY)


def _texts(source: str) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_each_variable_of_the_code_is_on_the_page() -> None:
    missing = [f"{name} ({file})" for name, file in named() if not re.search(rf"\b{name}", PAGE)]

    assert not missing


def test_each_variable_of_the_page_is_in_the_code() -> None:
    source = "\n".join(file.read_text("utf-8") for file in SOURCE.rglob("*.py")).upper()
    examples = {"QTRIGGER_START_WORKERS", "CUSTOMCONNSTR_NAME"}
    shown = {*_SHOWN.findall(PAGE)} - examples

    assert {"QTRIGGER_STATE", "HTTPS_PROXY", "PWD", "AZURE_TENANT_ID"} <= shown
    assert [name for name in sorted(shown) if name.upper() not in source] == []

"""The page on how it is built names each module once, and no table says anything twice."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.blocks import REPOSITORY

TABLES = ("docs/glossary.md", "docs/architecture.md")


def modules() -> set[str]:
    """Those at the top of the package that the import rules give a place."""
    rules = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    layers = rules["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name.strip() for layer in layers for name in layer.split("|")}


def first_cells(page: Path) -> list[str]:
    """What each row of a page's tables is about; not the lines that head them."""
    rows = re.findall(r"^\| *(.*?) *\|", page.read_text("utf-8"), re.MULTILINE)
    return [each for each in rows if each.strip("-") and each not in ("module", "layer", "outcome")]


def twice(found: list[str]) -> list[str]:
    return [each for each, count in Counter(found).items() if count > 1]


def test_every_module_stands_in_the_layers_once() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    table = text[text.index("| layer |") :].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)

    assert twice(named) == []
    assert set(named) == modules()


@pytest.mark.parametrize("page", TABLES)
def test_no_row_stands_twice(page: str) -> None:
    cells = first_cells(REPOSITORY / page)

    assert cells
    assert twice(cells) == []


def test_decisions_stand_in_the_order_of_their_numbers() -> None:
    folder = REPOSITORY / "docs" / "decisions"
    listed = re.findall(
        r"^- .*\(([^)]+)\)$", (folder / "README.md").read_text("utf-8"), re.MULTILINE
    )

    assert listed == sorted(each.name for each in folder.glob("[0-9]*.md"))


def test_no_change_is_told_twice() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    # What was merged badly differs at its end.
    beginnings = [line[:60] for line in text.splitlines() if line.startswith("- ")]

    assert twice(beginnings) == []

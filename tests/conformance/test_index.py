"""What `index.md` names is there: a reader finds the test that holds a report or a rule."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INDEX = Path(__file__).with_name("index.md")
ROW = re.compile(r"^\| (.*) \|$")
NAME = re.compile(r"`(test_\w+)`")


def rows() -> list[list[str]]:
    """The cells of every row, without headers and rules."""
    found = [ROW.match(line) for line in INDEX.read_text("utf-8").splitlines()]
    cells = [match[1].split(" | ") for match in found if match]
    return [row for row in cells if row[-1] != "held by"]


@cache
def collected() -> Counter[str]:
    """Every test function that pytest would collect, by name."""
    return Counter(
        node.name
        for path in TESTS.rglob("test_*.py")
        if "projects" not in path.parts
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_")
    )


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0] if row[0] != "-" else row[1])
def test_each_row_names_tests_that_are_there_and_found_by_their_names(row: list[str]) -> None:
    names = NAME.findall(row[-1])

    assert row[-1] == ", ".join(f"`{name}`" for name in names)
    assert names
    assert {name: collected()[name] for name in names} == dict.fromkeys(names, 1)


def test_no_report_and_no_rule_stands_there_twice() -> None:
    reports = [each for row in rows() if "#" in row[0] for each in row[0].split(", ")]
    others = [tuple(row[:-1]) for row in rows()]

    assert len(reports) > 40
    assert len(others) > 100
    assert {each for each, count in Counter(reports).items() if count > 1} == set()
    assert {each for each, count in Counter(others).items() if count > 1} == set()

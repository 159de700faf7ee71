"""The documented way to test a function by itself works with the public library alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "unit-testing.md"


def page() -> dict[str, Any]:
    """What the page's code defines, run from top to bottom as one module."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), namespace)  # the page is ours
    return namespace


@pytest.mark.parametrize("name", sorted(name for name in page() if name.startswith("test_")))
def test_each_test_of_the_page_passes(name: str) -> None:
    page()[name]()


def test_the_page_has_tests_for_both_models() -> None:
    assert sum(name.startswith("test_") for name in page()) == 3


def test_the_page_needs_nothing_of_ours() -> None:
    assert "qtrigger" not in PAGE.read_text("utf-8")

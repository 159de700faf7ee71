"""The page about outputs says what is so: its tables, run row by row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import azure.functions as func
import pydantic
import pytest

from qtrigger.workers.python.annotations import GENERIC, QUEUE
from qtrigger.workers.python.outputs import OutputError, items_of
from tests.unit.workers.test_outputs import Order, generate

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "outputs.md"
CONVERTERS = {"`$return`": QUEUE, "`Out[str]`": GENERIC}


class Receipt(pydantic.BaseModel):
    number: int


NAMES = {"func": func, "Order": Order, "Receipt": Receipt, "generate": generate}


def rows() -> list[tuple[str, str, str, str]]:
    """Converter, mode, value and what the page says of it, for each cell of its tables."""
    found, converter = [], ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            converter = CONVERTERS.get(re.split(r"[, ]", line[3:])[0], "")
        elif line.startswith("| `") and converter:
            value, azure, exact = (cell.strip() for cell in line.strip("|").split(" | "))
            found += [(converter, "azure", value, azure), (converter, "exact", value, exact)]
    return found


def test_the_page_has_both_tables() -> None:
    assert {(converter, mode) for converter, mode, _, _ in rows()} == {
        (QUEUE, "azure"),
        (QUEUE, "exact"),
        (GENERIC, "azure"),
        (GENERIC, "exact"),
    }


@pytest.mark.parametrize(("converter", "mode", "value", "said"), rows())
def test_what_the_page_says_is_written(converter: str, mode: str, value: str, said: str) -> None:
    told: list[str] = []

    def write() -> list[bytes]:
        given: Any = eval(value.strip("`"), dict(NAMES))  # the page is ours
        items = items_of(
            given,
            binding="out",
            converter=converter,
            mode=mode,
            warn=lambda kind, _text: told.append(kind),
        )
        return [item.body for item in items]

    if said == "refused":
        with pytest.raises(OutputError):
            write()
        return
    bodies = [eval(text).encode() for text in re.findall(r"`([^`]+)`", said)]
    assert bodies or said.startswith("nothing")
    assert write() == bodies
    assert bool(told) is said.endswith(", warned")

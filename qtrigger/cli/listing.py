"""How the verbs write listings: a table for people, one JSON object for programs.

Owns the `--format` flag of the listings, the widths of columns and the envelope of the object.
What is listed is decided by the verbs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

SCHEMA_VERSION: Final = 1
BETWEEN: Final = "  "

# The same for every verb that lists something.
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How it is written; json is one object with a schema_version.",
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The rows in columns as wide as their texts, header first, without a last line's end."""
    lines = [tuple(header), *(tuple(row)[: len(header)] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        BETWEEN.join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def document(**content: Any) -> str:
    """One JSON object with the version of its shape; times and sizes are the caller's business."""
    return json.dumps({"schema_version": SCHEMA_VERSION, **content}, indent=2, ensure_ascii=False)

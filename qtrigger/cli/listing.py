"""How the verbs write listings: a table for people, one JSON object for programs.

Owns the `--format` flag of the listings, the widths of columns and the envelope of the object.
What is listed is decided by the verbs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from qtrigger.telemetry.widths import cells, fitting, padded, shortened, wrapped

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


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    width: int | None = None,
    names: int = 0,
) -> str:
    """The rows in columns as wide as their texts, header first, without a last line's end.

    On a terminal of `width` columns the texts of the first `names` of them are shortened to fit.
    """
    lines = [tuple(header), *(tuple(row)[: len(header)] for row in rows)]
    widths = [max(cells(line[column]) for line in lines) for column in range(len(header))]
    if width is not None and names:
        room = width - sum(widths[names:]) - len(BETWEEN) * (len(header) - 1)
        widths[:names] = fitting(widths[:names], room)
    return "\n".join(
        BETWEEN.join(
            padded(shortened(cell, width), width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def fits(text: str, width: int | None) -> bool:
    """Whether each line of a text stands in a line of the terminal, if there is one."""
    return width is None or all(cells(line) <= width for line in text.splitlines())


def broken(line: str, width: int | None) -> str:
    """A line, gone on with in further ones where the terminal is too narrow."""
    if fits(line, width) or width is None:
        return line
    return "\n".join(wrapped(line, width, first=0, rest=len(BETWEEN)))


def terminal_width() -> int | None:
    """How many columns the terminal has that is written to, None where none is."""
    from qtrigger.cli.outlet import width_of

    return width_of(sys.stdout) if sys.stdout.isatty() else None


def document(**content: Any) -> str:
    """One JSON object with the version of its shape; times and sizes are the caller's business."""
    return json.dumps({"schema_version": SCHEMA_VERSION, **content}, indent=2, ensure_ascii=False)

"""How texts are fitted into a width: shortened in a table, wrapped in a line.

Owns the arithmetic of columns on a terminal. Knows no colours and no events.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

ELLIPSIS: Final = "…"
# Below that a column tells nothing any more.
LEAST_CELL: Final = 8
# A line whose text begins further to the right than a third of the width goes on here.
LEFT: Final = 10

# Words with the space before them; a number and its unit are one.
_TOKENS: Final = re.compile(r"\s*(?:[\d.,]+ (?:ms|s|min(?: \d+ s)?)\b|\S+)")


def cells(text: str) -> int:
    """Return how many columns a text without control characters takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(each) for each in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(text: str, width: int) -> str:
    """Return the text in at most `width` columns, its middle left out: names differ at the ends."""
    if cells(text) <= width:
        return text
    keep = max(width - 1, 1)
    head, tail = _first(text, (keep + 1) // 2), _first(text[::-1], keep // 2)[::-1]
    return f"{head}{ELLIPSIS}{tail}"


def cut(text: str, width: int) -> str:
    """Return the text in at most `width` columns, its end left out: sentences begin with a word."""
    return text if cells(text) <= width else _first(text, max(width - 1, 0)) + ELLIPSIS


def padded(text: str, width: int) -> str:
    """Return the text with spaces up to `width` columns."""
    return text + " " * (width - cells(text))


def fitting(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that need no more than `room` together, the widest ones made smaller first."""
    fitted = list(widths)
    while sum(fitted) > room and max(fitted) > LEAST_CELL:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def hanging(first: int, width: int) -> int:
    """Return the column in which a text goes on that begins in column `first`."""
    return first if first * 3 <= width else LEFT


def wrapped(text: str, width: int, *, first: int, rest: int) -> list[str]:
    """Return the lines of a text that begins in column `first` and goes on in column `rest`.

    Lines after the first come with their indent. Words longer than a line stay whole, so that
    paths and addresses can be copied.
    """
    lines, at, indent = [""], first, " " * rest
    for token in _TOKENS.findall(text.expandtabs(4)):
        if at + cells(token) > width and lines[-1].strip():
            word = token.lstrip()
            lines.append(indent + word)
            at = rest + cells(word)
        else:
            lines[-1] += token
            at += cells(token)
    return lines


def _first(text: str, width: int) -> str:
    taken = 0
    for at, character in enumerate(text):
        taken += _cells_of(character)
        if taken > width:
            return text[:at]
    return text

"""The fenced blocks of the documentation, as values.

Owns which pages there are and how a block is read. What must hold for one is the tests'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
_BLOCK = re.compile(
    r"^```(?P<language>\w*)(?: (?P<path>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Block:
    """One block: ```language path, then its text."""

    page: Path
    line: int
    language: str
    path: str
    text: str

    @property
    def where(self) -> str:
        """As an editor opens it, from the repository's root."""
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def pages() -> list[Path]:
    """The README and every page of docs/."""
    return [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found["language"], found["path"] or "", found["text"])

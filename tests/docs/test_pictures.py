"""The pictures of the pages are whole by themselves, and show what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS

PICTURES = sorted(DOCS.rglob("*.svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda each: each.name)
def test_a_picture_loads_nothing(picture: Path) -> None:
    text = picture.read_text("utf-8")

    assert not re.findall(r"(?:href=|url\()[\"']?https?:", text)
    assert "@font-face" not in text


def test_the_picture_of_a_terminal_shows_the_demo() -> None:
    picture = (DOCS / "pictures" / "start.svg").read_text("utf-8")
    shown = re.sub(r"<[^>]+>", "\n", picture).replace("&#160;", " ")

    for words in ("accept_order", "ready, 24 at once", "POISON", "moved to parcels-poison"):
        assert words in shown

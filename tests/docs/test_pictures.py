"""The pictures of the pages are whole by themselves, and show what is so."""

from __future__ import annotations

import re

from tests.docs.blocks import DOCS

PICTURE = (DOCS / "pictures" / "start.svg").read_text("utf-8")


def test_the_picture_of_a_terminal_loads_nothing() -> None:
    assert not re.findall(r"(?:href=|url\()[\"']?https?:", PICTURE)
    assert "@font-face" not in PICTURE


def test_the_picture_of_a_terminal_shows_the_demo() -> None:
    shown = re.sub(r"<[^>]+>", "\n", PICTURE).replace("&#160;", " ")

    for words in ("accept_order", "ready, 24 at once", "POISON", "moved to parcels-poison"):
        assert words in shown

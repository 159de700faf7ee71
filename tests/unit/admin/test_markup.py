from __future__ import annotations

import pytest

from qtrigger.admin.dashboard import plots
from qtrigger.admin.dashboard.markup import tag, text

HOSTILE = ["<script>", "</script>", '"><img src=x>', "'", "&amp;", "a\u2028b", "\x00", "\u202eevil"]


@pytest.mark.parametrize("value", HOSTILE)
def test_what_is_no_markup_is_escaped_as_text_and_as_attribute(value: str) -> None:
    for made in (tag("p", value), tag("p", title=value)):
        inside = made.removeprefix("<p").removesuffix("</p>").strip()
        assert "<" not in inside
        assert inside.count('"') in (0, 2)
        assert "\x00" not in made
        assert "\u202e" not in made


def test_markup_is_taken_as_it_is_and_nothing_is_left_away() -> None:
    assert tag("p", tag("b", "1 < 2"), None, " & ", data_k="x", hidden=True, title=None) == (
        '<p data-k="x" hidden><b>1 &lt; 2</b> &amp; </p>'
    )


def test_a_lone_surrogate_can_be_sent() -> None:
    assert text("a\ud800b").encode()


def test_a_line_has_gaps_where_nothing_is_known() -> None:
    assert plots.line([0.0, None, 1.0, 1.0, 1.0], 1.0, 40, 20) == "M0 18.5M20 1.5L40 1.5"


def test_an_area_of_nothing_is_not_drawn() -> None:
    assert plots.area([0, 0, 0], 0, 40, 20) == ""

"""The page of what is answered over HTTP says what is answered."""

from __future__ import annotations

from pathlib import Path

from qtrigger.admin.paths import Table
from qtrigger.admin.reference import MEANINGS, all_routes, page
from qtrigger.admin.route import Right

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/http.md"


def test_the_page_is_made_from_the_routes() -> None:
    made = page(all_routes())
    assert PAGE.read_text() == made, "python -m qtrigger.admin.reference > docs/reference/http.md"


def test_every_word_is_of_a_route() -> None:
    assert set(MEANINGS) == {f"{each.method} {each.path}" for each in all_routes()}


def test_all_routes_fit_into_one_table_and_what_changes_something_is_told() -> None:
    routes = all_routes()
    Table(routes)
    for each in routes:
        if each.method not in ("GET", "HEAD") and each.right is not Right.OPEN:
            assert each.right is Right.ACT, each.path
        if each.right is Right.ACT:
            assert each.action, each.path

"""A target that can be read in two ways is refused, and the rest finds its route."""

from __future__ import annotations

import pytest

from qtrigger.admin.paths import LONGEST, BadTarget, Table, shown, target_of
from qtrigger.admin.route import Answer, Asked, Right, Route


async def _answer(_asked: Asked) -> Answer:
    return Answer()


def _route(path: str, method: str = "GET") -> Route:
    return Route(method=method, path=path, right=Right.READ, answer=_answer)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "*",
        "http://127.0.0.1/",
        "//",
        "//evil.example/",
        "/a//b",
        "/a/",
        "/../etc/passwd",
        "/a/../b",
        "/a/./b",
        "/a/%2e%2e/b",
        "/a/%2E/b",
        "/a%2fb",
        "/a%2F..%2Fb",
        "/a\\b",
        "/a%5cb",
        "/a%00",
        "/a%0d%0aX: y",
        "/a\x00",
        "/a b",
        "/ä",
        "/a%ff",
        "/a%e2%80%a8",
        "/a#b",
        "/" + "a" * LONGEST,
        "/?" + "&".join(f"a{number}=1" for number in range(40)),
        "/?a=%ff",
    ],
)
def test_is_refused(raw: str) -> None:
    with pytest.raises(BadTarget):
        target_of(raw)


def test_is_taken_apart() -> None:
    target = target_of("/f/se%20nd?a=1&a=2&b=%C3%A4&c")
    assert target.parts == ("f", "se nd")
    assert target.query == {"a": "1", "b": "ä", "c": ""}
    assert target_of("/").parts == ()


def test_the_more_exact_path_is_found() -> None:
    table = Table([_route("/a/{name}"), _route("/a/b"), _route("/a/b", "POST"), _route("/")])
    found = table.find(("a", "b"))
    assert found is not None
    assert (set(found.methods), found.parts) == ({"GET", "POST"}, {})
    other = table.find(("a", "x"))
    assert other is not None
    assert other.parts == {"name": "x"}
    assert table.find(()) is not None
    assert table.find(("a", "b", "c")) is None


def test_two_routes_at_one_place_are_a_defect() -> None:
    with pytest.raises(ValueError, match="two routes for GET /a"):
        Table([_route("/a"), _route("/a")])


def test_what_is_shown_has_no_query_and_is_short_and_printable() -> None:
    assert shown("/login?key=secret") == "/login"
    assert shown("/\x1b[31m\x00ä") == "/?[31m??"
    assert len(shown("/" + "a" * 9999)) < 130

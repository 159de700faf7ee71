"""Which route a request's target means: the target taken apart, and the table of routes.

Owns what a path may look like. One that could be read in two ways is refused, and never mended:
no empty part, no `.` or `..`, no slash, backslash or control character, encoded or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote_to_bytes

from qtrigger.admin.route import Route

# In bytes, and in names of a query.
LONGEST: Final = 2048
MOST_NAMES: Final = 32

_SHOWN: Final = 120


class BadTarget(ValueError):
    """The target of a request is none that this server answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A request's target: the decoded parts of its path, none for `/`, and its query."""

    parts: tuple[str, ...]
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The routes at one path by method, and the values of its parts in braces."""

    methods: Mapping[str, Route]
    parts: Mapping[str, str]


def target_of(raw: str) -> Target:
    """Take apart a target as it was sent, such as `/f/charge?limit=3`. Raises BadTarget."""
    if len(raw) > LONGEST:
        raise BadTarget(f"the address is longer than {LONGEST} characters")
    if not raw.startswith("/"):
        raise BadTarget("the target is no path from / on")
    if not all("!" <= each <= "~" for each in raw) or "\\" in raw or "#" in raw:
        raise BadTarget("the address has characters that no address has")
    path, _, query = raw.partition("?")
    parts = () if path == "/" else tuple(_part(each) for each in path[1:].split("/"))
    return Target(parts=parts, query=_query(query))


def shown(raw: str) -> str:
    """A target's path as it may stand in a log: without its query, printable, and not long."""
    path = raw.partition("?")[0]
    plain = "".join(each if "!" <= each <= "~" else "?" for each in path[: _SHOWN + 1])
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."


class Table:
    """Routes by path. Raises ValueError for two at one path with one method."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._paths: dict[tuple[str, ...], dict[str, Route]] = {}
        for route in routes:
            methods = self._paths.setdefault(_pattern(route.path), {})
            if route.method in methods:
                raise ValueError(f"two routes for {route.method} {route.path}")
            methods[route.method] = route
        # A path that says more exactly what it is comes first.
        self._order = sorted(self._paths, key=lambda each: [part[:1] == "{" for part in each])

    def find(self, parts: Sequence[str]) -> Found | None:
        """The routes at that path, None where there are none."""
        for pattern in self._order:
            values = _match(pattern, parts)
            if values is not None:
                return Found(methods=self._paths[pattern], parts=values)
        return None


def _part(raw: str) -> str:
    try:
        part = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise BadTarget("the path is not UTF-8") from None
    if part in ("", ".", "..") or not part.isprintable() or set(part) & set("/\\"):
        raise BadTarget("the path has a part that no path has")
    return part


def _query(raw: str) -> Mapping[str, str]:
    """The first value of each name; one that is no UTF-8 is as good as none."""
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=MOST_NAMES, errors="strict")
    except ValueError:
        raise BadTarget(f"the query has more than {MOST_NAMES} names, or is not UTF-8") from None
    return dict(reversed(pairs))


def _pattern(path: str) -> tuple[str, ...]:
    return () if path == "/" else tuple(path[1:].split("/"))


def _match(pattern: Sequence[str], parts: Sequence[str]) -> Mapping[str, str] | None:
    if len(pattern) != len(parts):
        return None
    values = {}
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted.startswith("{"):
            values[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return values

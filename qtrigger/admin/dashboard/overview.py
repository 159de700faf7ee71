"""The first page: is it working, is it keeping up, is something dead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.dashboard import plots, words
from qtrigger.admin.dashboard.cells import Cells, tone
from qtrigger.admin.dashboard.layout import (
    card,
    cell,
    follows,
    live,
    nothing,
    page,
    part,
    path,
    pill,
    table,
)
from qtrigger.admin.dashboard.looking import View
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.route import Answer
from qtrigger.project.model import Problem, Severity

_HEADER: Final = (
    ("Function", ""),
    ("State", ""),
    ("Rate", "figure"),
    ("Running", "figure"),
    ("Failed, 5 min", "figure"),
    ("Waiting", "figure"),
    ("Oldest", "figure"),
    ("p95", "figure"),
)
_WORST: Final = {"bad": 0, "warn": 1}


def overview(view: View, cells: Cells, findings: Sequence[Problem]) -> Answer:
    """The page."""
    rows = [_row(each, cells) for each in view.functions]
    listed = (
        table(_HEADER, rows, label="Functions", class_="rows")
        if rows
        else nothing("No function runs yet. The host is starting, or its project has none.")
    )
    return page(
        "Overview",
        "/",
        view,
        cells,
        tag("h1", "Overview", class_="hidden"),
        part("div", "worst", *_worst(view, findings), **follows(cells, "h.states")),
        _cards(cells),
        part(
            "section",
            "functions",
            _tools(len(rows)),
            listed,
            **follows(cells, "h.shape"),
        ),
    )


def _cards(cells: Cells) -> Markup:
    return tag(
        "dl",
        card("Processed", cells, "c.processed", live("span", cells, "c.rate")),
        card("Failed", cells, "c.failed"),
        card("Running", cells, "c.running"),
        card("Waiting", cells, "c.waiting"),
        card("Oldest", cells, "c.oldest"),
        card("Poison", cells, "c.poison"),
        card("Cost per day", cells, "c.cost") if cells["c.cost"] else None,
        class_="cards",
    )


def _tools(count: int) -> Markup:
    return tag(
        "div",
        tag("h2", "Functions"),
        tag("span", str(count), class_="tally"),
        tag(
            "input",
            type="search",
            class_="js filter",
            data_filter="",
            placeholder="Filter   /",
            aria_label="Filter functions",
        )
        if count > 1
        else None,
        class_="tools",
    )


def _row(function: Mapping[str, Any], cells: Cells) -> Markup:
    name = function["name"]
    key = f"f.{name}"
    return tag(
        "tr",
        tag(
            "th",
            tag("a", name, href=path("f", name), class_="open"),
            tag("span", function["queue"] or " ", class_="under"),
            scope="row",
        ),
        cell("State", pill(cells, f"{key}.state"), live("span", cells, f"{key}.why", class_="why")),
        cell(
            "Rate",
            _plot(cells, f"{key}.rate", ("area", "line", "bad"), f"runs of {name} in ten minutes"),
            live("span", cells, f"{key}.rate"),
            class_="figure plotted",
        ),
        cell("Running", live("span", cells, f"{key}.running"), class_="figure"),
        cell("Failed, 5 min", live("span", cells, f"{key}.failures"), class_="figure"),
        cell(
            "Waiting",
            _plot(cells, f"{key}.waiting", ("area", "line"), f"messages waiting for {name}"),
            live("span", cells, f"{key}.waiting"),
            class_="figure plotted",
        ),
        cell(
            "Oldest",
            _plot(cells, f"{key}.oldest", ("line",), f"age of the oldest message for {name}"),
            live("span", cells, f"{key}.oldest"),
            class_="figure plotted",
        ),
        cell("p95", live("span", cells, f"{key}.p95"), class_="figure"),
        data_row=name,
    )


def _plot(cells: Cells, key: str, ends: Sequence[str], label: str) -> Markup:
    return plots.small(key, {end: cells.get(f"{key}.{end}.d", "") for end in ends}, label)


def _worst(view: View, findings: Sequence[Problem]) -> Iterator[Markup]:
    """The one thing to look at first, and how many more there are."""
    said = sorted(_said(view, findings), key=lambda each: each[0])
    if not said:
        return
    rank, text, href = said[0]
    more = f" and {words.counted(len(said) - 1, 'more thing')}" if len(said) > 1 else ""
    link = tag("a", "look at it", href=href)
    yield tag(
        "div",
        tag("span", text, class_="said"),
        tag("span", link, more, class_="further"),
        class_="banner",
        data_s="bad" if rank == 0 else "warn",
        role="status",
    )


def _said(view: View, findings: Sequence[Problem]) -> Iterator[tuple[int, str, str]]:
    told = {each.function for each in findings if each.severity is Severity.ERROR}
    for each in view.functions:
        found = tone(each["state"])
        # Of a function that cannot run, a finding says why.
        if found in _WORST and not (each["state"] == "failed" and each["name"] in told):
            why = f": {each['why']}" if each["why"] else ""
            yield _WORST[found], f"{each['name']} is {each['state']}{why}", path("f", each["name"])
    for account in view.document["accounts"]:
        if account["throttled"]:
            yield 1, f"account {account['name']} answers that it is busy", "/check"
    for finding in findings:
        rank = 0 if finding.severity is Severity.ERROR else 1
        place = f"{finding.place}: " if finding.place else ""
        of = f"{finding.function} cannot run: " if rank == 0 and finding.function else ""
        yield rank, f"{of}{place}{finding.message}", "/check"

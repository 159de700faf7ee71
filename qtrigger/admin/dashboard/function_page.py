"""The page of one function: what its last runs were, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.dashboard.cells import LARGE_HEIGHT, LARGE_WIDTH, Cells
from qtrigger.admin.dashboard.function_dialogs import pause_dialog, send_dialog
from qtrigger.admin.dashboard.layout import (
    card,
    cell,
    follows,
    live,
    page,
    part,
    path,
    pill,
    problem,
    table,
)
from qtrigger.admin.dashboard.looking import View
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.dashboard.runs import runs_section
from qtrigger.admin.route import Answer, Refusal
from qtrigger.project.model import EffectiveValue, Project

# Options of the whole host that decide how a function's messages are treated.
_SHARED: Final = ("extensions.queues.", "functionTimeout", "qtrigger.")


def function_page(
    name: str,
    query: Mapping[str, str],
    view: View,
    cells: Cells,
    recent: Recent,
    project: Project | None,
) -> Answer:
    """The page. Raises Refusal (404) when there is no such function."""
    function = next((each for each in view.functions if each["name"] == name), None)
    if function is None:
        raise Refusal(
            404, f"there is no function {name!r} in this project; the overview lists them"
        )
    key = f"f.{name}"
    return page(
        name,
        "",
        view,
        cells,
        _head(function, cells),
        _said(function, cells),
        tag(
            "dl",
            card("Succeeded", cells, f"{key}.succeeded", live("span", cells, f"{key}.rate")),
            card("Failed", cells, f"{key}.failed"),
            card("Poisoned", cells, f"{key}.poisoned"),
            card("Running", cells, f"{key}.running"),
            card("Waiting", cells, f"{key}.waiting"),
            card("Oldest", cells, f"{key}.oldest"),
            card("p50", cells, f"{key}.p50"),
            card("p95", cells, f"{key}.p95"),
            class_="cards",
        ),
        _plots(name, cells),
        runs_section(name, query, cells, recent),
        _settings(name, project),
        pause_dialog(name),
        send_dialog(name, function["queue"]),
    )


def _head(function: Mapping[str, Any], cells: Cells) -> Markup:
    name = function["name"]
    paused = function["state"] in ("paused", "breaker open")
    actions = (
        tag("button", "Run with a test message", type="button", data_open="send"),
        tag(
            "button",
            "Resume",
            type="button",
            class_="strong",
            data_post=path("api", "functions", name, "resume"),
            data_done=f"{name} goes on",
            data_key="p",
        )
        if paused
        else tag("button", "Pause", type="button", data_open="pause", data_key="p"),
    )
    return part(
        "div",
        "head",
        tag(
            "div",
            tag("a", "Overview", href="/", class_="back"),
            tag("h1", name),
            pill(cells, f"f.{name}.state"),
            tag("span", _where(function), class_="under"),
            live("span", cells, f"f.{name}.asks", class_="under"),
            class_="title",
        ),
        tag("div", *actions, class_="js actions") if function["slots"] else None,
        class_="tools",
        **follows(cells, f"f.{name}.state"),
    )


def _where(function: Mapping[str, Any]) -> str:
    if not function["queue"]:
        return ""
    return f"queue {function['queue']} of {function['connection']}"


def _said(function: Mapping[str, Any], cells: Cells) -> Markup:
    """Why it stands as it does, and what the service says of its queue."""
    name = function["name"]
    messages = cells.get(f"f.{name}.problem", "")
    return part(
        "div",
        "said",
        problem(function["why"], bad=function["state"] == "failed") if function["why"] else None,
        problem(f"what is on its queue is not known: {messages}") if messages else None,
        **follows(cells, f"f.{name}.why"),
    )


def _plots(name: str, cells: Cells) -> Markup:
    key = f"f.{name}"
    return tag(
        "div",
        _plot(
            "Runs",
            cells,
            f"{key}.large.most",
            [f"{key}.large.area", f"{key}.large.line", f"{key}.large.bad"],
        ),
        _plot(
            "Durations, p50 and p95",
            cells,
            f"{key}.p95.most",
            [f"{key}.p50.line", f"{key}.p95.line"],
        ),
        class_="plots",
    )


def _plot(title: str, cells: Cells, most: str, paths: Sequence[str]) -> Markup:
    kinds = {"area": "p-area", "line": "p-line", "bad": "p-bad"}
    drawn = (
        tag(
            "path",
            class_=kinds[each.rpartition(".")[2]] + (" second" if ".p50." in each else ""),
            d=cells.get(f"{each}.d", ""),
            data_k=f"{each}.d",
        )
        for each in paths
    )
    return tag(
        "figure",
        tag("figcaption", title, live("span", cells, most, class_="most")),
        tag(
            "svg",
            tag("line", x1="0", x2=LARGE_WIDTH, y1=LARGE_HEIGHT, y2=LARGE_HEIGHT, class_="p-base"),
            *drawn,
            class_="large",
            viewBox=f"0 0 {LARGE_WIDTH} {LARGE_HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=f"{title} in the last ten minutes",
        ),
        tag("div", tag("span", "10 min ago"), tag("span", "now"), class_="axis"),
    )


def _settings(name: str, project: Project | None) -> Markup | None:
    if project is None:
        return None
    rows = [
        tag(
            "tr",
            cell("Option", tag("code", _short(each.key, name))),
            cell("Value", each.value),
            cell("From", tag("span", each.origin, class_="quiet")),
        )
        for each in _effective(name, project)
    ]
    return tag(
        "section",
        tag(
            "details",
            tag(
                "summary",
                tag("h2", "Settings as they apply"),
                tag("span", str(len(rows)), class_="tally"),
            ),
            table(
                (("Option", ""), ("Value", ""), ("From", "")),
                rows,
                label="Settings",
                class_="plain-rows",
            ),
        ),
    )


def _effective(name: str, project: Project) -> Sequence[EffectiveValue]:
    """The function's own options, then those of the host that it has none of its own for."""
    prefix = f"qtrigger.functions.{name}."
    own = [each for each in project.effective if each.key.startswith(prefix)]
    named = {each.key.removeprefix(prefix) for each in own}
    shared = [
        each
        for each in project.effective
        if each.key.startswith(_SHARED)
        and not each.key.startswith("qtrigger.functions.")
        and each.key.rpartition(".")[2] not in named
    ]
    return [*own, *shared]


def _short(key: str, name: str) -> str:
    return key.removeprefix(f"qtrigger.functions.{name}.").removeprefix("extensions.queues.")

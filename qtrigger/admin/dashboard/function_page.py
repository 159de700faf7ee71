"""The page of one function: what its last runs were, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.dashboard import plots, words
from qtrigger.admin.dashboard.cells import Cells, risen
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
    without_script,
)
from qtrigger.admin.dashboard.looking import View
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.dashboard.runs import runs_section
from qtrigger.admin.dashboard.series import POINT_S, Series
from qtrigger.admin.route import Answer, Refusal
from qtrigger.project.model import EffectiveValue, Project

LARGE: Final = (600, 120)
SHARES: Final = (0.5, 0.95)
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
        without_script(f"qtrigger pause {name}, qtrigger send {function['queue']} TEXT"),
        _plots(name, view, cells, recent.series(name)),
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


def _plots(name: str, view: View, cells: Cells, series: Series | None) -> Markup:
    ended, failed = series.points(view.second) if series else ((), ())
    middle, slow = series.durations(view.second, SHARES) if series else ((), ())
    most = max(ended, default=0)
    longest = max((each for each in slow if each is not None), default=0.0)
    return part(
        "div",
        "plots",
        _plot(
            "Runs",
            words.rate(most / POINT_S) if most else "",
            [
                ("p-area", plots.area(ended, most, *LARGE)),
                ("p-line", plots.line(ended, most, *LARGE)),
                ("p-bad", plots.line(risen(failed), most, *LARGE)),
            ],
        ),
        _plot(
            "Durations, p50 and p95",
            words.duration(longest) if longest else "",
            [
                ("p-line second", plots.line(middle, longest, *LARGE)),
                ("p-line", plots.line(slow, longest, *LARGE)),
            ],
        ),
        class_="plots",
        **follows(cells, f"f.{name}.point"),
    )


def _plot(title: str, most: str, paths: Sequence[tuple[str, str]]) -> Markup:
    """One plot; `most` says what its top is."""
    width, height = LARGE
    return tag(
        "figure",
        tag("figcaption", title, tag("span", most, class_="most")),
        tag(
            "svg",
            tag("line", x1="0", x2=width, y1=height, y2=height, class_="p-base"),
            *(tag("path", class_=kind, d=path) for kind, path in paths if path),
            class_="large",
            viewBox=f"0 0 {width} {height}",
            preserveAspectRatio="none",
            role="img",
            aria_label=f"{title} in the last ten minutes, {most or 'none'} at most",
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

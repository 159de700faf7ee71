"""What every page has around it: head, navigation, the banner of a host that does not answer.

Owns the frame and the small parts that pages share. Nothing in it is loaded from elsewhere, and
there is no script or style inside it, as the content security policy demands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, urlencode

from qtrigger.admin.dashboard.cells import Cells
from qtrigger.admin.dashboard.looking import View
from qtrigger.admin.dashboard.markup import Markup, Part, Value, join, tag
from qtrigger.admin.route import Answer, Refusal

HTML: Final = "text/html; charset=utf-8"
KEYS: Final = (
    ("/", "to the filter"),
    ("j  k", "to the next row, to the one before"),
    ("Enter", "open the row, or close it"),
    ("x", "select the row's message"),
    ("r", "requeue what is selected, else the row's message"),
    ("p", "pause or resume the function"),
    ("g o   g p   g c", "go to overview, poison, check"),
    ("Esc", "leave a field or a dialog"),
    ("?", "these keys"),
)
_PAGES: Final = (("/", "Overview", "o"), ("/poison", "Poison", "p"), ("/check", "Check", "c"))


def page(title: str, here: str, view: View, cells: Cells, *parts: Part) -> Answer:
    """A whole page; `here` is the path of its place in the navigation."""
    document = view.document
    project = str(document["project"]).rstrip("/").rpartition("/")[2] or "no project yet"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="robots", content="noindex"),
        tag("title", f"{title} · {project} · qtrigger"),
        tag("link", rel="icon", type="image/svg+xml", href="/assets/icon.svg"),
        tag("link", rel="stylesheet", href="/assets/dashboard.css"),
        tag("script", type="module", src="/assets/dashboard.js"),
    )
    body = tag(
        "body",
        tag("a", "To the content", class_="skip", href="#main"),
        _bar(project, here, document, cells),
        tag(
            "p",
            tag("span", class_="text"),
            class_="lost",
            id="lost",
            role="alert",
            hidden=True,
        ),
        tag("main", *parts, id="main", tabindex="-1"),
        _keys(),
        tag("div", id="toast", role="status", aria_live="polite"),
    )
    text = f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"
    return Answer(body=text.encode("utf-8", "replace"), content_type=HTML)


def refused(view: View, cells: Cells, refusal: Refusal) -> Answer:
    """A page that says why what was asked for cannot be shown, with the refusal's own status."""
    said = tag("div", tag("h1", "Not here"), class_="tools")
    back = tag("a", "Go to the overview", href="/", class_="button")
    shown = page("Not here", "", view, cells, said, problem(refusal.text), tag("p", back))
    return replace(shown, status=refusal.status)


def live(name: str, cells: Cells, key: str, **attributes: Value) -> Markup:
    """An element whose text is a cell, kept up to date by its key."""
    return tag(name, cells.get(key, ""), data_k=key, data_s=cells.get(f"{key}.s"), **attributes)


def part(name: str, identity: str, *parts: Part, **attributes: Value) -> Markup:
    """An element that a fetched page replaces by its own of that identity."""
    return tag(name, *parts, id=identity, data_part=True, **attributes)


def follows(cells: Cells, key: str) -> Mapping[str, Value]:
    """Attributes of a part that is fetched anew when the cell of that key becomes another."""
    return {"data_refresh": key, "data_seen": cells.get(key, "")}


def pill(cells: Cells, key: str) -> Markup:
    """A state as a word with a dot of its colour."""
    return live("span", cells, key, class_="pill")


def card(label: str, cells: Cells, key: str, note: Part = None, href: str = "") -> Markup:
    """A figure with its label."""
    parts = (
        tag("dt", label),
        live("dd", cells, key),
        tag("dd", note, class_="note") if note else None,
    )
    if href:
        return tag(
            "div", tag("a", *parts[1:2], href=href, aria_label=label), parts[0], class_="card"
        )
    return tag("div", *parts, class_="card")


def table(
    header: Sequence[tuple[str, str]], rows: Iterable[Markup], *, label: str, class_: str = ""
) -> Markup:
    """A table; of each column its name and class."""
    heads = (tag("th", name, class_=kind or None, scope="col") for name, kind in header)
    return tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *heads)),
            tag("tbody", *rows),
            class_=class_ or None,
            aria_label=label,
        ),
        class_="scroll",
    )


def cell(label: str, *parts: Part, class_: str = "") -> Markup:
    """A cell of a table's row; on a phone its label stands beside it."""
    return tag("td", *parts, class_=class_ or None, data_label=label)


def path(*parts: str, **query: str | None) -> str:
    """An address on this host; parts and query as they are, without what is None."""
    written = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {key: value for key, value in query.items() if value is not None}
    return f"{written}?{urlencode(given)}" if given else written


def problem(message: str, *, bad: bool = False) -> Markup:
    """A line that stands out."""
    return tag("p", message, class_="banner", data_s="bad" if bad else "warn")


def without_script(command: str) -> Markup:
    """What to do where a page can only be read."""
    return tag(
        "p", "This page acts by JavaScript; without it: ", tag("code", command), class_="nojs quiet"
    )


def nothing(message: str, *parts: Part) -> Markup:
    """What stands where there is nothing to show."""
    return tag("p", message, *parts, class_="nothing")


def _bar(project: str, here: str, document: Mapping[str, Any], cells: Cells) -> Markup:
    links = (
        tag(
            "a",
            name,
            live("span", cells, "n.poison", class_="count") if href == "/poison" else None,
            href=href,
            data_go=key,
            aria_current="page" if href == here else None,
        )
        for href, name, key in _PAGES
    )
    return tag(
        "header",
        tag(
            "a",
            tag("span", class_="mark", aria_hidden="true"),
            tag("span", project, class_="project"),
            class_="brand",
            href="/",
        ),
        tag("span", str(document["environment"]), class_="where")
        if document["environment"]
        else None,
        tag("nav", *links, aria_label="Pages"),
        tag(
            "span",
            pill(cells, "h.state"),
            tag("span", live("span", cells, "h.at"), " UTC", class_="clock"),
            tag(
                "button", "?", type="button", class_="js plain", data_open="keys", aria_label="Keys"
            ),
            class_="right",
        ),
        class_="bar",
    )


def _keys() -> Markup:
    rows = (tag("div", tag("dt", tag("kbd", key)), tag("dd", what)) for key, what in KEYS)
    return dialog("keys", "Keys", tag("dl", *rows, class_="keys"))


def dialog(name: str, title: str, *parts: Part) -> Markup:
    """A dialog that a button with `data-open` of its name opens."""
    return tag(
        "dialog",
        tag(
            "div",
            tag("h2", title, id=f"{name}-title"),
            tag(
                "button",
                "\N{MULTIPLICATION SIGN}",
                type="button",
                class_="plain close",
                data_close="",
                aria_label="Close",
            ),
            class_="head",
        ),
        join(*parts),
        id=name,
        aria_labelledby=f"{name}-title",
    )

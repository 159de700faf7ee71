"""What stands above poisoned messages: the filter, the types of errors, and the deeds."""

from __future__ import annotations

import json
from collections.abc import Mapping

from qtrigger.admin.dashboard import words
from qtrigger.admin.dashboard.layout import part, path
from qtrigger.admin.dashboard.markup import Markup, Value, tag
from qtrigger.admin.dashboard.seen import Document


def narrowing(query: Mapping[str, str]) -> dict[str, str]:
    """What of the query narrows the messages; an error without a name is one as well."""
    contains = {"contains": query["contains"]} if query.get("contains") else {}
    return contains | ({"error": query["error"]} if "error" in query else {})


def filter_form(queue: Document, query: Mapping[str, str], count: int) -> Markup:
    """The queue's name, how many are listed, and a field that narrows them."""
    return tag(
        "form",
        tag("h2", queue["queue"]),
        part("span", "tally", str(count), class_="tally"),
        tag("input", type="hidden", name="queue", value=queue["queue"]),
        part(
            "span",
            "narrowed",
            tag("input", type="hidden", name="error", value=query["error"])
            if "error" in query
            else None,
        ),
        tag(
            "input",
            type="search",
            name="contains",
            class_="filter",
            value=query.get("contains", ""),
            placeholder="Body, error or id   /",
            aria_label="Filter messages by text",
        ),
        tag("button", "Filter", type="submit", class_="nojs"),
        class_="tools",
        action="/poison",
        data_swap="",
    )


def groups_of(queue: Document, found: Document, query: Mapping[str, str]) -> Markup | None:
    """A link for each type of error, with how many there are."""
    groups = found.get("groups") or ()
    if not groups:
        return None
    kept = {"queue": queue["queue"], "contains": query.get("contains") or None}
    chosen = query.get("error")
    chips = [
        tag(
            "a",
            "all errors",
            href=path("poison", **kept),
            aria_current="true" if chosen is None else None,
            data_swap="",
        )
    ]
    chips += [
        tag(
            "a",
            each["error_type"] or "not known",
            " ",
            tag("span", words.number(each["count"]), class_="count"),
            href=path("poison", **kept, error=each["error_type"]),
            aria_current="true" if chosen == each["error_type"] else None,
            data_swap="",
        )
        for each in groups
    ]
    return tag("nav", *chips, class_="chips", aria_label="Error types")


def actions(queue: Document, found: Document, query: Mapping[str, str]) -> Markup | None:
    """Buttons for what is selected and for all that match; what they send stands in `data-`."""
    if not found["messages"]:
        return None
    narrowed = narrowing(query)
    if "error" in narrowed:
        narrowed["error_type"] = narrowed.pop("error")
    seen, beyond = len(found["messages"]), bool(found.get("more"))
    # Of a queue that shows its first messages alone nobody knows how many are like this.
    count = max(queue.get("count") or 0, seen) if beyond or not narrowed else seen
    shown = {True: "up to " if narrowed else "about ", False: ""}[beyond] + words.number(count)
    matching = json.dumps(narrowed or {"all": True})

    def button(deed: str, which: str, label: str, **more: Value) -> Markup:
        return tag(
            "button",
            label,
            type="button",
            data_deed=deed,
            data_which=which,
            data_post=path("api", "poison", queue["queue"], deed),
            **more,
        )

    all_words = "all matching" if narrowed else "all"
    return tag(
        "div",
        button("requeue", "selected", "Requeue selected", class_="strong", disabled=True),
        button("delete", "selected", "Delete selected", disabled=True),
        tag("span", class_="gap"),
        button("requeue", matching, f"Requeue {all_words} ({shown})", data_count=count),
        button(
            "delete", matching, f"Delete {all_words} ({shown})", class_="danger", data_count=count
        ),
        class_="js actions",
        role="toolbar",
        aria_label="What to do with messages",
    )

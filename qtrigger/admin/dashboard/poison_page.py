"""The page of what was given up: every poison queue, what failed in it, and each message.

Owns how it is shown. What stands in the queues, and what is done to it, is told by the routes of
`/api/poison`; the page has no deed of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from qtrigger.admin.dashboard import words
from qtrigger.admin.dashboard.cells import Cells
from qtrigger.admin.dashboard.layout import (
    cell,
    dialog,
    nothing,
    page,
    part,
    path,
    problem,
    table,
    without_script,
)
from qtrigger.admin.dashboard.looking import View, functions_of
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.poison_message import message_detail
from qtrigger.admin.dashboard.poison_tools import actions, filter_form, groups_of, narrowing
from qtrigger.admin.dashboard.seen import Document, PoisonSeen
from qtrigger.admin.route import Answer, Refusal

_HEADER: Final = (
    ("", "check"),
    ("Message", ""),
    ("Age", "figure"),
    ("Tries", "figure"),
    ("Size", "figure"),
    ("Function", ""),
    ("Why", "wide"),
)


async def poison_page(
    query: Mapping[str, str], view: View, cells: Cells, poison: PoisonSeen | None
) -> Answer:
    """The page. Raises Refusal as the routes of `/api/poison` do."""
    if poison is None:
        return _page(view, cells, nothing("This host cannot tell what is in its poison queues."))
    queues = (await poison.queues())["queues"]
    chosen = _chosen(queues, query.get("queue", ""))
    if chosen is None:
        return _page(view, cells, nothing("No function of this project has a poison queue."))
    parts: list[Markup] = [part("div", "queues", _queues(queues, chosen))]
    if chosen.get("problem"):
        parts.append(problem(f"{chosen['queue']}: {chosen['problem']}"))
    else:
        asked = narrowing(query)
        found = await poison.messages(chosen["queue"], asked)
        opened = await _opened(poison, chosen["queue"], query.get("id", ""))
        shows = view.document["environment"] == "Development" or query.get("body") == "1"
        parts.append(_messages(chosen, found, query, opened, shows_body=shows))
    return _page(view, cells, *parts)


def _page(view: View, cells: Cells, *parts: Markup) -> Answer:
    head = tag("div", tag("h1", "Poison"), class_="tools")
    return page("Poison", "/poison", view, cells, head, *parts, _confirm())


def _chosen(queues: Sequence[Document], name: str) -> Document | None:
    """The queue that is asked for, else the fullest. Raises Refusal (404)."""
    if not name:
        return max(queues, key=lambda each: each.get("count") or 0, default=None)
    for each in queues:
        if each["queue"] == name:
            return each
    raise Refusal(404, f"no function of this project has a poison queue {name!r}")


async def _opened(poison: PoisonSeen, queue: str, message_id: str) -> Document | None:
    if not message_id:
        return None
    try:
        return await poison.message(queue, message_id)
    except Refusal as refusal:
        if refusal.status != 404:
            raise
        return {"id": message_id, "gone": refusal.text}


def _queues(queues: Sequence[Document], chosen: Document) -> Markup:
    links = (
        tag(
            "a",
            tag("span", each["queue"], class_="name"),
            tag("span", _count(each), class_="count", data_s="bad" if each.get("count") else ""),
            tag("span", _from(each), class_="under"),
            href=path("poison", queue=each["queue"]),
            aria_current="true" if each is chosen else None,
        )
        for each in sorted(queues, key=lambda each: -(each.get("count") or 0))
    )
    return tag("nav", *links, class_="tabs", aria_label="Poison queues")


def _count(queue: Document) -> str:
    return ("~" if queue.get("more") else "") + words.number(queue.get("count"))


def _from(queue: Document) -> str:
    names = ", ".join(functions_of(queue))
    oldest = queue.get("oldest_s")
    return f"of {names}" + (f" · oldest {words.age(oldest)}" if oldest is not None else "")


def _messages(
    queue: Document,
    found: Document,
    query: Mapping[str, str],
    opened: Document | None,
    *,
    shows_body: bool,
) -> Markup:
    messages = found["messages"]
    rows = [
        row for each in messages for row in _rows(each, queue, query, opened, shows_body=shows_body)
    ]
    listed = (
        table(_HEADER, rows, label=f"Messages in {queue['queue']}", class_="rows poison")
        if messages
        else nothing("No message like this." if narrowing(query) else "It is empty.")
    )
    return tag(
        "section",
        filter_form(queue, query, len(messages)),
        without_script(f"qtrigger poison requeue {queue['queue']}"),
        part(
            "div",
            "poison",
            groups_of(queue, found, query),
            actions(queue, found, query),
            listed,
            nothing(_beyond(queue, found)) if found.get("more") else None,
        ),
    )


def _beyond(queue: Document, found: Document) -> str:
    seen = found.get("seen", len(found["messages"]))
    return (
        f"These are of the first {seen}: the service shows no further without taking them. "
        f"About {words.number(queue.get('count'))} are there; what is done to all matching reaches "
        "every one."
    )


def _rows(
    message: Document,
    queue: Document,
    query: Mapping[str, str],
    opened: Document | None,
    *,
    shows_body: bool,
) -> Iterator[Markup]:
    is_open = opened is not None and opened["id"] == message["id"]
    kept = {**narrowing(query), "queue": queue["queue"]}
    error = message.get("error") or {}
    yield tag(
        "tr",
        tag(
            "td",
            tag(
                "input",
                type="checkbox",
                class_="js",
                value=message["id"],
                aria_label=f"Select message {message['id']}",
            ),
            class_="check",
        ),
        cell(
            "Message",
            tag(
                "a",
                tag("code", message["id"][:8]),
                href=path("poison", **kept, id=None if is_open else message["id"]),
                class_="open",
                data_swap="",
                aria_expanded="true" if is_open else "false",
                title=message["id"],
            ),
        ),
        cell("Age", words.age(message.get("age_s")), class_="figure"),
        cell("Tries", words.number(message.get("tries")), class_="figure"),
        cell("Size", words.size(message.get("size")), class_="figure"),
        cell("Function", message.get("function") or words.NOT_KNOWN),
        cell(
            "Why",
            tag("span", f"{error['type']}: {error.get('message', '')}"[:200], class_="raised")
            if error.get("type")
            else tag("span", "not known to the journal", class_="raised quiet"),
            class_="wide",
        ),
        data_row=message["id"],
        class_="opened" if is_open else None,
    )
    if is_open and opened is not None:
        inside = message_detail(
            opened, path("poison", **kept, id=message["id"], body="1"), shows_body=shows_body
        )
        yield tag("tr", tag("td", inside, colspan=len(_HEADER)), class_="detail")


def _confirm() -> Markup:
    """The dialog in which a deed is confirmed; the script fills in which and how many."""
    return dialog(
        "confirm",
        "Are you sure?",
        tag("p", id="confirm-text"),
        tag("progress", id="confirm-progress", hidden=True, aria_label="Progress"),
        tag(
            "div",
            tag("button", "Cancel", type="button", data_close=""),
            tag("button", "Do it", type="button", id="confirm-go", class_="strong"),
            class_="ends",
        ),
    )

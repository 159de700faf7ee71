"""One poisoned message in full: its body in three spellings, and every try that failed."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from qtrigger.admin.dashboard import words
from qtrigger.admin.dashboard.layout import nothing
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.seen import Document

MOST_HEX: Final = 4096


def message_detail(opened: Document, with_body: str, *, shows_body: bool) -> Markup:
    """Its body and its tries; `with_body` is the address that shows the body."""
    if opened.get("gone"):
        return tag("div", nothing(opened["gone"]), class_="inside")
    facts = [
        ("copy", opened["id"]),
        ("original", opened.get("copy_of")),
        ("came", _when(opened.get("inserted"))),
        ("goes back to", opened.get("source")),
    ]
    tries = opened.get("tries") or ()
    return tag(
        "div",
        tag(
            "dl",
            *(
                tag("div", tag("dt", key), tag("dd", tag("code", str(value))))
                for key, value in facts
                if value
            ),
            class_="facts",
        ),
        tag("h3", "Body"),
        *(
            _body(opened.get("body"))
            if shows_body
            else [
                tag("p", tag("a", "Show the body", href=with_body, data_swap="", class_="button"))
            ]
        ),
        tag("h3", "Tries", tag("span", str(len(tries)), class_="tally")),
        *(_try(each, number) for number, each in enumerate(tries, 1)),
        None
        if tries
        else nothing("The journal knows no try of it: it failed elsewhere, or too long ago."),
        class_="inside",
    )


def _when(text: str | None) -> str:
    if not text:
        return ""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _body(body: Document | None) -> Iterator[Markup]:
    """A body as JSON where it is that, else as text, and always as bytes."""
    if not body:
        yield nothing("Bodies are not shown here (qtrigger.http.showBodies).")
        return
    if body.get("json") is not None:
        yield tag("pre", json.dumps(body["json"], indent=2, ensure_ascii=False), tabindex="0")
    elif body.get("text") is not None:
        yield tag("pre", body["text"], tabindex="0")
    else:
        yield nothing("It is no text that can be shown.")
    if body.get("json") is not None and body.get("text") is not None:
        yield tag("details", tag("summary", "As text"), tag("pre", body["text"], tabindex="0"))
    yield tag(
        "details",
        tag("summary", "As bytes"),
        tag("pre", _hex(body.get("base64") or ""), tabindex="0"),
    )


def _hex(encoded: str) -> str:
    """Sixteen bytes a line with their places and what of them is ASCII, as `hexdump -C` has it."""
    try:
        content = base64.b64decode(encoded)
    except (binascii.Error, ValueError):
        return "they are not known"
    lines = []
    for at in range(0, min(len(content), MOST_HEX), 16):
        part = content[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:06x}  {part.hex(' '):<47}  {shown}")
    if len(content) > MOST_HEX:
        lines.append(f"… and {len(content) - MOST_HEX:,} bytes more")
    return "\n".join(lines)


def _try(found: Mapping[str, Any], number: int) -> Markup:
    error = found.get("error") or {}
    raised = f"{error.get('type', '')}: {error.get('message', '')}"
    lines = found.get("lines") or ()
    return tag(
        "details",
        tag(
            "summary",
            tag("span", f"try {found.get('dequeue_count') or number}", class_="strong"),
            tag("span", _when(found.get("at")), class_="quiet"),
            tag("span", words.duration(found.get("duration_s")), class_="quiet"),
            tag("span", raised[:160], class_="raised"),
        ),
        tag("pre", error.get("traceback") or found.get("traceback") or raised, tabindex="0"),
        tag("pre", "\n".join(map(str, lines)), tabindex="0") if lines else None,
        class_="try",
    )

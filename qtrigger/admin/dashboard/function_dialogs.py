"""What a person is asked before a function is paused, or gets a test message."""

from __future__ import annotations

import json
from typing import Final

from qtrigger.admin.dashboard.layout import dialog, path
from qtrigger.admin.dashboard.markup import Markup, tag

_PAUSES: Final = (
    ("600", "10 minutes"),
    ("3600", "1 hour"),
    ("14400", "4 hours"),
    ("", "until resumed"),
)


def pause_dialog(name: str) -> Markup:
    """For how long, and why."""
    return dialog(
        "pause",
        f"Pause {name}",
        tag(
            "form",
            tag(
                "p",
                "It asks for no more messages; what runs goes on. Its messages stay on the queue.",
            ),
            tag(
                "label",
                "For",
                tag(
                    "select",
                    *(tag("option", word, value=value) for value, word in _PAUSES),
                    name="for_s",
                    data_number="",
                    autofocus=True,
                ),
            ),
            tag(
                "label",
                "Reason",
                tag(
                    "input",
                    name="reason",
                    maxlength="200",
                    placeholder="who comes next will read it",
                    autocomplete="off",
                ),
            ),
            tag(
                "div",
                tag("button", "Cancel", type="button", data_close=""),
                tag("button", "Pause", type="submit", class_="strong"),
                class_="ends",
            ),
            data_post=path("api", "functions", name, "pause"),
            data_done=f"{name} is paused",
        ),
    )


def send_dialog(name: str, queue: str) -> Markup:
    """The message's text."""
    return dialog(
        "send",
        f"Run {name} with a test message",
        tag(
            "form",
            tag(
                "p",
                f"It is put on the queue {queue}, as any other, and runs where that queue is read.",
            ),
            tag(
                "label",
                "Text",
                tag(
                    "textarea",
                    json.dumps({"id": 1}),
                    name="text",
                    rows=6,
                    autofocus=True,
                    spellcheck="false",
                ),
            ),
            tag(
                "div",
                tag("button", "Cancel", type="button", data_close=""),
                tag("button", "Send", type="submit", class_="strong"),
                class_="ends",
            ),
            data_post=path("api", "functions", name, "send"),
            data_done=f"a message is on {queue}",
        ),
    )

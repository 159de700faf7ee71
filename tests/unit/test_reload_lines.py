"""What a reload says of itself."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from qtrigger.events import Reloaded, ReloadRejected, RequirementsChanged
from qtrigger.telemetry.lines import line_of


def reloaded(**given: Any) -> Reloaded:
    nothing = dict.fromkeys(("added", "removed", "changed", "broken", "mended"), ())
    fields: dict[str, Any] = {
        **nothing,
        "files": ("charge/__init__.py",),
        "live": ("charge",),
        "ready": 3,
        "took_s": 0.2,
        "running_before": 0,
    }
    return Reloaded(**{**fields, **given})


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (reloaded(), "charge/__init__.py saved: charge live again in 200 ms"),
        (
            reloaded(running_before=1),
            (
                "charge/__init__.py saved: charge live again in 200 ms "
                "(1 message finishes on the old code)"
            ),
        ),
        (
            reloaded(files=("a.py", "b.py", "c.py"), live=("a", "b", "c", "d"), running_before=2),
            "3 files saved: 4 functions live again in 200 ms (2 messages finish on the old code)",
        ),
        (
            reloaded(files=(), live=("a", "b", "c")),
            "asked for: a, b, c live again in 200 ms",
        ),
        (
            reloaded(broken=("charge",), live=()),
            "charge/__init__.py saved: charge cannot run and is not polled until it is mended",
        ),
        (
            reloaded(broken=("a", "b"), live=(), ready=0),
            (
                "charge/__init__.py saved: a, b cannot run and are not polled until they are "
                "mended; no function runs now"
            ),
        ),
        (reloaded(removed=("a",), live=()), "charge/__init__.py saved: a removed"),
        (reloaded(live=()), "charge/__init__.py saved: done in 200 ms"),
    ],
)
def test_a_reload_is_one_line(event: Reloaded, text: str) -> None:
    line = line_of(event)

    assert line.text == text
    assert line.level == (logging.WARNING if event.broken else logging.INFO)


def test_what_to_install_names_the_interpreter() -> None:
    event = RequirementsChanged(file="requirements.txt", interpreter="/app/.venv/bin/python")

    assert line_of(event).text == (
        "requirements.txt changed: install it with /app/.venv/bin/python -m pip install "
        "-r requirements.txt, then: qtrigger reload"
    )


def test_a_rejected_reload_is_an_error() -> None:
    line = line_of(ReloadRejected(message="host.json:3: broken"))

    assert (line.level, line.event) == (logging.ERROR, "reload.rejected")

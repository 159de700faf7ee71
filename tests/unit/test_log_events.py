"""The page of log events: every event stands there, with the fields that its lines have."""

from __future__ import annotations

import io
import json
import logging
import re
import typing
from pathlib import Path

from qtrigger import events
from qtrigger.telemetry.json_lines import JsonSink
from tests.unit.log_events import page, samples

PAGE = Path("docs/reference/log-events.md")
COMMON = {"schema_version", "kind", "timestamp", "level", "message"}


def test_the_page_is_made_from_the_events() -> None:
    root = Path(__file__).resolve().parents[2]

    written = (root / PAGE).read_text(encoding="utf-8")

    assert written == page(), f"run: python -m tests.unit.log_events > {PAGE}"


def test_every_event_is_among_the_samples() -> None:
    missing = set(typing.get_args(events.Event)) - {type(event) for event in samples()}

    assert missing == set()


def test_what_a_json_line_has_stands_on_the_page() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| [\w, ]+ \| (.*) \| .* \|$", page(), re.MULTILINE))

    for event in samples():
        stream = io.StringIO()
        JsonSink(stream, level=logging.DEBUG).emit(event)
        line = json.loads(stream.getvalue())
        stated = set(re.findall(r"`([\w.]+)`", rows[line["kind"]]))
        always = set(re.findall(r"(?<!\*)`([\w.]+)`(?!\*)", rows[line["kind"]]))
        assert always <= line.keys() - COMMON <= stated, line["kind"]

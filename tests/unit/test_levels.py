"""host.json's log levels decide which of the functions' own lines are shown."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from io import StringIO

import pytest

from qtrigger.events import HostLog, UserLog
from qtrigger.telemetry.console import ConsoleSink
from qtrigger.telemetry.json_lines import JsonSink
from qtrigger.telemetry.levels import UserLevels
from qtrigger.telemetry.line import level_name
from qtrigger.testing.probe import Probe


def line(severity: int, logger: str = "root", text: str = "x", **extra: object) -> UserLog:
    return UserLog(
        function="charge",
        invocation_id="i1",
        message_id="m1",
        level=severity,
        logger=logger,
        message=text,
        extra=extra,
    )


@pytest.mark.parametrize(
    ("levels", "least"),
    [
        ({}, logging.DEBUG),
        ({"default": "Warning"}, logging.WARNING),
        ({"default": "Warning", "Function": "Debug"}, logging.DEBUG),
        ({"Function": "Error", "Function.charge": "Information"}, logging.INFO),
        ({"Function.charge": "Information", "Function.charge.User": "Error"}, logging.ERROR),
        ({"function.CHARGE.user": "critical"}, logging.CRITICAL),
        ({"Function.other": "None", "Host.Results": "None"}, logging.DEBUG),
        ({"Function.charge.User": "None"}, None),
    ],
)
def test_the_longest_category_decides_and_default_is_for_the_rest(
    levels: Mapping[str, str], least: int | None
) -> None:
    probe = Probe()
    sink = UserLevels(probe, levels)

    for level in (logging.DEBUG, 20, 30, 40, 50):
        sink.emit(line(level))

    shown = [event.level for event in probe.of(UserLog)]
    assert (shown[0] if shown else None) == least


def test_prints_have_azures_category_and_our_own_lines_none() -> None:
    probe = Probe()
    sink = UserLevels(probe, {"default": "None", "Host.Function.Console": "Warning"})

    sink.emit(line(logging.INFO, "stdout"))
    sink.emit(line(logging.WARNING, "stderr"))
    sink.emit(line(logging.CRITICAL, "shop"))
    sink.emit(line(logging.WARNING, "qtrigger.worker"))
    sink.emit(HostLog(level=logging.DEBUG, logger="x", message="x"))

    assert [event.logger for event in probe.of(UserLog)] == ["stderr", "qtrigger.worker"]
    assert len(probe.of(HostLog)) == 1


def console(event: UserLog, level: int = logging.INFO) -> str:
    stream = StringIO()
    ConsoleSink(stream, level=level, colour=False).emit(event)
    return stream.getvalue()


def as_json(event: UserLog, level: int = logging.INFO) -> str:
    stream = StringIO()
    JsonSink(stream, level=level).emit(event)
    return stream.getvalue()


def test_fields_of_a_record_stand_behind_its_first_line_and_in_json_as_they_are() -> None:
    event = line(20, text="paid\nby card", order=7, note="a b", ok=True, tags=["x"], none=None)

    first, second, *_ = console(event).splitlines()

    assert first.endswith('INFO paid  order=7 note="a b" ok=true tags="[\\"x\\"]" none=null')
    assert second.strip() == "by card"
    told = json.loads(as_json(event))
    assert told["message"] == "paid\nby card"
    assert told["extra"] == {"order": 7, "note": "a b", "ok": True, "tags": ["x"], "none": None}


def test_fields_that_are_named_like_a_lines_own_change_nothing_of_it() -> None:
    event = line(20, level="high", event="party", message="other", timestamp=1)

    told = json.loads(as_json(event))

    assert (told["kind"], told["level"], told["message"]) == ("user.log", "info", "x")
    assert told["extra"]["event"] == "party"


@pytest.mark.parametrize("show", [console, as_json])
def test_debug_lines_of_user_code_that_was_asked_for_them_are_shown_beside_the_info_lines(
    show: object,
) -> None:
    assert callable(show)
    assert "x" in show(line(logging.DEBUG))
    assert show(line(logging.INFO), logging.WARNING) == ""


@pytest.mark.parametrize(
    ("level", "name"),
    [(5, "DEBUG"), (10, "DEBUG"), (25, "INFO"), (30, "WARNING"), (45, "ERROR"), (60, "CRITICAL")],
)
def test_a_level_of_the_users_own_is_called_by_the_standard_one_below_it(
    level: int, name: str
) -> None:
    assert level_name(level) == name

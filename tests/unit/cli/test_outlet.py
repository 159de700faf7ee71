"""Where log lines go and how they look: what `auto` means, and which wish wins."""

from __future__ import annotations

import io
import logging

import click
import pytest

from qtrigger.cli import colours, outlet
from qtrigger.cli.outlet import LogOptions, chosen_format


class Stream(io.StringIO):
    """A stream that is a terminal, or is none."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


TERMINAL, PIPE = Stream(terminal=True), Stream(terminal=False)


@pytest.mark.parametrize(
    ("environment", "out", "err", "chosen"),
    [
        ("Development", TERMINAL, TERMINAL, "console"),
        ("Development", PIPE, TERMINAL, "plain"),
        ("Development", PIPE, PIPE, "plain"),
        ("Production", TERMINAL, TERMINAL, "console"),
        ("Production", TERMINAL, PIPE, "plain"),
        ("Production", PIPE, TERMINAL, "json"),
        ("Staging", PIPE, PIPE, "json"),
    ],
)
def test_auto_is_console_on_a_terminal_and_json_in_production_but_never_on_one(
    environment: str, out: Stream, err: Stream, chosen: str
) -> None:
    assert chosen_format("auto", environment, out=out, err=err) == chosen


@pytest.mark.parametrize("asked", ["console", "plain", "json"])
def test_a_format_that_is_asked_for_is_taken_everywhere(asked: str) -> None:
    assert chosen_format(asked, "Development", out=TERMINAL, err=TERMINAL) == asked


@pytest.mark.parametrize(
    ("environ", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colour_goes_by_the_environment_and_the_stream(
    environ: dict[str, str], *, on_terminal: bool, in_pipe: bool
) -> None:
    assert colours.wanted("auto", TERMINAL, environ) is on_terminal
    assert colours.wanted("auto", PIPE, environ) is in_pipe


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {}])
def test_the_flag_for_colour_wins(environ: dict[str, str]) -> None:
    assert colours.wanted("always", PIPE, environ) is True
    assert colours.wanted("never", TERMINAL, environ) is False


def test_lines_asked_for_as_plain_are_coloured_by_the_flag_alone() -> None:
    forced = {"FORCE_COLOR": "1"}
    plain = LogOptions(log_format="plain")

    assert not outlet.coloured(plain, "plain", TERMINAL, forced)
    assert outlet.coloured(LogOptions(), "plain", PIPE, forced)
    assert outlet.coloured(LogOptions(log_format="plain", color="always"), "plain", PIPE, {})
    assert not outlet.coloured(LogOptions(color="always"), "json", PIPE, {})


@pytest.mark.parametrize(
    ("options", "level"),
    [
        (LogOptions(), logging.INFO),
        (LogOptions(log_level="error"), logging.ERROR),
        (LogOptions(verbose=True), logging.DEBUG),
        (LogOptions(quiet=True), logging.WARNING),
    ],
)
def test_verbose_is_debug_and_quiet_is_warning(options: LogOptions, level: int) -> None:
    assert options.level == level


def test_verbose_and_quiet_contradict_each_other() -> None:
    with pytest.raises(click.UsageError, match="contradict"):
        _ = LogOptions(verbose=True, quiet=True).level


@pytest.mark.parametrize(
    ("columns", "width"), [("100", 100), ("12", 40), ("many", 80), ("0", 80), ("", 80)]
)
def test_a_terminal_that_does_not_tell_its_width_has_80_columns(columns: str, width: int) -> None:
    assert outlet.width_of(PIPE, {"COLUMNS": columns}) == width

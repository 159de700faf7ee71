"""Tracebacks for people: their own frames, with source and error standing out."""

from __future__ import annotations

import json
import textwrap
import traceback

import click

from qtrigger.telemetry.tracebacks import coloured, own_frames

OWN = '  File "/app/charge/__init__.py", line 8, in main\n    pay(order)\n    ~~~^^^^^^^\n'
LIBRARY = (
    '  File "/app/.venv/lib/python3.11/site-packages/pay/api.py", line 3, in pay\n    post()\n'
)
STANDARD = '  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode\n    raise error\n'
HEAD, ERROR = "Traceback (most recent call last):\n", "ValueError: no"


def test_frames_of_libraries_are_counted_and_left_out() -> None:
    text = own_frames(HEAD + OWN + LIBRARY + STANDARD + ERROR)

    assert text == HEAD + OWN + "  … 2 frames of libraries\n" + ERROR


def test_frames_between_those_of_the_user_are_left_out_where_they_stood() -> None:
    text = own_frames(HEAD + LIBRARY + OWN + STANDARD + OWN + ERROR)

    assert text.splitlines()[1] == "  … 1 frame of libraries"
    assert text.count("/app/charge/") == 2


def test_a_stack_of_libraries_alone_is_left_whole() -> None:
    text = HEAD + LIBRARY + STANDARD + ERROR

    assert own_frames(text) == text


def test_causes_and_what_is_no_frame_stay() -> None:
    between = "\nThe above exception was the direct cause of the following exception:\n\n"

    text = own_frames(HEAD + OWN + "KeyError: 1\n" + between + HEAD + OWN + LIBRARY + ERROR)

    assert between in text
    assert "KeyError: 1" in text
    assert "pay/api.py" not in text


def test_what_python_itself_writes_is_understood() -> None:
    try:
        json.loads("{")
    except ValueError:
        text = own_frames(traceback.format_exc())

    assert "frames of libraries" in text
    assert 'json.loads("{")' in text
    assert "decoder.py" not in text


def test_an_error_text_of_several_lines_is_not_taken_for_source() -> None:
    text = HEAD + LIBRARY + OWN + "ValueError: a\n    b\nc"

    assert own_frames(text).endswith("ValueError: a\n    b\nc")


def test_groups_keep_their_bars() -> None:
    bars = textwrap.indent(HEAD + OWN + LIBRARY + ERROR, "    | ")

    text = own_frames("  + Exception Group Traceback:\n" + bars)

    assert "    |   File" in text
    assert "pay/api.py" not in text


def test_source_marks_and_error_stand_out_and_the_text_is_the_same() -> None:
    lines = (HEAD + OWN + ERROR).splitlines()

    painted = coloured(lines)

    assert [click.unstyle(line) for line in painted] == lines
    assert painted[2] == "\x1b[1m    pay(order)\x1b[0m"
    assert painted[3] == "\x1b[1;31m    ~~~^^^^^^^\x1b[0m"
    assert painted[4] == "\x1b[1;31mValueError: no\x1b[0m"

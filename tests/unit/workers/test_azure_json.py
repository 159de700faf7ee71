"""JSON texts as the reference's host writes them."""

from __future__ import annotations

from typing import Any

import pytest

from qtrigger.workers.python.azure_json import (
    indented,
    looks_like_json,
    message_text,
    number_text,
    parse,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.5, "1.5"),
        (-2.0, "-2"),
        (0.1, "0.1"),
        (0.0001, "0.0001"),
        (0.00001, "1E-05"),
        (1e14, "100000000000000"),
        (1e15, "1E+15"),
        (-1234567890123456.0, "-1.234567890123456E+15"),
        (1e16, "1E+16"),
        (1.5e300, "1.5E+300"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_have_a_form_of_their_own(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([], "[]"),
        ({"a": []}, '{\n  "a": []\n}'),
        ([1, [2, {"b": None}]], '[\n  1,\n  [\n    2,\n    {\n      "b": null\n    }\n  ]\n]'),
        ({"a": True, "b": 1.0, "c": 1e20}, '{\n  "a": true,\n  "b": 1.0,\n  "c": 1E+20\n}'),
        ({"n": float("nan")}, '{\n  "n": "NaN"\n}'),
        (["ä/'<\x7f"], '[\n  "ä/\'<\x7f"\n]'),
        (['"\\\b\t\n\f\r'], '[\n  "\\"\\\\\\b\\t\\n\\f\\r"\n]'),
        (["\x00\x1b\x85\u2028"], '[\n  "\\u0000\\u001b\\u0085\\u2028"\n]'),
        ([12345678901234567890123], "[\n  12345678901234567890123\n]"),
    ],
)
def test_values_are_indented_by_two_blanks(value: Any, text: str) -> None:
    assert indented(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (None, ""), (True, "True"), (False, "False"), (7, "7"), (7.0, "7"), ([], "[]")],
)
def test_elements_of_an_array_become_texts(value: Any, text: str) -> None:
    assert message_text(value) == text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("{}", True),
        (" [1]\n", True),
        ("{a}", True),
        ("[}", False),
        ("{", False),
        ("x{}", False),
        ("", False),
        ('"text"', False),
    ],
)
def test_text_looks_like_json_by_its_ends(text: str, answer: bool) -> None:
    assert looks_like_json(text) is answer


def test_of_equal_names_the_last_value_stays_in_the_first_place() -> None:
    assert indented(parse('{"a":1,"b":2,"a":3}')) == '{\n  "a": 3,\n  "b": 2\n}'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1, 'b': [1, 2,],}", {"a": 1, "b": [1, 2]}),
        ("{a: 'it\\'s', $b: \"x\"}", {"a": "it's", "$b": "x"}),
        ("[1, /* two, */ 3 // four ]\n]", [1, 3]),
        ("{'a': '\"'}", {"a": '"'}),
        ("['//', '/*', ',]']", ["//", "/*", ",]"]),
        ('["a\nb"]', ["a\nb"]),
        (r"['a\nb \" ']", ['a\nb " ']),
        ("{}", {}),
    ],
)
def test_the_reference_reads_loosely(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text", ["{hello}", "{'a': True}", "[1 2]", "{'a'}", "['a]", "[,]", "{a: b}", "[1}", "['a'b]"]
)
def test_what_is_no_json_even_loosely_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)

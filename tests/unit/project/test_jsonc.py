"""Configuration files are read with Json.NET's liberties, and every part has a place."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from qtrigger.project import jsonc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} // the end', {"a": 1}),
        ("/* first */ [1, /* two */ 2] /* last */", [1, 2]),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it is \"so\"'}", {"a": 'it is "so"'}),
        ("{a: 1, $b_2: 2}", {"a": 1, "$b_2": 2}),
        ("[0x10, 010, 0, -7]", [16, 8, 0, -7]),
        ("[1.50, -2e3, .5, 5.]", [1.5, -2000.0, 0.5, 5.0]),
        ("[true, false, null, undefined]", [True, False, None, None]),
        ("[Infinity, -Infinity]", [math.inf, -math.inf]),
        ('"line\r\nbreak"', "line\r\nbreak"),
        (r'"\u00e4\n\t\/\\\"\' \ud83d\ude00"', "ä\n\t/\\\"' 😀"),
        (r'"half \ud83d of it"', "half � of it"),
        ("[1,,2]", [1, None, 2]),
        ('"2024-01-02T03:04:05Z"', "2024-01-02T03:04:05Z"),
        ("\ufeff{}", {}),
        ("  \u00a0[]\t\n", []),
    ],
)
def test_the_liberties_of_the_reference_parser_are_taken(text: str, value: Any) -> None:
    assert jsonc.parse(text.encode()).value == value


def test_nan_is_a_number() -> None:
    assert math.isnan(jsonc.parse(b"[NaN]").value[0])


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", (1, 1), "the file is empty"),
        ("  // nothing\n", (1, 1), "the file is empty"),
        ('{\n  "a": 1\n  "b": 2\n}', (3, 3), '"," or "}" is missing before the quote'),
        ('{"a": 1}}', (1, 9), "one too many"),
        ('{"a":', (1, 6), "not the end of the file"),
        ('{"a" 1}', (1, 6), '":" is expected after a key'),
        ("{,}", (1, 2), "a name in quotes is expected"),
        ("[1", (1, 3), '"," or "]" is missing'),
        ('["\\q"]', (1, 3), "unknown escape"),
        ("[maybe]", (1, 2), "text stands in quotes"),
        ("[+5]", (1, 2), "a value is expected"),
        ("[1.2.3]", (1, 2), "a value is expected"),
        ("[]\nx", (2, 1), "the document ends before this"),
        ("{} {}", (1, 4), "the document ends before this"),
        ('{"a": "b\n}', (1, 7), "no closing quote"),
        ("{} /* open", (1, 4), 'no closing "*/"'),
        ("{} / x", (1, 4), "neither a value nor a comment"),
        ('{"a": \x00}', (1, 7), "U+0000"),
        ("[" + "9" * 101 + "]", (1, 2), "at most 100 characters"),
        ("[" * 70, (1, 65), "64 levels"),
        ('{"a":' * 100_000, (1, 321), "64 levels"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, place: tuple[int, int], said: str) -> None:
    with pytest.raises(jsonc.JsonError, match=re.escape(said)) as caught:
        jsonc.parse(text.encode())

    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{}".encode("utf-16"), "UTF-16 LE"),
        (b"\xfe\xff" + "{}".encode("utf-16-be"), "UTF-16 BE"),
        ("{ }".encode("utf-16-le"), "UTF-16 LE"),
        ("{ }".encode("utf-16-be"), "UTF-16 BE"),
        ("{ }".encode("utf-32"), "UTF-32 LE"),
        ("{ }".encode("utf-32-be"), "UTF-32 BE"),
    ],
)
def test_another_encoding_is_named(data: bytes, said: str) -> None:
    with pytest.raises(jsonc.JsonError, match=f"{said}; save it as UTF-8"):
        jsonc.parse(data)


def test_a_byte_that_is_not_utf_8_has_its_place() -> None:
    with pytest.raises(jsonc.JsonError, match=r"0xE4 is not UTF-8.*Latin-1") as caught:
        jsonc.parse('{\n "ö": "'.encode() + b'\xe4"}')

    assert (caught.value.line, caught.value.column) == (2, 8)


def test_a_file_of_more_than_a_mebibyte_is_refused() -> None:
    with pytest.raises(jsonc.JsonError, match="too large"):
        jsonc.parse(b" " * (jsonc.MAX_BYTES + 1))


def test_a_file_of_more_parts_than_anybody_writes_is_refused_at_the_first_one_too_many() -> None:
    many = ",\n".join(["0"] * jsonc.MAX_PARTS)

    with pytest.raises(jsonc.JsonError, match="more than 5,000 keys and elements") as refused:
        jsonc.parse(f"[{many}]".encode())

    assert (refused.value.line, refused.value.column) == (jsonc.MAX_PARTS, 1)


def test_every_part_has_line_and_column() -> None:
    document = jsonc.parse(b'{\r\n  "a": [10,\n    {"b": true}],\r "c": null }')

    assert document.value_place(()) == (1, 1)
    assert document.key_place(("a",)) == (2, 3)
    assert document.value_place(("a",)) == (2, 8)
    assert document.value_place(("a", 0)) == (2, 9)
    assert document.key_place(("a", 1, "b")) == (3, 6)
    assert document.value_place(("a", 1, "b")) == (3, 11)
    assert document.value_place(("c",)) == (4, 7)


def test_a_part_that_is_not_there_has_the_place_of_what_is_around_it() -> None:
    document = jsonc.parse(b'{\n "a": {}\n}')

    assert document.value_place(("a", "b", 3)) == (2, 7)
    assert document.key_place(("x",)) == (1, 1)


def test_of_a_repeated_key_the_last_counts_and_the_first_is_reported() -> None:
    document = jsonc.parse(b'{"a": 1,\n "a": {"b": 2}}')

    assert document.value == {"a": {"b": 2}}
    assert document.duplicates == (jsonc.Duplicate(path=("a",), first_line=1),)
    assert document.key_place(("a",)) == (2, 2)

"""Objects are read as they were meant, whatever their texts look like to YAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.manifests.documents import Document, files, stream

TEXTS = st.one_of(
    st.text(),
    st.sampled_from(
        ["on", "no", "null", "~", "0o17", "1e3", "2026-01-01", "- a", "a: b", "#x", ""]
    ),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)),
    max_leaves=12,
)


@given(value=VALUES, remarks=st.lists(st.text(), max_size=3))
def test_an_object_is_read_as_it_was_and_remarks_are_no_part_of_it(
    value: object, remarks: list[str]
) -> None:
    content = {"kind": "Thing", "value": value}

    text = stream([Document(content=content, remarks=remarks)])

    assert list(yaml.safe_load_all(text)) == [content]


@pytest.mark.parametrize("text", ["1e3", "12e45", "1e+5", "0o17", "-0o7", "08", "+.5", "1.", "y"])
def test_a_text_that_a_newer_yaml_takes_for_something_else_is_quoted(text: str) -> None:
    """Queues may be called so, and kubectl reads 1e3 as a number."""
    assert f"queue: '{text}'\n" in stream([Document(content={"kind": "T", "queue": text})])
    assert f"'{text}': 1\n" in stream([Document(content={"kind": "T", text: 1})])


def test_an_object_in_two_places_is_written_twice() -> None:
    shared = {"a": 1}

    assert "&" not in stream([Document(content={"kind": "T", "one": shared, "two": shared})])


def test_there_is_one_file_for_each_kind() -> None:
    made = [Document(content={"kind": kind, "n": n}) for n, kind in enumerate("ABA")]

    found = files(made)

    assert {name: len(list(yaml.safe_load_all(text))) for name, text in found.items()} == {
        "a.yaml": 2,
        "b.yaml": 1,
    }

"""A message offers its metadata and its body's properties to expressions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from qtrigger.invocation import TriggerMessage
from qtrigger.project.binding_data import binding_data

WHEN = datetime(2026, 1, 2, tzinfo=UTC)


def data(body: bytes) -> dict[str, Any]:
    return binding_data(
        TriggerMessage(
            id="m1",
            body=body,
            dequeue_count=2,
            inserted=WHEN,
            expires=WHEN,
            next_visible=WHEN,
            pop_receipt="r1",
        )
    )


METADATA = {
    "DequeueCount": 2,
    "ExpirationTime": WHEN,
    "Id": "m1",
    "InsertionTime": WHEN,
    "NextVisibleTime": WHEN,
    "PopReceipt": "r1",
}


def test_a_plain_body_gives_metadata_and_itself() -> None:
    assert data(b"hello") == {"QueueTrigger": "hello", **METADATA}


def test_a_body_that_is_not_utf_8_gives_metadata_alone() -> None:
    assert data(b"\xc7\xc7\x00\x92") == METADATA


def test_a_json_objects_properties_come_on_top_whatever_their_case() -> None:
    found = data(b' {"id": 5, "DEQUEUECOUNT": "x", "queuetrigger": "q", "new": true} ')

    assert found["id"] == "5"
    assert found["DEQUEUECOUNT"] == "x"
    assert found["queuetrigger"] == "q"
    assert found["new"] == "True"
    assert not {"Id", "DequeueCount", "QueueTrigger"} & found.keys()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("5", "5"),
        ("1.50", "1.5"),
        ("2.0", "2"),
        ("false", "False"),
        ('"2024-01-02T03:04:05Z"', "2024-01-02T03:04:05Z"),
        ("[1, 2]", "[1,2]"),
        ('{"a": {"b": 1, "c": null}}', {"a": {"b": "1"}}),
    ],
)
def test_scalars_are_text_at_every_depth(value: str, text: Any) -> None:
    assert data(f'{{"x": {value}}}'.encode())["x"] == text


def test_a_null_property_is_not_there() -> None:
    assert data(b'{"Id": null, "x": null}')["Id"] == "m1"
    assert "x" not in data(b'{"x": null}')


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b'"text"',
        b"{broken}",
        b'{"a": 1} tail',
        b'{"a":' * 5000 + b"}",
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_that_is_no_json_object_gives_no_properties(body: bytes) -> None:
    assert data(body) == {"QueueTrigger": body.decode(), **METADATA}

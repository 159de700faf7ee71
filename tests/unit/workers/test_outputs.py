"""What is written for each kind of value, in both modes: the tables, byte for byte."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import azure.functions as func
import pydantic
import pytest

from qtrigger.workers.python.annotations import GENERIC, QUEUE
from qtrigger.workers.python.outputs import Item, OutputError, items_of


@dataclasses.dataclass
class Order:
    number: int
    note: str


class Timed(func.QueueMessage):
    delay: Any = timedelta(minutes=2)
    time_to_live: Any = 60


def generate(*values: Any) -> Iterator[Any]:
    yield from values


def write(
    value: Any, *, mode: str = "azure", converter: str = QUEUE
) -> tuple[list[bytes], list[str]]:
    """The bodies, and the kinds of surprise that were told."""
    told: list[str] = []
    items = items_of(
        value,
        binding="out",
        converter=converter,
        mode=mode,
        warn=lambda kind, _text: told.append(kind),
    )
    return [item.body for item in items], told


MESSAGE_DOCUMENT = b'{\n  "id": null,\n  "body": "y"\n}'


@pytest.mark.parametrize(
    ("value", "bodies", "surprises"),
    [
        (None, [], []),
        ("text", [b"text"], []),
        ("", [b""], []),
        (b"\x00[1]", [b"\x00[1]"], []),
        (b"[1,2]", [b"[1,2]"], []),
        ('[1,2.0,3.5,null,true,{"a":1},[]]', [
            b"1", b"2", b"3.5", b"", b"True", b'{\n  "a": 1\n}', b"[]"
        ], ["array-split"]),
        (' ["a"] ', [b"a"], ["array-split"]),
        ("[]", [], ["array-split"]),
        ('{"a":1,"b":[1,{}],"c":{}}', [
            b'{\n  "a": 1,\n  "b": [\n    1,\n    {}\n  ],\n  "c": {}\n}'
        ], ["re-indented"]),
        ('{\n  "a": 1\n}', [b'{\n  "a": 1\n}'], []),
        (func.QueueMessage(body="y"), [MESSAGE_DOCUMENT], ["message-document"]),
        (func.QueueMessage(id="7", body=b"\xc3\xa4\n"), [
            b'{\n  "id": "7",\n  "body": "\xc3\xa4\\n"\n}'
        ], ["message-document"]),
        (["a", "[1]"], [b"a", b"[1]"], []),
        (("a", "b"), [b"a", b"b"], []),
        (generate("a", "b"), [b"a", b"b"], []),
        ([func.QueueMessage(body="y"), "b"], [MESSAGE_DOCUMENT, b"b"], ["message-document"]),
        ([], [], []),
        ({"k": 1, "l": 2}, [b"k", b"l"], ["dict-keys"]),
    ],
)  # fmt: skip
def test_azure_mode_writes_what_the_reference_writes(
    value: Any, bodies: list[bytes], surprises: list[str]
) -> None:
    assert write(value) == (bodies, surprises)


@pytest.mark.parametrize(
    ("value", "bodies", "surprises"),
    [
        ("text", [b"text"], []),
        (b"[1]", [b"[1]"], []),
        (bytearray(b"raw"), [b"raw"], []),
        ("[1]", [b"1"], ["array-split"]),
        ({"k": [1]}, [b'{\n  "k": [\n    1\n  ]\n}'], ["re-indented"]),
        (["a", 1, {"b": None}], [b"a", b"1", b'{\n  "b": null\n}'], []),
        (0, [b"0"], []),
        (1.5, [b"1.5"], []),
        (2.0, [b"2"], []),
        (True, [b"1"], ["bool-as-number"]),
        (False, [b"0"], ["bool-as-number"]),
    ],
)
def test_azure_mode_has_other_rules_for_out_of_str_and_bytes(
    value: Any, bodies: list[bytes], surprises: list[str]
) -> None:
    assert write(value, converter=GENERIC) == (bodies, surprises)


@pytest.mark.parametrize(
    ("value", "bodies"),
    [
        (None, []),
        ("[1,2]", [b"[1,2]"]),
        ("{broken}", [b"{broken}"]),
        ("", [b""]),
        (b"\x00", [b"\x00"]),
        (bytearray(b"raw"), [b"raw"]),
        (func.QueueMessage(body="y"), [b"y"]),
        ({"k": "ä", "l": [1]}, ['{"k":"ä","l":[1]}'.encode()]),
        (Order(1, "x"), [b'{"number":1,"note":"x"}']),
        ([Order(1, "x"), {"k": 1}, b"b", "s", None], [
            b'{"number":1,"note":"x"}', b'{"k":1}', b"b", b"s"
        ]),
        (("a", "b"), [b"a", b"b"]),
        (generate("a", b"b"), [b"a", b"b"]),
        ([], []),
        ([None], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("converter", [QUEUE, GENERIC])
def test_exact_mode_writes_what_the_code_gave(
    value: Any, bodies: list[bytes], converter: str
) -> None:
    if isinstance(value, Iterator):
        value = generate("a", b"b")

    assert write(value, mode="exact", converter=converter) == (bodies, [])


@pytest.mark.parametrize(
    ("value", "converter", "text"),
    [
        ("{hello}", QUEUE, "looks like JSON and is not"),
        ("{hello}", GENERIC, "looks like JSON and is not"),
        (5, QUEUE, 'output "out" is of type int'),
        (False, QUEUE, "type bool"),
        (bytearray(b"x"), QUEUE, "type bytearray"),
        (object(), QUEUE, "type object"),
        (["a", b"b"], QUEUE, 'item 1 of output "out" is of type bytes'),
        (["a", "b", None], QUEUE, "item 2"),
        ([["a"]], QUEUE, "item 0"),
        (func.QueueMessage(body=b"\xff"), QUEUE, "not UTF-8"),
        ("\ud83d", QUEUE, "UTF-8"),
        (func.QueueMessage(body="x"), GENERIC, "type QueueMessage"),
        (("a",), GENERIC, "type tuple"),
        ({"k": object()}, GENERIC, "JSON"),
    ],
)
def test_azure_mode_refuses_what_the_reference_refuses(
    value: Any, converter: str, text: str
) -> None:
    with pytest.raises(OutputError, match=text):
        write(value, converter=converter)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "type int"),
        (True, "type bool"),
        (["a", 5], "item 1 .*type int"),
        (["a", ["b"]], "item 1 .*type list"),
        ({"k": object()}, "JSON"),
        ([{"k": {1}}], "item 0 .*JSON"),
        (Order, "type type"),
        ("\ud83d", "UTF-8"),
        (["a", "\ud83d"], "item 1 .*UTF-8"),
    ],
)
def test_exact_mode_names_what_it_cannot_write(value: Any, text: str) -> None:
    with pytest.raises(OutputError, match=text):
        write(value, mode="exact")


@pytest.mark.parametrize("mode", ["azure", "exact"])
def test_a_message_may_carry_a_delay_and_a_time_to_live(mode: str) -> None:
    (item,) = items_of(
        Timed(body="x"), binding="out", converter=QUEUE, mode=mode, warn=lambda *_: None
    )

    assert item == Item(item.body, delay_s=120.0, ttl_s=60.0)


@pytest.mark.parametrize("mode", ["azure", "exact"])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("delay", math.inf, "a delay of inf s, which is not from 0 to 7 days"),
        ("delay", "1", "a delay of type str, which is neither"),
        ("time_to_live", 0, "a time to live of 0 s, which is neither"),
    ],
)
def test_one_that_cannot_be_is_refused_and_its_item_named(
    mode: str, name: str, value: object, text: str
) -> None:
    wrong = Timed(body="x")
    setattr(wrong, name, value)

    with pytest.raises(OutputError, match=f'item 1 of output "out" has {text}'):
        write(["fine", wrong], mode=mode)


class Receipt(pydantic.BaseModel):
    number: int


@pytest.mark.parametrize("record", [Order(1, "x"), Receipt(number=1)], ids=["dataclass", "model"])
@pytest.mark.parametrize("converter", [QUEUE, GENERIC])
def test_a_record_is_no_list_on_azure_and_the_refusal_names_the_mode_that_writes_it(
    record: object, converter: str
) -> None:
    for value in (record, [record]) if converter == QUEUE else (record,):
        with pytest.raises(OutputError) as refused:
            write(value, converter=converter)
        said = str(refused.value)
        assert f"of type {type(record).__name__}," in said
        assert said.endswith("With outputs set to exact in host.json it is written as JSON")

"""What a JSON body becomes, by the annotation of its parameter, and what is said when it cannot."""

# ruff: noqa: UP006, UP007, UP045 - the usual spellings of old projects are tested too

from __future__ import annotations

import dataclasses
import json
import typing
from datetime import datetime
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, Union

import pydantic
import pydantic.dataclasses
import pytest

from qtrigger.workers.python.inputs import body_reader
from qtrigger.workers.python.message import InputError
from qtrigger.workers.python.shapes import Shapeless

Number = NewType("Number", int)


@dataclasses.dataclass
class Address:
    street: str
    zip: Optional[str] = None


@dataclasses.dataclass
class Item:
    name: str
    price: float
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Order:
    number: int
    address: Address
    items: typing.List[Item]
    express: bool = False
    note: str | None = None
    state: Literal["new", "paid"] = "new"
    rates: typing.Dict[str, float] = dataclasses.field(default_factory=dict)
    source: dataclasses.InitVar[str] = "shop"
    total: float = dataclasses.field(init=False, default=0.0)


@dataclasses.dataclass
class Tree:
    name: str
    children: list[Tree] = dataclasses.field(default_factory=list)
    parent: Optional[Tree] = None


@dataclasses.dataclass
class Checked:
    number: Number

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ArithmeticError("ours to say")


class Customer(TypedDict):
    name: str
    address: Address
    nick: NotRequired[str]


class Loose(TypedDict, total=False):
    name: str


class Payment(pydantic.BaseModel):
    amount: pydantic.PositiveInt
    due: datetime


@pydantic.dataclasses.dataclass
class Invoice:
    due: datetime


@dataclasses.dataclass
class Paid:
    payments: list[Payment]


def read(annotation: Any, value: Any) -> Any:
    """What the function would get; bytes are the body itself, anything else its JSON."""
    reader = body_reader(annotation, "msg")
    assert reader is not None
    return reader(value if isinstance(value, bytes) else json.dumps(value).encode())


def refusal(annotation: Any, value: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(annotation, value)
    return str(caught.value)


ORDER = {"number": 7, "address": {"street": "Elm"}, "items": [{"name": "a", "price": 2}]}


@pytest.mark.parametrize("kind", [dict, dict[str, Any], typing.Dict, typing.Dict[str, object]])
def test_a_dict_is_the_object_as_it_is(kind: Any) -> None:
    assert read(kind, {"a": [1, None, {"b": 1.5}]}) == {"a": [1, None, {"b": 1.5}]}


@pytest.mark.parametrize("kind", [list, list[Any], typing.List])
def test_a_list_is_the_array_as_it_is(kind: Any) -> None:
    assert read(kind, [1, "a", None]) == [1, "a", None]


def test_members_of_dicts_and_lists_are_of_their_type() -> None:
    assert read(dict[str, list[int]], {"a": [1, 2]}) == {"a": [1, 2]}
    assert read(list[Item], [{"name": "a", "price": 1.5}]) == [Item("a", 1.5)]
    assert read(list[Optional[int]], [1, None]) == [1, None]
    assert read(list[Annotated[str, "note"]], ["a"]) == ["a"]


def test_a_dataclass_has_its_nested_ones_and_its_defaults() -> None:
    order = read(Order, ORDER)

    assert order == Order(7, Address("Elm"), [Item("a", 2.0)])
    assert isinstance(order.items[0].price, float)


def test_what_the_json_has_wins_over_defaults() -> None:
    more = {"express": True, "note": "now", "state": "paid", "rates": {"EUR": 1}}

    order = read(Order, {**ORDER, **more})

    assert (order.express, order.note, order.state, order.rates) == (
        True,
        "now",
        "paid",
        {"EUR": 1.0},
    )


def test_keys_that_a_dataclass_does_not_have_are_left_where_they_are() -> None:
    assert read(Address, {"street": "Elm", "city": "X", "total": 3}) == Address("Elm")
    assert read(Order, {**ORDER, "total": 9.0}).total == 0.0


def test_a_type_may_hold_itself() -> None:
    tree = read(Tree, {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]})

    assert tree == Tree("a", [Tree("b", [Tree("c")])])


def test_a_typed_dict_is_a_dict_that_keeps_other_keys() -> None:
    customer = read(Customer, {"name": "Ann", "address": {"street": "Elm"}, "other": 1})

    assert customer == {"name": "Ann", "address": Address("Elm"), "other": 1}
    assert read(Loose, {}) == {}


def test_a_pydantic_model_reads_by_its_own_rules() -> None:
    body = {"amount": "5", "due": "2026-12-01T10:00:00Z"}

    payment = read(Payment, body)

    assert payment == Payment(amount=5, due=datetime.fromisoformat("2026-12-01T10:00:00Z"))
    assert read(list[Payment], [body]) == [payment]
    assert read(Paid, {"payments": [body]}) == Paid([payment])
    assert read(Invoice, {"due": body["due"]}) == Invoice(payment.due)


def test_a_byte_order_mark_and_any_letters_are_fine() -> None:
    assert read(dict, b'\xef\xbb\xbf {"a": "\xc3\xa4"} ') == {"a": "ä"}


@pytest.mark.parametrize(
    ("kind", "value", "what"),
    [
        (dict, [1], "dict, which the function takes: an object was expected, not an array"),
        (list, {"a": 1}, "an array was expected, not an object"),
        (list, None, "an array was expected, not null"),
        (list[str], ["a", 1], "[1]: a string was expected, not a number"),
        (dict[str, int], {"a": "x"}, '["a"]: a whole number was expected, not a string'),
        (dict[str, int], {"a": True}, "a whole number was expected, not a boolean"),
        (dict[str, int], {"a": 1.5}, "not a number with a fraction"),
        (dict[str, int], {"k" * 50: "x"}, f'["{"k" * 40}…"]: '),
        (dict[str, float], {"a": True}, "a number was expected, not a boolean"),
        (dict[str, float], {"a": 10**400}, "a number was expected that a float can hold"),
        (dict[str, bool], {"a": 1}, "true or false was expected, not a number"),
        (dict[str, None], {"a": 1}, "null was expected, not a number"),
        (Order, "x", "fit Order, which the function takes: an object was expected, not a string"),
        (Order, {"number": 1}, 'the key "address" is missing'),
        (Order, {**ORDER, "address": {}}, 'address: the key "street" is missing'),
        (
            Order,
            {**ORDER, "items": [{"name": "a", "price": 1}, {"name": "b", "price": "2"}]},
            "items[1].price: a number was expected, not a string",
        ),
        (Order, {**ORDER, "number": "x", "note": 1}, "takes: number: a whole number"),
        (Order, {**ORDER, "note": 1}, "note: a string was expected, not a number"),
        (Order, {**ORDER, "state": "lost"}, "state: one of 'new', 'paid' was expected"),
        (
            list[Union[int, str, None]],
            [[]],
            "[0]: int or str or None was expected, and the array there is none of these",
        ),
        (Customer, {"name": "a"}, 'the key "address" is missing'),
        (Customer, [], "fit Customer, which the function takes: an object was expected"),
        (Customer, {"name": "a", "address": {"street": "b"}, "nick": 1}, "nick: a string"),
        (Paid, {"payments": [{"amount": 1}]}, "payments[0]: due: Field required"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(kind: Any, value: Any, what: str) -> None:
    assert what in refusal(kind, value)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "it is empty"),
        (b" \r\n", "it is empty"),
        (b"hello", "Expecting value at line 1, column 1"),
        (b'{\n "a": 1,,}', "at line 2, column"),
        (b'{"a": 1} 2', "Extra data at line 1, column 10"),
        (b'{"a": "\xff"}', "it is not UTF-8 at byte 7"),
        (b'{"a": NaN}', "it holds NaN, which is no number of JSON"),
        (b"[" + b"1" * 5000 + b"]", "limit"),
    ],
)
@pytest.mark.parametrize("kind", [dict, Order])
def test_a_body_that_is_no_json_is_told_with_its_place(kind: Any, body: bytes, why: str) -> None:
    text = refusal(kind, body)

    assert f"body is not JSON, and the function takes {kind.__name__}: " in text
    assert why in text


def nested(depth: int) -> bytes:
    return b'{"name": "a", "children": [' * depth + b"]}" * depth


@pytest.mark.parametrize("body", [b"[" * 100_000, nested(400), nested(100_000)])
def test_a_body_that_is_nested_too_deeply_is_told_so(body: bytes) -> None:
    assert refusal(Tree, body).startswith(
        "the message's body is nested too deeply to be read as Tree"
    )


SECRET = "pa55word"


@pytest.mark.parametrize("kind", [dict[str, int], list[str], Order, Customer, Payment, Invoice])
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"number": SECRET, "name": [SECRET], "amount": SECRET, "due": SECRET}).encode(),
        json.dumps([{"a": SECRET}]).encode(),
        f'{{"a": "{SECRET}'.encode(),
        f'{{"a": "{SECRET}\\q"}}'.encode(),
        SECRET.encode(),
        f"[{SECRET}]".encode(),
        SECRET.encode() + b"\xff",
    ],
)
def test_what_the_body_holds_is_never_shown(kind: Any, body: bytes) -> None:
    assert SECRET not in refusal(kind, body)


def test_a_models_complaints_are_told_with_their_places_and_the_rest_counted() -> None:
    text = refusal(list[Payment], [{"amount": 0, "due": "soon"}])
    many = pydantic.create_model("Many", **dict.fromkeys("abcde", (int, ...)))  # type: ignore[call-overload]

    assert "[0]: amount: Input should be greater than 0; due: Input should be a valid date" in text
    assert refusal(many, {}).endswith("c: Field required; and 2 more")


def test_what_a_class_of_the_users_raises_is_the_users_own_error() -> None:
    with pytest.raises(ArithmeticError, match="ours to say"):
        read(Checked, {"number": -1})


@dataclasses.dataclass
class Timed:
    when: datetime


@dataclasses.dataclass
class Deep:
    inner: list[Timed]


@dataclasses.dataclass
class Made:
    name: str
    how: dataclasses.InitVar[int]


class WithSet(TypedDict):
    names: set[str]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (Timed, 'field "when" of Timed is of type datetime; values of JSON are read as str, int'),
        (Deep, 'field "when" of Timed is of type datetime'),
        (Made, "Made is made with how, which is none of its fields"),
        (WithSet, 'key "names" of WithSet is of type set[str]'),
        (list[bytes], 'parameter "msg" is of type bytes'),
        (dict[int, str], 'parameter "msg" has keys of type int; in JSON they are str'),
        (list[tuple[int, ...]], "tuple[int, ...]"),
    ],
)
def test_a_type_that_json_has_no_value_for_is_refused_before_any_message(
    kind: Any, what: str
) -> None:
    with pytest.raises(Shapeless) as caught:
        body_reader(kind, "msg")

    assert what in str(caught.value)


@pytest.mark.parametrize(
    "kind", [int, float, bool, Any, object, None, Optional[Order], tuple[str, ...], set, TypedDict]
)
def test_other_annotations_do_not_mean_json(kind: Any) -> None:
    assert body_reader(kind, "msg") is None


class Card(pydantic.BaseModel):
    kind: Literal["card"]


class Bill(pydantic.BaseModel):
    kind: Literal["bill"]


class Receipt(pydantic.BaseModel):
    by: Annotated[Union[Card, Bill], pydantic.Field(discriminator="kind")]


def test_a_tag_that_no_model_has_is_not_shown() -> None:
    text = refusal(Receipt, b'{"by": {"kind": "4111-1111"}}')

    assert "4111" not in text
    assert text.endswith("by: the value of 'kind' is none of 'card', 'bill'")

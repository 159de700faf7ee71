"""Parameters against bindings: what is accepted, what is refused and how it is said."""

# ruff: noqa: UP006, UP007, UP045 - the usual spellings of old projects are tested too

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import make_dataclass
from datetime import date, datetime
from typing import Annotated, Any, Optional, Union

import azure.functions as func
import pydantic
import pytest

from qtrigger.workers.python.annotations import GENERIC, QUEUE, SignatureError
from qtrigger.workers.python.signature import Plan, plan

TRIGGER = {"name": "msg", "type": "queueTrigger", "direction": "IN"}
OUT = {"name": "out", "type": "queue", "direction": "out"}
RETURN = {"name": "$return", "type": "queue", "direction": "OUT"}

Function = Callable[..., Any]
Bare: Any = dict
BareList: Any = list


ORDER: Any = make_dataclass("Order", [("number", int)])


class Customer(typing.TypedDict):
    name: str


class OwnMessage(func.QueueMessage):
    pass


def annotated(**annotations: Any) -> Function:
    """A function whose parameters are named and annotated like that; `...` for not annotated."""
    returns = annotations.pop("returns", ...)
    names = ", ".join(annotations)
    namespace: dict[str, Any] = {}
    exec(f"def main({names}): pass", namespace)
    main: Function = namespace["main"]
    found = {name: kind for name, kind in annotations.items() if kind is not ...}
    if returns is not ...:
        found["return"] = returns
    main.__annotations__ = found
    return main


def check(function: Function, *bindings: dict[str, str], mode: str = "azure") -> Plan:
    return plan(name="f", function=function, directory="/f", bindings=bindings, mode=mode)


def refusal(function: Function, *bindings: dict[str, str]) -> str:
    with pytest.raises(SignatureError) as caught:
        check(function, *bindings)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "takes"),
    [
        (..., "message"),
        (func.QueueMessage, "message"),
        (OwnMessage, "message"),
        ("func.QueueMessage", "message"),
        (str, "str"),
        ("str", "str"),
        (Annotated[str, "a note"], "str"),
        (bytes, "bytes"),
    ],
)
def test_a_trigger_may_be_a_message_text_bytes_or_not_annotated(kind: Any, takes: str) -> None:
    function = annotated(msg=kind)
    function.__globals__["func"] = func

    made = check(function, TRIGGER)

    assert (made.trigger, made.takes) == ("msg", takes)
    assert (made.has_context, made.returns, made.is_async) == (False, False, False)
    assert made.outs == {}


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (int, '"int"'),
        (tuple[str, ...], '"tuple[str, ...]"'),
        (Optional[str], "Optional[str]"),
        (str | bytes, "str | bytes"),
        (Any, "Any"),
        (bytearray, '"bytearray"'),
        (func.EventHubEvent, '"EventHubEvent"'),
        (None, '"None"'),
        (Mapping[str, str], "Mapping"),
    ],
)
def test_other_trigger_annotations_are_refused_by_name(kind: Any, shown: str) -> None:
    text = refusal(annotated(msg=kind), TRIGGER)

    assert '"queueTrigger", does not match its Python annotation' in text
    assert shown in text


@pytest.mark.parametrize(
    "kind",
    [
        dict,
        list,
        dict[str, int],
        typing.Dict[str, Any],
        typing.List[str],
        list[ORDER],
        ORDER,
        Customer,
        pydantic.create_model("Order"),
        "dict[str, str]",
        Annotated[Bare, "a note"],
    ],
)
def test_a_trigger_may_be_what_a_json_body_becomes(kind: Any) -> None:
    made = check(annotated(msg=kind), TRIGGER)

    assert made.takes == "json"
    assert made.read is not None


def test_a_type_that_is_not_read_from_json_is_refused_by_its_place() -> None:
    text = refusal(annotated(msg=make_dataclass("Order", [("when", datetime)])), TRIGGER)

    assert text.startswith('parameter "msg" is annotated Order, which is read from JSON; but field')
    assert '"when" of Order is of type datetime' in text


def test_an_in_binding_annotated_out_is_refused() -> None:
    assert "annotation of its parameter is Out" in refusal(annotated(msg=func.Out[str]), TRIGGER)


def test_parameters_that_no_binding_names_are_refused_even_with_a_default() -> None:
    def main(msg: str, limit: int = 1, *args: str, **more: str) -> None: ...

    text = refusal(main, TRIGGER)

    assert text == (
        "f: the function has parameters that no binding in function.json names: "
        "'args', 'limit', 'more'. Without a binding there can be context and what is known of the "
        "message: id, dequeue_count, max_dequeue_count, insertion_time, expiration_time, "
        "next_visible_time, time_next_visible, pop_receipt, queue_trigger"
    )


def test_bindings_without_a_parameter_are_refused() -> None:
    assert ": 'message'. Without" in refusal(annotated(message=str), TRIGGER, OUT)
    assert refusal(annotated(msg=str), TRIGGER, OUT) == (
        "f: function.json has bindings for which the function has no parameter: 'out'"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("id", str),
        ("Id", ...),
        ("dequeue_count", int),
        ("dequeueCount", ...),
        ("DEQUEUECOUNT", int),
        ("insertion_time", datetime),
        ("expirationTime", "datetime"),
        ("next_visible_time", datetime),
        ("time_next_visible", datetime),
        ("pop_receipt", str),
        ("QueueTrigger", str),
    ],
)
def test_a_parameter_without_a_binding_may_be_named_after_what_is_known_of_the_message(
    name: str, kind: Any
) -> None:
    function = annotated(**{"msg": str, name: kind})
    function.__globals__["datetime"] = datetime

    assert list(check(function, TRIGGER).properties) == [name]


@pytest.mark.parametrize(
    ("name", "kind", "wanted"),
    [
        ("dequeue_count", str, "int, not str"),
        ("id", int, "str, not int"),
        ("id", Optional[str], "str, not Optional[str]"),
        ("insertion_time", date, "datetime, not date"),
        ("queue_trigger", bytes, "str, not bytes"),
    ],
)
def test_its_annotation_must_say_what_it_gets(name: str, kind: Any, wanted: str) -> None:
    text = refusal(annotated(**{"msg": str, name: kind}), TRIGGER)

    assert f'parameter "{name}" has no binding' in text
    assert f"must be annotated {wanted}" in text


def test_a_binding_of_such_a_name_is_that_binding() -> None:
    binding = {"name": "id", "type": "queueTrigger", "direction": "in"}

    made = check(annotated(id=bytes), binding)

    assert (made.trigger, made.takes, made.properties) == ("id", "bytes", {})


@pytest.mark.parametrize("name", ["deque_count", "body", "invocation_id", "visible_time"])
def test_no_other_name_goes_without_a_binding(name: str) -> None:
    assert f"names: '{name}'" in refusal(annotated(**{"msg": str, name: ...}), TRIGGER)


def test_parameters_that_gather_others_are_named_after_nothing() -> None:
    def main(msg: str, *id: str) -> None: ...  # noqa: A002 - its name is what is tested

    assert "names: 'id'" in refusal(main, TRIGGER)


def test_keyword_only_parameters_and_wrapped_functions_are_fine() -> None:
    def main(*, msg: str, context: func.Context) -> None: ...

    @functools.wraps(main)
    def wrapped(*a: Any, **k: Any) -> None: ...

    assert check(main, TRIGGER).has_context
    assert check(wrapped, TRIGGER).has_context


@pytest.mark.parametrize("kind", [int, Optional[func.Context]])
def test_a_context_of_another_type_is_refused(kind: Any) -> None:
    assert 'the "context" parameter' in refusal(annotated(msg=str, context=kind), TRIGGER)


def test_a_binding_called_context_is_no_context() -> None:
    binding = {"name": "context", "type": "queueTrigger", "direction": "in"}

    made = check(annotated(context=str), binding)

    assert (made.trigger, made.has_context) == ("context", False)


@pytest.mark.parametrize(
    ("bindings", "text"),
    [
        ([TRIGGER, {"name": "out", "type": "queue", "direction": "inout"}], '"inout"'),
        ([TRIGGER, {"name": "$return", "type": "queue"}], 'must be "out"'),
        ([TRIGGER, {"name": "out", "type": "blob", "direction": "out"}], "does not run here"),
        ([OUT], "one queueTrigger, not 0"),
        ([TRIGGER, {"name": "out", "type": "queueTrigger"}], "one queueTrigger, not 2"),
    ],
)
def test_directions_and_types_that_do_not_run_are_refused(
    bindings: list[dict[str, str]], text: str
) -> None:
    names = {b["name"] for b in bindings} - {"$return"}

    assert text in refusal(annotated(**dict.fromkeys(names, ...)), *bindings)


@pytest.mark.parametrize(
    ("kind", "converter"),
    [
        (..., QUEUE),
        (func.Out[str], GENERIC),
        (func.Out[bytes], GENERIC),
        (func.Out[func.QueueMessage], QUEUE),
        (func.Out[typing.List[str]], QUEUE),
        (func.Out[Sequence[str]], QUEUE),
        (func.Out[Iterable[str]], QUEUE),
        (func.Out[typing.List[Union[str, func.QueueMessage]]], QUEUE),
        (func.Out[list[object]], QUEUE),
        (func.Out[list[bytes]], QUEUE),
        (func.Out[dict[str, str]], QUEUE),
        (func.Out[list[str]], QUEUE),
        (func.Out[typing.List[func.QueueMessage]], QUEUE),
    ],
)
def test_outputs_may_be_annotated_like_this(kind: Any, converter: str) -> None:
    assert check(annotated(msg=str, out=kind), TRIGGER, OUT).outs == {"out": converter}


@pytest.mark.parametrize(
    "kind",
    [
        func.Out[Bare],
        func.Out[BareList],
        func.Out[int],
        func.Out[Any],
        func.Out[Optional[str]],
        func.Out[tuple[str, ...]],
        func.Out[bytearray],
        func.Out[list[int]],
        func.Out[list[Bare]],
        func.Out[list[Any]],
    ],
)
def test_other_output_types_are_refused(kind: Any) -> None:
    assert '"queue", does not match' in refusal(annotated(msg=str, out=kind), TRIGGER, OUT)


@pytest.mark.parametrize("kind", [str, int, Optional[func.Out[str]]])
def test_an_output_that_is_not_annotated_out_is_refused(kind: Any) -> None:
    assert 'direction "out"' in refusal(annotated(msg=str, out=kind), TRIGGER, OUT)


def test_a_bare_out_is_refused() -> None:
    assert "exactly one type" in refusal(annotated(msg=str, out=func.Out), TRIGGER, OUT)


@pytest.mark.parametrize("kind", [..., str, bytes, func.QueueMessage])
def test_a_return_annotation_may_be_a_message_text_or_bytes(kind: Any) -> None:
    assert check(annotated(msg=str, returns=kind), TRIGGER, RETURN).returns


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (None, '"None" does not match'),
        (int, '"int" does not match'),
        (dict, '"dict" does not match'),
        (list[str], "is not a type"),
        (Optional[str], "is not a type"),
        (func.Out[str], "not func.Out"),
    ],
)
def test_other_return_annotations_are_refused(kind: Any, text: str) -> None:
    assert text in refusal(annotated(msg=str, returns=kind), TRIGGER, RETURN)


def test_a_return_annotation_without_a_return_binding_is_not_looked_at() -> None:
    assert not check(annotated(msg=str, returns=int), TRIGGER).returns


@pytest.mark.parametrize("kind", [func.Out[Bare], func.Out[list[Bare]], func.Out[Any]])
def test_exact_outputs_may_be_of_any_type(kind: Any) -> None:
    function = annotated(msg=str, out=kind, returns=dict)

    assert check(function, TRIGGER, OUT, RETURN, mode="exact").outs == {"out": QUEUE}


def test_an_unknown_name_in_an_annotation_is_its_own_error() -> None:
    with pytest.raises(NameError):
        check(annotated(msg="Nowhere"), TRIGGER)

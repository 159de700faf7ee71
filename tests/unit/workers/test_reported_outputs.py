"""What users ran into with what a run gives: whole runs, from the function to what is written."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

import azure.functions as func
import pytest

from qtrigger.workers.python.calls import Call
from qtrigger.workers.python.context import Context, Scope
from qtrigger.workers.python.failures import Describer
from qtrigger.workers.python.message import Message
from qtrigger.workers.python.signature import plan
from qtrigger.workers.python.wishes import Wishes

TRIGGER = {"name": "msg", "type": "queueTrigger", "direction": "in"}
OUT = {"name": "out", "type": "queue", "direction": "out"}
RETURN = {"name": "$return", "type": "queue", "direction": "out"}
SCOPE = Scope("f", "run", "message")
WHEN = 1_796_119_200_000_000
MESSAGE = Message("message", b"x", 1, WHEN, WHEN, WHEN, "receipt")


@dataclasses.dataclass
class Order:
    number: int


@dataclasses.dataclass
class Ended:
    """The end of a run, the bodies of each output, and the kinds of surprise that were told."""

    end: dict[str, Any]
    written: dict[str, list[bytes]]
    told: list[str]


def run(function: Callable[..., Any], *bindings: dict[str, str], mode: str = "azure") -> Ended:
    made = plan(
        name="f", function=function, directory="/f", bindings=[TRIGGER, *bindings], mode=mode
    )
    context = Context(
        scope=SCOPE,
        function_directory="/f",
        max_dequeue_count=5,
        thread_local_storage=threading.local(),
    )
    told: list[str] = []
    describer = Describer("/")
    wishes = Wishes(describer)
    call = Call(made, MESSAGE, context, describer, lambda kind, _text: told.append(kind), wishes)
    end, blobs = call.plain()
    left = iter(blobs)
    written = {o["binding"]: [next(left) for _ in o["items"]] for o in end.get("outputs", ())}
    return Ended(end, written, told)


def returning(value: Any, mode: str) -> Ended:
    def main(msg: str):  # type: ignore[no-untyped-def]
        return value() if callable(value) else value

    return run(main, RETURN, mode=mode)


@pytest.mark.parametrize(
    ("text", "split"),
    [("[1,2,3]", [b"1", b"2", b"3"]), ('["a"]', [b"a"]), ("[]", [])],
)
def test_text_like_an_array_is_split_with_a_warning_as_on_azure_and_kept_in_exact(
    text: str, split: list[bytes]
) -> None:
    def sets(msg: str, out: func.Out[str]) -> None:
        out.set(text)

    for azure in (returning(text, "azure"), run(sets, OUT)):
        assert [body for bodies in azure.written.values() for body in bodies] == split
        assert azure.told == ["array-split"]
    for exact in (returning(text, "exact"), run(sets, OUT, mode="exact")):
        assert list(exact.written.values()) == [[text.encode()]]
        assert exact.told == []


def generate() -> Iterator[str]:
    yield "a"
    yield "b"


@pytest.mark.parametrize("mode", ["azure", "exact"])
@pytest.mark.parametrize("value", [("a", "b"), ["a", "b"], generate])
def test_a_tuple_a_list_and_a_generator_are_one_message_an_item_in_order(
    value: Any, mode: str
) -> None:
    assert returning(value, mode).written == {"$return": [b"a", b"b"]}


def test_a_list_of_dataclasses_is_one_json_message_each() -> None:
    assert returning([Order(1), Order(2)], "exact").written == {
        "$return": [b'{"number":1}', b'{"number":2}']
    }
    assert (
        "item 0 of the return value is of type Order"
        in returning([Order(1)], "azure").end["message"]
    )


@pytest.mark.parametrize(
    ("value", "mode", "index"),
    [
        (["a", ["b"]], "exact", 1),
        (["a", b"b", object()], "exact", 2),
        (["a", b"b"], "azure", 1),
        ([["a"]], "azure", 0),
    ],
)
def test_an_item_that_cannot_be_written_is_named_with_its_index_and_nothing_is_written(
    value: Any, mode: str, index: int
) -> None:
    def main(msg: str, out: func.Out[str]):  # type: ignore[no-untyped-def]
        out.set("fine")
        return value

    ended = run(main, OUT, RETURN, mode=mode)

    assert ended.end["end"] == "failed"
    assert f"item {index} of the return value" in ended.end["message"]
    assert ended.written == {}


@pytest.mark.parametrize("mode", ["azure", "exact"])
def test_the_last_of_two_values_set_is_written(mode: str) -> None:
    def main(msg: str, out: func.Out[str]) -> None:
        out.set("first")
        out.set("last")

    assert run(main, OUT, mode=mode).written == {"out": [b"last"]}


@pytest.mark.parametrize("mode", ["azure", "exact"])
@pytest.mark.parametrize(("value", "bodies"), [(None, None), ("", [b""]), (b"", [b""]), ([], None)])
def test_none_and_no_items_write_nothing_and_an_empty_text_an_empty_message(
    value: Any, bodies: list[bytes] | None, mode: str
) -> None:
    ended = returning(value, mode)

    assert ended.end["end"] == "ok"
    assert ended.written.get("$return") == bodies


@pytest.mark.parametrize("value", [0, False])
@pytest.mark.parametrize("mode", ["azure", "exact"])
def test_numbers_and_truths_are_refused_and_never_become_null(value: Any, mode: str) -> None:
    ended = returning(value, mode)

    assert ended.end["end"] == "failed"
    assert f"the return value is of type {type(value).__name__}" in ended.end["message"]


@pytest.mark.parametrize("mode", ["azure", "exact"])
def test_a_function_that_raises_writes_nothing_that_it_had_set(mode: str) -> None:
    def main(msg: str, out: func.Out[str]) -> None:
        out.set("x")
        raise ValueError("no")

    ended = run(main, OUT, mode=mode)

    assert (ended.end["end"], ended.end["type"], ended.written) == ("failed", "ValueError", {})

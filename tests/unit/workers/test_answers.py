"""The requests that a worker process is sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qtrigger.invocation import ErrorDetail, Invocation, Outcome, Retrial, TriggerMessage
from qtrigger.trace_context import TraceContext
from qtrigger.workers import answers

BEGIN = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
BEGIN_US = 1_767_323_045_678_901
DAY_US = 86_400_000_000
AWKWARD = 'quote " backslash \\ line\n nul \0 é 漢 \N{PILE OF POO} half \ud83d </>'


class Followed:
    """A trace with a place that needs escaping."""

    context = TraceContext(parent="00-a-b-01", state='k="v"')

    def ended(self, outcome: Outcome, disposition: str, retries: int = 0) -> None:
        pass

    def close(self) -> None:
        pass


def message(text: str, body: bytes) -> TriggerMessage:
    return TriggerMessage(
        id=text,
        body=body,
        dequeue_count=2,
        inserted=BEGIN,
        expires=BEGIN + timedelta(days=7),
        next_visible=BEGIN + timedelta(days=1),
        pop_receipt=text,
    )


def asked(*invocations: Invocation) -> list[dict[str, Any]]:
    requests = [answers.invoke_request(number, each)[0] for number, each in enumerate(invocations)]
    header = json.loads(answers.invoke_header(requests))
    assert header["t"] == "invoke"
    return list(header["runs"])


@pytest.mark.parametrize("text", ["id", "", AWKWARD])
def test_a_request_is_json_whatever_its_texts_hold(text: str) -> None:
    invocation = Invocation(
        id=text, function=text, messages=(message(text, b"\xff"),), max_dequeue_count=5
    )

    assert asked(invocation) == [
        {
            "id": 0,
            "function": text,
            "invocation": text,
            "max": 5,
            "retry": None,
            "messages": [
                [text, 2, BEGIN_US, BEGIN_US + 7 * DAY_US, BEGIN_US + DAY_US, text, 1],
            ],
        }
    ]
    assert answers.invoke_request(0, invocation)[1] == b"\xff"


def test_requests_of_one_frame_stand_in_their_order_with_all_their_messages() -> None:
    one = Invocation(
        id="1", function="f", messages=(message("a", b"aa"), message("b", b"")), max_dequeue_count=5
    )
    other = Invocation(id="2", function="f", messages=(message("c", b"ccc"),), max_dequeue_count=5)

    first, second = asked(one, other)

    assert [(each[0], each[-1]) for each in first["messages"]] == [("a", 2), ("b", 0)]
    assert [(each[0], each[-1]) for each in second["messages"]] == [("c", 3)]
    assert answers.invoke_request(0, one)[1] == b"aa"


def test_a_request_has_where_it_stands_among_retries_and_in_a_trace() -> None:
    error = ErrorDetail(type="ValueError", message=AWKWARD, traceback="…", place="f.py:1")
    invocation = Invocation(
        id="1",
        function="f",
        messages=(message("a", b""),),
        max_dequeue_count=5,
        retry=Retrial(count=0, most=-1, error=error),
        trace=Followed(),
    )

    (request,) = asked(invocation)

    assert request["retry"] == {
        "count": 0,
        "max": -1,
        "error": {
            "type": "ValueError",
            "message": AWKWARD,
            "traceback": "…",
            "place": "f.py:1",
        },
    }
    assert request["trace"] == ["00-a-b-01", 'k="v"']

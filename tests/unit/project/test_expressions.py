"""Binding expressions take the message's data first, and say what is on offer when they fail."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from qtrigger.project import expressions
from qtrigger.project.expressions import ExpressionError

GUID = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
NOW = datetime(2026, 3, 4, 15, 6, 7, 891000, tzinfo=UTC)
DATA: dict[str, Any] = {
    "QueueTrigger": "body",
    "DequeueCount": 3,
    "InsertionTime": NOW,
    "OrderId": "A7",
    "customer": {"Id": "c9", "address": {"zip": "80331"}},
}


def resolve(template: str, data: dict[str, Any] | None = None) -> str:
    return expressions.resolve(
        template,
        DATA if data is None else data,
        now=NOW,
        new_guid=lambda: GUID,
        function_name="Resize",
    )


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("out-{OrderId}-x", "out-A7-x"),
        ("{orderid}{ORDERID}", "A7A7"),
        ("{queueTrigger}", "body"),
        ("{DequeueCount}", "3"),
        ("{customer.id}", "c9"),
        ("{Customer.Address.ZIP}", "80331"),
        ("{{literal}}", "{literal}"),
        ("{{{OrderId}}}", "{A7}"),
        ("{rand-guid}", str(GUID)),
        ("{rand-guid:D}", str(GUID)),
        ("{Rand-Guid:N}", GUID.hex),
        ("{rand-guid:b}", f"{{{GUID}}}"),
        ("{rand-guid:P}", f"({GUID})"),
        ("{sys.randGuid:N}", GUID.hex),
        ("{DateTime}", "2026-03-04T15-06-07Z"),
        ("{datetime:yyyyMMdd}", "20260304"),
        ("{datetime:HH:mm}", "15:06"),
        ("{sys.utcNow:yyyy}", "2026"),
        ("{sys.methodName}", "Resize"),
        ("{InsertionTime:yyMMdd}", "260304"),
    ],
)
def test_an_expression_has_the_value_of_the_message_or_is_built_in(
    template: str, text: str
) -> None:
    assert resolve(template) == text


def test_the_messages_own_names_come_before_the_built_in_ones() -> None:
    assert resolve("{datetime}", {"DateTime": "mine"}) == "mine"
    with pytest.raises(ExpressionError, match="methodName"):
        resolve("{sys.methodName}", {"sys": {"other": "x"}})


def test_a_missing_name_is_told_with_what_is_on_offer() -> None:
    with pytest.raises(ExpressionError, match=r"^\{order\.id\} has no value.*OrderId, customer"):
        resolve("{order.id}")


def test_a_missing_part_is_told() -> None:
    with pytest.raises(ExpressionError, match=r'\{customer\.name\}.*no "name" in it'):
        resolve("{customer.name}")
    with pytest.raises(ExpressionError, match='no "x" in it'):
        resolve("{OrderId.x}")


def test_an_object_is_no_text() -> None:
    with pytest.raises(ExpressionError, match="object or array"):
        resolve("{customer}")


@pytest.mark.parametrize(
    "template",
    ["{", "}", "a{b", "a}b", "{}", "{ }", "{a b}", "{1a}", "{a-b}", "{a{b}}", "{rand-guid:Z}"],
)
def test_a_malformed_template_is_found_without_a_message(template: str) -> None:
    with pytest.raises(ExpressionError):
        expressions.parse(template)


def test_an_unknown_date_format_names_the_expression() -> None:
    with pytest.raises(ExpressionError, match=r'\{datetime:q\}: "q" is no date format'):
        resolve("{datetime:q}")


def test_a_queues_name_is_lowered_and_checked() -> None:
    def name(template: str, data: dict[str, Any]) -> str:
        return expressions.queue_name(
            template, data, now=NOW, new_guid=lambda: GUID, function_name="f"
        )

    assert name("Out-{OrderId}", DATA) == "out-a7"
    with pytest.raises(ExpressionError, match=r'"out-\{OrderId\}".*"out-A B".*a blank'):
        name("out-{OrderId}", {"OrderId": "A B"})

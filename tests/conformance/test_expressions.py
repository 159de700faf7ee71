"""Binding expressions in an output's queue name, and retry policies."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from qtrigger.invocation import TriggerMessage
from qtrigger.project import expressions
from qtrigger.project.binding_data import binding_data
from tests.conformance.said import told
from tests.unit.project.folder import ProjectFolder, errors

NOW = datetime(2026, 12, 1, 13, 4, 5, tzinfo=UTC)
GUID = uuid.UUID("0f0e0d0c-0b0a-4908-8706-050403020100")
BODY = '{"OrderId": 7, "Customer": {"Id": "A5"}, "Paid": true, "None": null}'


def resolved(template: str, body: str = BODY) -> str:
    message = TriggerMessage(
        id="m1",
        body=body.encode(),
        dequeue_count=1,
        inserted=NOW,
        expires=NOW,
        next_visible=NOW,
        pop_receipt="r1",
    )
    data: Mapping[str, Any] = binding_data(message)
    return expressions.queue_name(
        template, data, now=NOW, new_guid=lambda: GUID, function_name="resize"
    )


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("out-{DequeueCount}", "out-1"),
        ("out-{OrderId}", "out-7"),
        ("out-{orderid}", "out-7"),
        ("out-{Customer.Id}", "out-a5"),
        ("out-{customer.id}", "out-a5"),
        ("out-{Paid}", "out-true"),
        ("out-{rand-guid}", f"out-{GUID}"),
        ("out-{rand-guid:N}", f"out-{GUID.hex}"),
        ("out-{DateTime:yyyyMMdd}", "out-20261201"),
        ("out-{sys.methodName}", "out-resize"),
        ("out-{sys.randGuid}", f"out-{GUID}"),
    ],
)
def test_an_expression_is_resolved_and_the_name_lowered(template: str, name: str) -> None:
    assert resolved(template) == name


def test_the_whole_body_is_an_expression_too() -> None:
    assert resolved("{queueTrigger}", "orders") == "orders"


@pytest.mark.parametrize(
    ("template", "body"),
    [
        ("out-{Missing}", BODY),
        ("out-{Customer.Missing}", BODY),
        ("out-{None}", BODY),
        ("out-{OrderId}", "not json"),
        ("out-{OrderId}", "{}"),
    ],
)
def test_what_the_message_does_not_have_is_named_with_the_expression(
    template: str, body: str
) -> None:
    name = re.sub(r".*\{(.*)\}", r"\1", template)

    with pytest.raises(expressions.ExpressionError, match=re.escape(name)):
        resolved(template, body)


def test_a_name_that_comes_out_wrong_is_refused_with_the_rule() -> None:
    with pytest.raises(expressions.ExpressionError, match="blank"):
        resolved("out-{OrderId}", '{"OrderId": "A B"}')


# --- retry ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy",
    [
        {"strategy": "fixedDelay", "maxRetryCount": 2, "delayInterval": "00:00:05"},
        {
            "strategy": "exponentialBackoff",
            "maxRetryCount": -1,
            "minimumInterval": "00:00:01",
            "maximumInterval": "00:01:00",
        },
    ],
)
def test_a_policy_with_all_that_its_strategy_needs_is_taken_with_the_product(
    folder: ProjectFolder, policy: dict[str, Any]
) -> None:
    folder.function(retry=policy)

    found = folder.one().retry

    assert found is not None
    assert found.max_retries == policy["maxRetryCount"]
    tries = {2: "15 tries", -1: "no end"}[found.max_retries]
    assert told(folder.load(), "multiplies with maxDequeueCount", tries)


@pytest.mark.parametrize("missing", ["maxRetryCount", "delayInterval"])
def test_a_fixed_delay_needs_its_count_and_interval(folder: ProjectFolder, missing: str) -> None:
    policy = {"strategy": "fixedDelay", "maxRetryCount": 2, "delayInterval": "00:00:05"}
    folder.function(retry={key: value for key, value in policy.items() if key != missing})

    assert told(folder.load(), "error", f"retry.{missing} is missing")


@pytest.mark.parametrize("missing", ["maxRetryCount", "minimumInterval", "maximumInterval"])
def test_an_exponential_backoff_needs_its_count_and_both_intervals(
    folder: ProjectFolder, missing: str
) -> None:
    policy = {
        "strategy": "exponentialBackoff",
        "maxRetryCount": 2,
        "minimumInterval": "00:00:05",
        "maximumInterval": "00:00:50",
    }
    folder.function(retry={key: value for key, value in policy.items() if key != missing})

    assert told(folder.load(), "error", f"retry.{missing} is missing")


def test_another_strategy_is_an_error(folder: ProjectFolder) -> None:
    folder.function(retry={"strategy": "linear", "maxRetryCount": 1})

    assert errors(folder.load(), "resize")

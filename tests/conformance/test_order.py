"""orderBy: messages with the same value run one at a time, in the order in which they came."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from qtrigger.events import Finding, InvocationFinished, MessagePoisoned
from qtrigger.invocation import ErrorDetail, Failed, Interrupted, Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import RetryPolicy
from qtrigger.project.options import OwnOptions
from tests.unit.harness import PLAIN, Bench

RUN_S = 10.0


def order(customer: Any, number: int) -> str:
    return json.dumps({"number": number, "customer": {"id": customer}})


class Ordered:
    """A function whose runs take ten seconds, and what ran when."""

    def __init__(self, place: str = "$.customer.id", **options: Any) -> None:
        self.spans: list[tuple[str, int, float, float]] = []
        self.fails: set[int] = set()
        own = options.pop("own", OwnOptions(order_by=place))
        self.bench = Bench(self._run, own=own, **options)
        self.clock = self.bench.clock

    @property
    def hidden(self) -> int:
        return self.bench.service.counts("orders").invisible

    def numbers(self, customer: str) -> list[int]:
        """The numbers of a customer's runs in the order in which they began."""
        return [number for name, number, _, _ in self.spans if name == customer]

    def most_at_once(self, customer: str) -> int:
        spans = [(began, ended) for name, _, began, ended in self.spans if name == customer]
        return max(sum(began <= at < ended for began, ended in spans) for at, _ in spans)

    async def _run(self, message: TriggerMessage) -> Outcome:
        began = self.clock.monotonic()
        await self.clock.sleep(RUN_S)
        try:
            body = json.loads(message.body)
            name, number = str(body["customer"]["id"]), body["number"]
        except (ValueError, LookupError, TypeError):
            name, number = "", 0
        self.spans.append((name, number, began, self.clock.monotonic()))
        if number in self.fails:
            return Failed(error=ErrorDetail(type="ValueError", message="no"))
        return Succeeded()


async def test_the_same_value_runs_one_at_a_time_in_order_and_others_beside_it() -> None:
    ordered = Ordered()
    await ordered.bench.start(*(order(each, n) for n in range(4) for each in ("anna", "bert")))

    await ordered.clock.advance(4 * RUN_S + 1.0)

    assert ordered.numbers("anna") == ordered.numbers("bert") == [0, 1, 2, 3]
    assert (ordered.most_at_once("anna"), ordered.most_at_once("bert")) == (1, 1)
    assert ordered.bench.most_at_once == 2
    assert ordered.bench.left() == []
    await ordered.bench.stop()


async def test_what_waits_is_in_hand_with_its_lease_renewed() -> None:
    ordered = Ordered(lease_s=6.0)
    await ordered.bench.start(*(order("anna", n) for n in range(5)))

    await ordered.clock.advance(4 * RUN_S + 1.0)

    assert ordered.hidden == 1
    await ordered.clock.advance(RUN_S)
    assert ordered.numbers("anna") == [0, 1, 2, 3, 4]
    assert all(each.messages[0].dequeue_count == 1 for each in ordered.bench.invocations)
    await ordered.bench.stop()


async def test_a_stop_hands_back_what_waits_at_once_and_loses_no_try() -> None:
    ordered = Ordered()
    await ordered.bench.start(*(order("anna", n) for n in range(5)))
    await ordered.clock.advance(1.0)
    assert ordered.hidden == 5

    ordered.bench.listener.stop_polling()
    await ordered.clock.advance(0.0)

    assert ordered.hidden == 1
    await ordered.bench.stop()
    assert ordered.numbers("anna") == [0]
    outcomes = [each.outcome for each in ordered.bench.probe.of(InvocationFinished)]
    assert outcomes == [Interrupted()] * 4 + [Succeeded()]
    assert len(ordered.bench.left()) == 4


async def test_a_failed_message_comes_after_its_successors() -> None:
    ordered = Ordered()
    ordered.fails = {0}
    await ordered.bench.start(*(order("anna", n) for n in range(3)))
    await ordered.clock.advance(RUN_S * 3 + 1.0)
    ordered.fails = set()
    await ordered.clock.advance(RUN_S * 3)

    assert ordered.numbers("anna") == [0, 1, 2, 0]
    await ordered.bench.stop()


async def test_the_retries_of_a_policy_keep_the_turn() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=1, minimum_s=1.0, maximum_s=1.0)
    ordered = Ordered(retry=policy)
    ordered.fails = {0}
    await ordered.bench.start(*(order("anna", n) for n in range(2)))

    await ordered.clock.advance(RUN_S * 3 + 1.5)

    assert ordered.numbers("anna")[:3] == [0, 0, 1]
    await ordered.bench.stop()


async def test_a_message_that_goes_to_poison_lets_the_next_one_go() -> None:
    ordered = Ordered(options=replace(PLAIN, max_dequeue_count=1))
    ordered.fails = {0}
    await ordered.bench.start(order("anna", 0), order("anna", 1))

    await ordered.clock.advance(RUN_S * 2 + 1.0)

    assert len(ordered.bench.probe.of(MessagePoisoned)) == 1
    assert ordered.numbers("anna") == [0, 1]
    await ordered.bench.stop()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("no JSON at all", "is no JSON"),
        ("[1]", "has no value at $.customer.id"),
        ('{"customer": {"id": null}}', "has no value at $.customer.id"),
        ('{"customer": "anna"}', "has no value at $.customer.id"),
        ("[" * 60_000, "is no JSON"),
    ],
)
async def test_a_body_without_the_value_runs_without_order_and_one_warning(
    body: str, why: str
) -> None:
    ordered = Ordered()
    await ordered.bench.start(*[body] * 4)

    await ordered.clock.advance(RUN_S + 1.0)

    assert ordered.bench.most_at_once == 4
    (told,) = ordered.bench.probe.of(Finding)
    assert (told.severity, told.function) == ("warning", "charge")
    assert why in told.message
    await ordered.bench.stop()


@pytest.mark.parametrize(
    ("place", "bodies", "at_once"),
    [
        ("$.ids[1]", ['{"ids": [1, 2]}', '{"ids": [3, 2]}'], 1),
        ("$.ids[0]", ['{"ids": [1, 2]}', '{"ids": [3, 2]}'], 2),
        ("$.id", ['{"id": 1}', '{"id": "1"}'], 2),
        ("$.id", ['{"id": {"a": 1, "b": 2}}', '{"id": {"b": 2, "a": 1}}'], 1),
        ("$.id", ['{"id": false}', '{"id": 0}'], 2),
        ("$[0].a-b", ['[{"a-b": 1}]', '[{"a-b": 1}]'], 1),
    ],
)
async def test_a_value_is_the_same_where_json_says_so(
    place: str, bodies: list[str], at_once: int
) -> None:
    ordered = Ordered(place)
    await ordered.bench.start(*bodies)

    await ordered.clock.advance(RUN_S * 2 + 1.0)

    assert ordered.bench.most_at_once == at_once
    assert ordered.bench.left() == []
    await ordered.bench.stop()


async def test_a_message_that_is_lost_while_it_waits_is_not_run() -> None:
    ordered = Ordered(lease_s=6.0)
    await ordered.bench.start(*(order("anna", n) for n in range(2)))
    await ordered.clock.advance(1.0)
    waiting = ordered.bench.service.peek_all("orders")[1]
    await ordered.bench.queue.delete(waiting.id, waiting.pop_receipt)

    await ordered.clock.advance(RUN_S * 3)

    assert ordered.numbers("anna") == [0]
    await ordered.bench.stop()


async def test_a_rate_keeps_the_order_and_its_limit() -> None:
    ordered = Ordered(own=OwnOptions(order_by="$.customer.id", max_per_minute=4))
    await ordered.bench.start(*(order("anna", n) for n in range(10)))

    await ordered.clock.advance(200.0)

    assert ordered.numbers("anna") == list(range(10))
    begins = [began for _, _, began, _ in ordered.spans]
    assert max(sum(at <= each < at + 60.0 for each in begins) for at in begins) == 4
    await ordered.bench.stop()

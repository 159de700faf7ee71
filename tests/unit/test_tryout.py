"""A function is run by hand: on a message that is made up, without a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest
from azure.functions.queue import QueueMessage

from qtrigger.assembly import function_spec, output_writer
from qtrigger.dispositions import Abandon, Ack, Poison, Release, Retry
from qtrigger.invocation import Failed, Postponed, Rejected, Succeeded, TimedOut
from qtrigger.project.model import FunctionDefinition, HostConfig, Project, RetryPolicy
from qtrigger.project.options import OwnOptions
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.clock import ManualClock
from qtrigger.tryout import (
    FunctionNotRun,
    MetadataError,
    NoSuchFunction,
    TriedOut,
    find_function,
    message_of,
    try_out,
)
from qtrigger.wakeups import Wakeups
from qtrigger.workers.inline import InlineWorker
from tests.unit.harness import definition, output

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
TRIGGER = {"name": "msg", "type": "queueTrigger", "direction": "in"}
RETURN = {"name": "$return", "type": "queue", "direction": "out"}


class Bench:
    """One function and an account in memory."""

    def __init__(self, main: Callable[..., Any], **changes: Any) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.main = main
        given = definition("charge", "orders", outputs=(output("$return", "receipts"),))
        self.function = replace(given, **{"bindings": (TRIGGER, RETURN), **changes})

    async def run(
        self,
        body: bytes = b"",
        metadata: Mapping[str, str] = {},
        *,
        write: bool = False,
        timeout_s: float | None = None,
    ) -> TriedOut:
        worker = InlineWorker({"charge": self.main}, clock=self.clock)
        assert (await worker.start([function_spec(self.function)])).failures == {}
        writer = output_writer(
            self.function,
            services=QueueServices(lambda _account: self.service),
            clock=self.clock,
            wakeups=Wakeups(),
        )
        trying = try_out(
            self.function,
            message_of(body, metadata, now=NOW, lease_s=600.0),
            worker=worker,
            outputs=writer,
            timeout_s=timeout_s,
            write=write,
        )
        return await self.clock.run(trying)


def planned(tried: TriedOut) -> list[tuple[str, str, bytes]]:
    return [(each.binding, each.queue.name, each.item.body) for each in tried.planned]


def properties(msg: QueueMessage) -> str:
    return f"{msg.get_body()!r} {msg.dequeue_count} {msg.insertion_time} {msg.pop_receipt}"


def text(msg: str) -> str:
    return f"{msg!r}"


def raw(msg: bytes) -> bytes:
    return msg


def from_context(msg: func.QueueMessage, context: func.Context) -> str:
    assert msg.id == "m1"
    return f"{context.function_name} {msg.time_next_visible} {msg.expiration_time}"


@pytest.mark.parametrize(
    ("main", "seen"),
    [
        (properties, b"b'x' 3 2026-12-01 10:00:00+00:00 invoked-by-hand"),
        (text, b"'x'"),
        (raw, b"x"),
        (from_context, b"charge 2026-12-01 10:10:00+00:00 2026-12-08 10:00:00+00:00"),
    ],
)
async def test_a_function_runs_whatever_it_takes_of_a_message(  # dnworker#3011, host#2955
    main: Callable[..., Any], seen: bytes
) -> None:
    tried = await Bench(main).run(b"x", {"dequeueCount": "3", "id": "m1"})

    assert planned(tried) == [("$return", "receipts", seen)]
    assert (type(tried.outcome), tried.disposition) == (Succeeded, Ack())


def test_what_is_not_given_of_a_message_has_the_stated_defaults() -> None:
    first, second = (message_of(b"x", {}, now=NOW, lease_s=600.0) for _ in range(2))

    assert first.id != second.id
    assert replace(first, id="") == replace(second, id="")
    assert (first.body, first.dequeue_count, first.pop_receipt) == (b"x", 1, "invoked-by-hand")
    assert (first.inserted, first.expires) == (NOW, NOW + timedelta(days=7))
    assert first.next_visible == NOW + timedelta(minutes=10)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("insertionTime", "inserted"),
        ("INSERTION_TIME", "inserted"),
        ("expirationTime", "expires"),
        ("time_next_visible", "next_visible"),
        ("NextVisibleTime", "next_visible"),
    ],
)
@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00", "2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00"]
)
def test_times_are_read_under_azures_names_and_pythons(name: str, field: str, text: str) -> None:
    message = message_of(b"", {name: text}, now=NOW, lease_s=600.0)

    assert getattr(message, field) == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert getattr(message, field).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"dequeueCont": "1"}, "Did you mean dequeueCount?"),
        ({"colour": "red"}, "It has id, dequeueCount"),
        ({"dequeueCount": "0"}, "dequeueCount is '0'"),
        ({"dequeueCount": "many"}, "a whole number from 1 up"),
        ({"insertionTime": "yesterday"}, "'yesterday' is no time"),
    ],
)
def test_what_no_message_has_is_refused_with_what_it_has(
    metadata: Mapping[str, str], said: str
) -> None:
    with pytest.raises(MetadataError) as refused:
        message_of(b"", metadata, now=NOW, lease_s=600.0)

    assert said in str(refused.value)


async def test_outputs_are_written_only_when_asked_for() -> None:
    bench = Bench(text)

    without = await bench.run(b"x")
    assert (bench.service.names(), without.written) == ([], False)
    written = await bench.run(b"x", write=True)

    assert [each.text for each in bench.service.peek_all("receipts")] == ["'x'"]
    assert written.written is True
    assert planned(without) == planned(written)


async def test_an_output_queues_name_is_that_which_the_message_makes_it() -> None:
    outputs = (output("$return", "to-{customer}"),)

    tried = await Bench(text, outputs=outputs).run(b'{"customer": "ann"}')

    assert [queue for _, queue, _ in planned(tried)] == ["to-ann"]


async def test_an_output_that_a_host_could_not_write_fails_the_run() -> None:
    outputs = (output("$return", "to-{customer}"),)

    tried = await Bench(text, outputs=outputs).run(b"{}")

    assert isinstance(tried.outcome, Failed)
    assert "{customer}" in tried.outcome.error.message
    assert (planned(tried), tried.disposition) == ([], Retry(after_s=0.0))


class Later(Exception):
    __qtrigger__ = "later"
    delay = 30.0


class Reject(Exception):
    __qtrigger__ = "reject"
    reason = "no such customer"


@pytest.mark.parametrize(
    ("raised", "outcome", "disposition"),
    [
        (Later, Postponed(delay_s=30.0), Release(after_s=30.0)),
        (Reject, Rejected(reason="no such customer"), Poison(reason="rejected")),
    ],
)
async def test_what_a_function_asks_for_is_told(
    raised: type[Exception], outcome: Postponed | Rejected, disposition: Release | Poison
) -> None:
    def main(msg: str) -> str:
        raise raised

    tried = await Bench(main).run()

    assert (tried.outcome, tried.disposition) == (outcome, disposition)


def broken(msg: str) -> str:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("count", "disposition"), [("1", Retry(after_s=0.0)), ("5", Poison(reason="tries"))]
)
async def test_a_failure_says_what_would_become_of_the_message(
    count: str, disposition: Retry | Poison
) -> None:
    tried = await Bench(broken).run(b"x", {"dequeueCount": count})

    assert isinstance(tried.outcome, Failed)
    assert "in broken" in tried.outcome.error.traceback
    assert tried.disposition == disposition


@pytest.mark.parametrize(("count", "after_s"), [("1", 30.0), ("2", 300.0), ("4", 300.0)])
async def test_a_failure_says_the_wait_that_would_apply(count: str, after_s: float) -> None:
    bench = Bench(broken, own=OwnOptions(retry_delays_s=(30.0, 300.0), retry_jitter=0.5))

    tried = await bench.run(b"x", {"dequeueCount": count})

    assert tried.disposition == Retry(after_s=after_s)


async def test_a_failure_on_others_poison_queue_would_be_left_there() -> None:
    bench = Bench(broken, own=OwnOptions(poison_queue=None))

    tried = await bench.run(b"x", {"dequeueCount": "5"})

    assert tried.disposition == Abandon()


async def test_the_function_timeout_applies() -> None:
    async def slow(msg: str) -> str:
        await asyncio.Event().wait()
        return ""

    tried = await Bench(slow).run(b"x", timeout_s=2.0)

    assert tried.outcome == TimedOut(after_s=2.0)


async def test_a_retry_policy_is_shown_to_the_function_and_not_carried_out() -> None:
    runs: list[tuple[int, int]] = []

    def main(msg: str, context: func.Context) -> str:
        retry: Any = context.retry_context
        runs.append((retry.retry_count, retry.max_retry_count))
        raise ValueError("no")

    policy = RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=0.0, maximum_s=0.0)
    await Bench(main, retry=policy).run(b"x")

    assert runs == [(0, 2)]


def project(*functions: FunctionDefinition, **changes: Any) -> Project:
    given = Project(
        root=Path("/nowhere"),
        environment="Development",
        host=HostConfig(),
        settings={},
        functions=functions,
        failed=(),
        problems=(),
    )
    return replace(given, **changes)


def test_a_function_is_found_whatever_the_case_of_its_name() -> None:
    charge = definition("charge", "orders")

    assert find_function(project(charge), "CHARGE") is charge


def test_an_unknown_function_is_refused_with_the_nearest_or_with_all() -> None:
    known = project(definition("charge", "orders"), definition("refund", "returns"))

    for name, said in (("chrage", "Did you mean charge?"), ("x", "There are: charge, refund.")):
        with pytest.raises(NoSuchFunction) as refused:
            find_function(known, name)
        assert said in str(refused.value)
    with pytest.raises(NoSuchFunction, match="It has none"):
        find_function(project(), "charge")


def test_what_is_not_run_here_is_refused_with_the_reason() -> None:
    off = replace(definition("charge", "orders"), disabled="setting X (environment)")
    given = project(off, failed=("broken",), not_run={"hello": "httpTrigger"})

    for name, said in (
        ("charge", "charge is disabled: setting X"),
        ("hello", "its trigger is of type httpTrigger"),
        ("broken", "the project has errors"),
    ):
        with pytest.raises(FunctionNotRun) as refused:
            find_function(given, name)
        assert said in str(refused.value)


def test_a_blocked_project_is_said_to_have_errors_and_not_to_lack_the_function() -> None:
    with pytest.raises(FunctionNotRun, match="the project has errors"):
        find_function(project(blocked=True), "charge")

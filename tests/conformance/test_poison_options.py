"""poisonQueueName and poisonTimeToLive: where messages go whose tries are used up, and how long."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from qtrigger.cli.connect import look_at, problems
from qtrigger.events import InvocationFinished, MessagePoisoned, QueueStateChanged
from qtrigger.project.model import QueueOptions
from qtrigger.project.options import OwnOptions
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.telemetry.lines import line_of
from qtrigger.testing.clock import ManualClock
from tests.conformance.said import said, told
from tests.unit.harness import PLAIN, Bench, fail
from tests.unit.project.folder import CONNECTION, TRIGGER, ProjectFolder

ONCE = replace(PLAIN, max_dequeue_count=1)


def trigger(queue: str) -> dict[str, Any]:
    return {**TRIGGER, "queueName": queue}


def poison_queues(folder: ProjectFolder) -> dict[str, str | None]:
    project = folder.load()
    assert [line for line in said(project) if "error" in line] == []
    return {each.name: each.poison_queue for each in project.functions}


async def test_a_message_goes_to_the_queue_that_is_named_which_is_made_when_it_is_needed() -> None:
    bench = Bench(fail, options=ONCE, own=OwnOptions(poison_queue="failed"))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert (bench.left(), bench.left("failed"), bench.left("orders-poison")) == ([], ["a"], [])
    (event,) = bench.probe.of(MessagePoisoned)
    assert "moved to failed (tries)" in line_of(event).text
    await bench.stop()


async def test_two_functions_share_a_poison_queue() -> None:
    own = OwnOptions(poison_queue="failed")
    one = Bench(fail, options=ONCE, own=own)
    two = Bench(fail, options=ONCE, own=own, queue="refunds", beside=one)
    await one.start("a")
    await two.start("b")

    await one.clock.advance(1.0)

    assert sorted(one.left("failed")) == ["a", "b"]
    await one.stop()
    await two.stop()


@pytest.mark.parametrize(
    ("own", "lives"),
    [
        (OwnOptions(), None),
        (OwnOptions(poison_ttl_s=3600.0), timedelta(hours=1)),
        (OwnOptions(poison_queue="failed", poison_ttl_s=60.0), timedelta(minutes=1)),
    ],
    ids=["for ever", "an hour", "a minute in a named one"],
)
async def test_a_copy_lives_for_ever_unless_its_time_is_given(
    own: OwnOptions, lives: timedelta | None
) -> None:
    bench = Bench(fail, options=ONCE, own=own)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (copy,) = bench.service.peek_all(own.poison_queue or "orders-poison")
    if lives is None:
        assert copy.expires.year == 9999
    else:
        assert copy.expires - copy.inserted == lives
    await bench.stop()


async def test_an_undecodable_text_goes_to_the_named_queue_too() -> None:
    bench = Bench(options=QueueOptions(), own=OwnOptions(poison_queue="failed"))
    await bench.start("no base64!")

    await bench.clock.advance(1.0)

    assert bench.left("failed") == ["no base64!"]
    await bench.stop()


async def test_a_queue_named_poison_has_a_poison_queue_once_one_is_named() -> None:
    bench = Bench(fail, queue="orders-poison", options=ONCE, own=OwnOptions(poison_queue="dead"))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert (bench.left(), bench.left("dead")) == ([], ["a"])
    await bench.stop()


async def test_a_function_on_a_poison_queue_of_others_leaves_what_it_fails_on() -> None:
    bench = Bench(fail, queue="failed", options=ONCE, own=OwnOptions(poison_queue=None))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert (bench.left(), bench.service.names()) == (["a"], ["failed"])
    (finished,) = bench.probe.of(InvocationFinished)
    assert finished.disposition == "abandoned"
    await bench.stop()


async def test_a_sas_that_cannot_make_the_named_queue_is_told_at_the_first_failed_try() -> None:
    bench = Bench(fail, own=OwnOptions(poison_queue="failed"))
    account = Account(name="m", endpoint="http://m", credential=Sas(token="ss=q&srt=sco&sp=rpau"))
    function = replace(bench.function, trigger=replace(bench.function.trigger, account=account))
    bench.listener = bench.assembly.listener(function)
    await bench.start("a")

    await bench.clock.advance(1.0)

    told_of = [each for each in bench.probe.of(QueueStateChanged) if each.state == "degraded"]
    assert "failed does not exist" in told_of[0].message
    await bench.stop()


def test_the_name_of_a_poison_queue_follows_what_is_said_of_it(folder: ProjectFolder) -> None:
    folder.function("default", trigger("orders"))
    folder.function("named", trigger("refunds"))
    folder.function("reader", trigger("failed"))
    folder.function("poison", trigger("others-poison"))
    folder.host(qtrigger={"functions": {"named": {"poisonQueueName": "failed"}}})

    assert poison_queues(folder) == {
        "default": "orders-poison",
        "named": "failed",
        "reader": None,  # it looks after the queue of another's
        "poison": None,
    }


def test_one_name_for_all_is_for_all_but_the_function_on_that_queue(folder: ProjectFolder) -> None:
    folder.function("one", trigger("orders"))
    folder.function("two", trigger("refunds-poison"))
    folder.function("reader", trigger("failed"))
    folder.host(qtrigger={"poisonQueueName": "failed"})

    assert poison_queues(folder) == {"one": "failed", "two": "failed", "reader": None}


def test_a_function_on_a_poison_queue_may_name_another(folder: ProjectFolder) -> None:
    folder.function("one", trigger("orders"))
    folder.function("reader", trigger("failed"))
    named = {"reader": {"poisonQueueName": "lost"}}
    folder.host(qtrigger={"poisonQueueName": "failed", "functions": named})

    assert poison_queues(folder) == {"one": "failed", "reader": "lost"}


def test_a_functions_own_queue_as_its_poison_queue_is_an_error_with_its_place(
    folder: ProjectFolder,
) -> None:
    folder.function("resize", trigger("orders"))
    folder.host(qtrigger={"functions": {"resize": {"poisonQueueName": "Orders"}}})

    project = folder.load()

    assert project.failed == ("resize",)
    assert told(project, "host.json:1:", "error: ", '"orders" is the function\'s own queue')


def test_messages_that_would_go_in_circles_are_an_error_with_its_place(
    folder: ProjectFolder,
) -> None:
    folder.function("one", trigger("orders"))
    folder.function("reader", trigger("failed"))
    folder.function("third", trigger("lost"))
    names = {"reader": {"poisonQueueName": "lost"}, "third": {"poisonQueueName": "orders"}}
    folder.host(qtrigger={"poisonQueueName": "failed", "functions": names})

    project = folder.load()

    assert set(project.failed) == {"reader", "third"}
    assert told(project, "host.json:1:", "error: ", 'from "lost" a message', "without end")
    assert told(project, "host.json:1:", "error: ", 'from "orders" a message', "without end")


def test_a_poison_queue_of_the_usual_name_may_not_lead_back(folder: ProjectFolder) -> None:
    folder.function("one", trigger("orders"))
    folder.function("reader", trigger("orders-poison"))
    folder.host(qtrigger={"functions": {"reader": {"poisonQueueName": "orders"}}})

    project = folder.load()

    assert project.failed == ("reader",)
    assert told(project, "host.json:1:", 'from "orders" a message that fails would come back')


def test_the_same_name_in_two_accounts_is_two_queues(folder: ProjectFolder) -> None:
    elsewhere = CONNECTION.replace("AccountName=acme", "AccountName=other")
    folder.function("one", trigger("orders"))
    folder.function("reader", {**trigger("failed"), "connection": "Other"})
    names = {"one": {"poisonQueueName": "failed"}, "reader": {"poisonQueueName": "orders"}}
    folder.host(qtrigger={"functions": names})

    project = folder.load({"AzureWebJobsStorage": CONNECTION, "Other": elsewhere})

    assert {each.name: each.poison_queue for each in project.functions} == {
        "one": "failed",
        "reader": "orders",
    }


def test_a_chain_that_leads_into_a_circle_of_others_is_not_the_chains_fault(
    folder: ProjectFolder,
) -> None:
    folder.function("first", trigger("start"))
    folder.function("ping", trigger("aaa"))
    folder.function("pong", trigger("bbb"))
    names = {"first": "aaa", "ping": "bbb", "pong": "aaa"}
    folder.host(
        qtrigger={"functions": {name: {"poisonQueueName": to} for name, to in names.items()}}
    )

    assert set(folder.load().failed) == {"ping", "pong"}


async def test_check_looks_at_the_named_queue_and_at_no_other(folder: ProjectFolder) -> None:
    clock = ManualClock()
    folder.function("resize", trigger("orders"))
    folder.host(qtrigger={"poisonQueueName": "failed"})
    service = MemoryQueueService(clock, account="acme")
    service.make("orders")

    queues = await look_at(folder.load(), lambda _account: service, clock)

    assert {each.name: [use.role for use in each.uses] for each in queues} == {
        "orders": ["trigger"],
        "failed": ["poison queue"],
    }
    assert problems(queues) == []

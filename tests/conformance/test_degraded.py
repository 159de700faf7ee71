"""A listener that may take messages but not do all with them: it goes on, and says so once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, LeaseLostError, QueueUnavailable
from qtrigger.events import Event, InvocationFinished, QueueStateChanged, StillRunning
from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.telemetry.lines import line_of
from tests.unit.harness import PLAIN, Bench, Body, fail, succeed

DENIED = AccessDenied("refused", status=403, code="AuthorizationPermissionMismatch")
OFTEN = replace(PLAIN, max_polling_interval_s=2.0)
ONCE = replace(OFTEN, max_dequeue_count=1)


def states(bench: Bench) -> list[str]:
    return [event.state for event in bench.probe.of(QueueStateChanged)]


def loud(bench: Bench) -> list[Event]:
    """What is told at the level of warnings and above, the runs apart."""
    return [
        event
        for event in bench.probe.events
        if line_of(event).level >= 30 and not isinstance(event, InvocationFinished | StillRunning)
    ]


CASES = [
    ("update", "orders", fail, OFTEN, ["u (update)", "Storage Queue Data Contributor"]),
    ("delete", "orders", succeed, OFTEN, ["p (process)", "Storage Queue Data Message Processor"]),
    ("send", "orders-poison", fail, ONCE, ["a (add)", "Storage Queue Data Message Sender"]),
    ("create", "orders-poison", fail, ONCE, ["c (create) of an account SAS", "Contributor"]),
]


@pytest.mark.parametrize(("verb", "queue", "body", "options", "words"), CASES)
async def test_a_refused_operation_is_told_once_with_the_least_right_and_the_polls_go_on(
    verb: str, queue: str, body: Body, options: object, words: list[str]
) -> None:
    bench = Bench(body, options=options)  # type: ignore[arg-type]  # of a table
    bench.service.fail(verb, DENIED, queue=queue, times=None)
    await bench.start("a")
    await bench.clock.advance(1.0)
    await bench.queue.send("b")

    await bench.clock.advance(590.0)

    assert (bench.bodies, bench.listener.state) == ([b"a", b"b"], "degraded")
    (told,) = loud(bench)
    assert isinstance(told, QueueStateChanged)
    assert (told.state, told.message) == ("degraded", "refused")
    assert all(word in told.hint for word in words), told.hint
    assert sorted(bench.left()) == ["a", "b"]
    bench.listener.stop_polling()


@pytest.mark.parametrize(("verb", "queue", "body", "options", "words"), CASES)
async def test_what_is_refused_waits_for_its_lease_and_does_not_spin(
    verb: str, queue: str, body: Body, options: object, words: list[str]
) -> None:
    del words
    bench = Bench(body, options=options)  # type: ignore[arg-type]  # of a table
    bench.service.fail(verb, DENIED, queue=queue, times=None)
    await bench.start("a")

    await bench.clock.advance(3600.0)

    assert 1 <= len(bench.bodies) <= 7
    assert sum(times for name, times in bench.service.requests.items() if name == verb) <= 14
    assert {*bench.left(), *bench.left("orders-poison")} == {"a"}
    assert states(bench) == ["degraded"]
    bench.listener.stop_polling()


@pytest.mark.parametrize(("verb", "queue", "body", "options", "words"), CASES)
async def test_it_recovers_when_the_operation_succeeds_again(
    verb: str, queue: str, body: Body, options: object, words: list[str]
) -> None:
    del words
    bench = Bench(body, options=options)  # type: ignore[arg-type]  # of a table
    bench.service.fail(verb, DENIED, queue=queue, times=1)
    await bench.start("a")

    await bench.clock.advance(1300.0)

    assert (states(bench), bench.listener.state) == (["degraded", "ok"], "ok")
    assert bench.left() == []
    await bench.stop()


async def test_a_poison_queue_that_somebody_else_makes_ends_it_too() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.fail("create", DENIED, queue="orders-poison", times=None)
    await bench.start("a")
    await bench.clock.advance(1.0)
    assert bench.listener.state == "degraded"

    bench.service.make("orders-poison")
    await bench.clock.advance(700.0)

    assert (states(bench), bench.listener.state) == (["degraded", "ok"], "ok")
    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    await bench.stop()


async def test_a_run_whose_release_is_refused_says_that_it_comes_back_with_its_lease() -> None:
    bench = Bench(fail)
    bench.service.fail("update", DENIED, times=None)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (run,) = bench.probe.of(InvocationFinished)
    assert "again when its lease ends" in line_of(run).text
    bench.listener.stop_polling()


async def test_a_renewal_that_is_refused_degrades_while_the_function_still_runs() -> None:
    async def lasts(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(900.0)
        return Succeeded()

    bench = Bench(lasts)
    bench.service.fail("update", DENIED, times=2)
    await bench.start("a")

    await bench.clock.advance(301.0)
    assert (bench.listener.state, len(loud(bench))) == ("degraded", 1)
    await bench.clock.advance(600.0)

    assert (states(bench), bench.bodies) == (["degraded", "ok"], [b"a"])
    await bench.stop()


async def test_each_refused_operation_is_told_and_only_the_last_granted_one_ends_it() -> None:
    async def body(message: TriggerMessage) -> Outcome:
        return Succeeded() if message.body == b"good" else await fail(message)

    bench = Bench(body, options=ONCE)
    bench.service.fail("delete", DENIED, times=1)
    bench.service.fail("send", DENIED, queue="orders-poison", times=3)
    await bench.start("good", "bad")
    await bench.clock.advance(1.0)
    told = [event.hint for event in bench.probe.of(QueueStateChanged)]
    assert (len(told), "add" in told[0] + told[1], "process" in told[0] + told[1]) == (
        2,
        True,
        True,
    )

    await bench.clock.advance(700.0)
    assert (states(bench), bench.listener.state) == (["degraded"] * 2, "degraded")
    await bench.clock.advance(1400.0)

    assert (states(bench), bench.listener.state) == (["degraded", "degraded", "ok"], "ok")
    assert (bench.left(), bench.left("orders-poison")) == ([], ["good", "bad"])
    await bench.stop()


async def test_a_refusal_is_remembered_through_an_outage() -> None:
    bench = Bench(fail, options=OFTEN)
    bench.service.fail("update", DENIED, times=None)
    await bench.start("a")
    await bench.clock.advance(1.0)
    broken = QueueUnavailable("broken", status=500, code="InternalError")
    bench.service.fail("receive", broken, times=3)

    await bench.clock.advance(20.0)

    assert states(bench) == ["degraded", "unavailable", "degraded"]
    bench.listener.stop_polling()


async def test_a_refusal_during_an_outage_is_told_after_it() -> None:
    async def lasts(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(5.0)
        return await fail(_message)

    bench = Bench(lasts, options=OFTEN)
    bench.service.fail("update", DENIED, times=None)
    await bench.start("a")
    await bench.clock.advance(1.0)
    broken = QueueUnavailable("broken", status=500, code="InternalError")
    bench.service.fail("receive", broken, times=4)

    await bench.clock.advance(20.0)

    assert states(bench) == ["unavailable", "degraded"]
    bench.listener.stop_polling()


async def test_a_credential_refused_as_a_whole_is_one_change_and_leaves_no_degraded_behind() -> (
    None
):
    bench = Bench(fail, options=OFTEN)
    bench.service.fail("update", DENIED, times=1)
    await bench.start("a")
    await bench.clock.advance(1.0)
    bench.service.fail("receive", DENIED, times=3)

    await bench.clock.advance(20.0)

    assert states(bench) == ["degraded", "failing", "ok"]
    bench.listener.stop_polling()


async def test_a_release_that_comes_too_late_was_allowed() -> None:
    bench = Bench(fail, options=OFTEN)
    bench.service.fail("update", DENIED, times=1)
    bench.service.fail("update", LeaseLostError("gone", status=404, code="MessageNotFound"))
    await bench.start("a")

    await bench.clock.advance(700.0)

    assert states(bench) == ["degraded", "ok"]
    await bench.stop()

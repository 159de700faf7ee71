"""What users ran into with messages that end in a poison queue: nothing vanishes without a word."""

from __future__ import annotations

import base64
import logging
from dataclasses import replace

import pytest

from qtrigger.errors import QueueUnavailable
from qtrigger.events import InvocationFinished, MessagePoisoned
from qtrigger.invocation import Failed, Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from qtrigger.telemetry.lines import line_of
from qtrigger.telemetry.sinks import Tally
from tests.unit.harness import PLAIN, Bench, fail

ONCE = replace(PLAIN, max_dequeue_count=1)


def warnings(bench: Bench) -> list[str]:
    """The lines at warning level or above, as people read them."""
    lines = [line_of(event) for event in bench.probe.events]
    return [f"{line.tag} {line.text}" for line in lines if line.level >= logging.WARNING]


async def received(bench: Bench, times: int) -> None:
    """Let hosts before this one take the message that often, and die each time."""
    await bench.queue.create()
    await bench.queue.send("a")
    for _ in range(times):
        await bench.queue.receive(1, 1.0)
        await bench.clock.advance(1.0)


@pytest.mark.parametrize(
    ("text", "looks", "cured"),
    [
        ('{"card":1}', "plain JSON", True),
        ("<card>1</card>", "XML", True),
        ("card, plain", "plain text", True),
        ("b'eyJjYXJkIjoxfQ=='", "printed Python bytes literal", False),
        ("eyJjYXJkIjoxfQ", "padding cut off", False),
        ("eyJjYXJkIjox!SwiZG9nIjoyfQ==", "damaged", False),
    ],
)
async def test_an_undecodable_text_is_one_warning_that_says_all_but_the_text(
    text: str, looks: str, *, cured: bool
) -> None:
    """Said are the message's id, what was expected, what came, and the setting that takes it."""
    bench = Bench(options=QueueOptions())
    await bench.start(text)
    message_id = bench.service.peek_all("orders")[0].id

    await bench.clock.advance(1.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.function, told.message_id, told.reason) == ("charge", message_id, "undecodable")
    (line,) = warnings(bench)
    assert "messageEncoding is base64, but the text is not valid base64" in line
    assert looks in line
    assert ("messageEncoding none would take" in line) is cured
    assert ("qtrigger.functions.charge.messageEncoding auto" in line) is cured
    assert text not in line
    assert "eyJj" not in line
    assert (bench.bodies, bench.left("orders-poison")) == ([], [text])
    await bench.stop()


async def test_the_undecodable_have_a_counter_of_their_own() -> None:
    bench = Bench(fail, options=QueueOptions(max_dequeue_count=1))
    await bench.start("no base64!", base64.b64encode(b"a").decode())

    await bench.clock.advance(1.0)

    tally = Tally()
    for event in bench.probe.events:
        tally.emit(event)
    assert (tally.undecodable, tally.poisoned, tally.failed_tries) == (1, 2, 1)
    await bench.stop()


async def test_auto_takes_plain_texts_beside_encoded_ones() -> None:
    bench = Bench(options=QueueOptions(message_encoding="auto"))
    await bench.start('{"a":1}', base64.b64encode(b"b").decode())

    await bench.clock.advance(1.0)

    assert (bench.bodies, warnings(bench)) == ([b'{"a":1}', b"b"], [])
    await bench.stop()


async def test_a_delete_that_never_works_makes_no_second_copy_and_tells_of_one() -> None:
    """The original comes back with each lease, and is neither run nor copied again."""
    bench = Bench(fail, options=ONCE, lease_s=5.0)
    bench.service.fail("delete", QueueUnavailable("x", status=500), times=None)
    await bench.start("a")
    await bench.clock.advance(60.0)
    assert bench.left("orders-poison") == ["a"]
    bench.service.mend()

    await bench.clock.advance(90.0)

    assert (bench.left(), bench.left("orders-poison"), len(bench.bodies)) == ([], ["a"], 1)
    assert len(bench.probe.of(MessagePoisoned)) == 1
    await bench.stop()


async def test_a_delete_whose_answer_is_lost_leaves_one_copy_and_no_original() -> None:
    bench = Bench(fail, options=ONCE, lease_s=5.0)
    lost = QueueUnavailable("no answer", code="BrokenOff")
    bench.service.fail("delete", lost, carried_out=True)
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    assert "twice" not in bench.probe.of(MessagePoisoned)[0].detail
    await bench.stop()


@pytest.mark.parametrize(
    ("error", "carried_out"),
    [
        (QueueUnavailable("no answer", code="BrokenOff"), True),
        (QueueUnavailable("late", code="TimedOut"), True),
        (QueueUnavailable("late", status=500, code="OperationTimedOut"), False),
    ],
    ids=lambda each: getattr(each, "code", ""),
)
async def test_a_copy_that_may_stand_there_twice_is_said_so(
    error: QueueUnavailable, *, carried_out: bool
) -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.make("orders-poison")
    bench.service.fail("send", error, queue="orders-poison", carried_out=carried_out)
    await bench.start("a")

    await bench.clock.advance(3000.0)

    assert len(bench.left("orders-poison")) == 1 + carried_out
    (told,) = bench.probe.of(MessagePoisoned)
    assert "it may stand there twice" in told.detail
    await bench.stop()


async def test_a_copy_that_was_only_delayed_is_not_said_to_be_doubled() -> None:
    bench = Bench(fail, options=ONCE)
    bench.service.make("orders-poison")
    busy = QueueUnavailable("busy", status=503, code="ServerBusy")
    bench.service.fail("send", busy, queue="orders-poison", times=3)
    await bench.start("a")

    await bench.clock.advance(60.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert told.detail == ""
    await bench.stop()


async def test_tries_that_died_with_their_hosts_are_counted_with_the_time_of_arrival() -> None:
    bench = Bench()
    await received(bench, 5)
    await bench.start()

    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left("orders-poison")) == ([], ["a"])
    (line,) = warnings(bench)
    assert "5 of its 5 tries before this one left no result here" in line
    assert "another consumer ended under them" in line
    assert "in the queue since 2026-01-01 00:00:00 UTC" in line
    await bench.stop()


async def test_tries_that_ended_here_are_told_from_those_that_died() -> None:
    """The try at the limit succeeds and cannot be deleted, after four that failed here or there."""
    outcomes: list[Outcome] = []

    async def body(message: TriggerMessage) -> Outcome:
        outcome = Succeeded() if message.dequeue_count == 5 else await fail(message)
        outcomes.append(outcome)
        return outcome

    bench = Bench(body, lease_s=10.0)
    bench.service.fail("delete", QueueUnavailable("no answer"), times=None)
    await received(bench, 3)
    await bench.start()

    await bench.clock.advance(12.0)
    bench.service.mend()
    await bench.clock.advance(70.0)

    (told,) = bench.probe.of(MessagePoisoned)
    assert told.dequeue_count == 6
    assert told.detail.startswith("3 of its 5 tries before this one left no result here")
    last = bench.probe.of(InvocationFinished)[-1]
    assert (len(outcomes), told.invocation_id) == (2, last.invocation_id)
    await bench.stop()


async def test_the_move_carries_the_last_runs_id_and_that_run_says_that_it_was_the_last_try() -> (
    None
):
    bench = Bench(fail, options=replace(PLAIN, max_dequeue_count=3))
    await bench.start("a")

    await bench.clock.advance(60.0)

    runs = bench.probe.of(InvocationFinished)
    (told,) = bench.probe.of(MessagePoisoned)
    assert (told.function, told.message_id) == ("charge", runs[0].message_id)
    assert told.invocation_id == runs[-1].invocation_id
    assert ["last try" in line_of(run).text for run in runs] == [False, False, True]
    await bench.stop()


async def test_a_limit_of_one_try_is_one_run() -> None:
    bench = Bench(fail, options=ONCE)
    await bench.start("a")

    await bench.clock.advance(3000.0)

    assert (len(bench.bodies), bench.left(), bench.left("orders-poison")) == (1, [], ["a"])
    (run,) = bench.probe.of(InvocationFinished)
    assert isinstance(run.outcome, Failed)
    assert "try 1/1, last try" in line_of(run).text
    await bench.stop()


async def test_a_run_that_succeeded_and_could_not_be_deleted_has_left_its_result() -> None:
    bench = Bench(options=ONCE)
    bench.service.fail("delete", QueueUnavailable("no"), times=None, queue="orders")
    await bench.start("a")
    await bench.clock.advance(600.0)
    bench.service.mend()

    await bench.clock.advance(120.0)

    assert bench.bodies == [b"a"]
    (told,) = bench.probe.of(MessagePoisoned)
    assert told.detail.startswith("its 1 tries are used up")
    await bench.stop()

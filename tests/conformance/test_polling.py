"""When a listener asks for messages, and what it does with each kind of answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.events import QueueStateChanged
from tests.conformance.answers import BUSY, LASTING, PASSING, name_of
from tests.unit.harness import PLAIN, Bench

EVERY_TWO_S = replace(PLAIN, max_polling_interval_s=2.0)


async def test_a_missing_queue_is_never_created_by_its_trigger() -> None:
    bench = Bench(options=EVERY_TWO_S)
    await bench.start()
    bench.service.remove("orders")

    await bench.clock.advance(600.0)

    assert bench.service.names() == []
    assert bench.service.times("create") == [0.0]
    await bench.stop()


async def test_existence_is_asked_before_each_poll_until_the_queue_is_there() -> None:
    bench = Bench()
    await bench.start()
    bench.service.remove("orders")
    await bench.clock.advance(0.15)
    bench.service.make("orders")

    await bench.clock.advance(1.0)

    assert bench.service.times("exists") == [0.0, 0.1, 0.3]
    assert bench.service.times("receive") == [0.3, 0.6, 1.1]
    await bench.stop()


async def test_while_every_poll_fails_existence_is_asked_before_each() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(0.05)
    bench.service.requests.clear()
    bench.service.fail("receive", BUSY, times=None)

    while bench.service.requests["receive"] < 5:
        await bench.clock.advance(0.1)

    # The first of the five knew of the queue by the poll before.
    assert (bench.service.requests["exists"], bench.service.requests["receive"]) == (4, 5)
    await bench.stop()


@pytest.mark.parametrize("error", PASSING + LASTING, ids=name_of)
async def test_any_error_of_a_poll_forgets_that_the_queue_is_there(error: QueueError) -> None:
    bench = Bench(options=EVERY_TWO_S)
    await bench.start()
    await bench.clock.advance(0.05)
    bench.service.fail("receive", error, times=3)

    await bench.clock.advance(20.0)

    assert bench.service.requests["exists"] == 4
    assert bench.listener.state == "ok"
    await bench.stop()


async def test_a_queue_deleted_and_made_again_between_two_polls_is_served() -> None:
    bench = Bench(options=EVERY_TWO_S)
    await bench.start("a")
    await bench.clock.advance(30.0)

    bench.service.remove("orders")
    bench.service.make("orders")
    await bench.queue.send("b")
    await bench.clock.advance(2.0)

    assert bench.bodies == [b"a", b"b"]
    assert bench.probe.of(QueueStateChanged) == []
    await bench.stop()


@pytest.mark.parametrize("error", PASSING, ids=name_of)
async def test_a_passing_fault_of_a_poll_waits_as_an_empty_queue_does(error: QueueError) -> None:
    bench = Bench(options=EVERY_TWO_S)
    bench.service.fail("receive", error, times=None)
    await bench.start()

    await bench.clock.advance(7.0)

    assert bench.service.times("receive") == pytest.approx([0, 0.1, 0.3, 0.6, 1.1, 2.0, 3.7, 5.7])
    await bench.stop()


@pytest.mark.parametrize("error", LASTING, ids=name_of)
async def test_a_fault_that_a_person_must_mend_waits_the_longest_time_at_once(
    error: QueueError,
) -> None:
    bench = Bench()
    bench.service.fail("receive", error, times=None)
    await bench.start("a")

    await bench.clock.advance(130.0)

    assert bench.service.times("receive") == [0.0, 60.0, 120.0]
    assert [event.state for event in bench.probe.of(QueueStateChanged)] == ["failing"]
    bench.service.mend()
    await bench.clock.advance(60.0)
    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_each_change_of_cause_is_told_once_and_so_is_the_recovery() -> None:
    bench = Bench(options=EVERY_TWO_S)
    denied = AccessDenied("no", status=403, code="AuthorizationFailure")
    broken = QueueUnavailable("broken", status=500, code="InternalError")
    for error in (denied, broken, denied):
        bench.service.fail("receive", error, times=5)
    await bench.start("a")

    await bench.clock.advance(200.0)

    assert [event.state for event in bench.probe.of(QueueStateChanged)] == [
        "failing",
        "unavailable",
        "failing",
        "ok",
    ]
    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_a_missing_right_is_told_with_what_to_do() -> None:
    bench = Bench()
    bench.service.fail("receive", AccessDenied("the role X is missing", status=403), times=None)
    await bench.start()
    await bench.clock.advance(1.0)

    (told,) = bench.probe.of(QueueStateChanged)

    assert "the role X is missing" in told.message
    assert (told.hint, told.next_try_s) == ("Grant the right; polling goes on.", 60.0)
    await bench.stop()

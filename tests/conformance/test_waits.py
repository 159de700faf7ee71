"""How long a listener waits between polls, and what ends a wait."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.invocation import Outcome, Output, OutputItem, Succeeded, TriggerMessage
from tests.conformance.answers import name_of
from tests.unit.harness import PLAIN, Bench, Body, definition, fail, output

EVERY_TWO_S = replace(PLAIN, max_polling_interval_s=2.0)


def gaps(times: list[float]) -> list[float]:
    return [round(later - earlier, 3) for earlier, later in pairwise(times)]


def growth(seed: int, count: int, maximum_s: float) -> list[float]:
    """The waits of an empty queue, worked out by hand from the seed."""
    random = Random(seed)
    waits, exponent = [0.1], 1
    while len(waits) < count:
        candidate = 0.1 + 0.1 * 2 ** (exponent - 1) * random.uniform(0.8, 1.2)
        if candidate >= maximum_s:
            waits += [maximum_s] * (count - len(waits))
        else:
            waits.append(candidate)
            exponent += 1
    return waits


@pytest.mark.parametrize("seed", range(20))
async def test_the_waits_of_an_empty_queue_are_exact_to_the_millisecond(seed: int) -> None:
    bench = Bench(random=Random(seed))
    await bench.start()

    await bench.clock.advance(400.0)

    found = gaps(bench.service.times("receive"))[:14]
    assert found == pytest.approx(growth(seed, 14, 60.0), abs=0.0011)
    await bench.stop()


async def test_the_first_wait_after_a_find_is_the_minimum_and_the_next_one_grows() -> None:
    bench = Bench(options=EVERY_TWO_S)
    await bench.start()
    await bench.clock.advance(30.0)
    await bench.queue.send("a")
    await bench.clock.advance(10.0)

    times = bench.service.times("receive")
    found_at = next(index for index, gap in enumerate(gaps(times)) if gap == 0.0)

    assert gaps(times)[found_at : found_at + 5] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.5])
    await bench.stop()


async def test_only_one_request_for_messages_is_under_way_whatever_wakes_the_listener() -> None:
    bench = Bench()
    bench.service.slow("receive", 10.0, times=None)
    await bench.start()

    for _ in range(50):
        bench.listener.wake()
        await bench.clock.advance(0.1)

    assert bench.service.times("receive") == [0.0]
    await bench.stop()


async def test_a_wake_up_during_a_poll_gives_one_poll_more_at_once() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(100.0)
    bench.service.slow("receive", 1.0)
    before = len(bench.service.times("receive"))
    bench.listener.wake()
    await bench.clock.advance(0.5)
    bench.listener.wake()
    bench.listener.wake()

    await bench.clock.advance(0.6)

    assert bench.service.times("receive")[before:] == [100.0, 101.0]
    await bench.stop()


async def test_a_wake_up_does_not_begin_the_back_off_anew() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(2.05)

    bench.listener.wake()
    await bench.clock.advance(10.0)

    assert bench.service.times("receive") == pytest.approx(
        [0, 0.1, 0.3, 0.6, 1.1, 2.0, 2.05, 5.35, 11.85]
    )
    await bench.stop()


async def test_a_wake_up_does_not_make_room() -> None:
    bench = Bench(options=replace(PLAIN, batch_size=1, new_batch_threshold=0))
    bench.body = takes(bench, 30.0)
    await bench.start("a", "b")
    await bench.clock.advance(1.0)

    bench.listener.wake()
    await bench.clock.advance(28.0)
    assert bench.bodies == [b"a"]

    await bench.clock.advance(62.0)
    assert bench.bodies == [b"a", b"b"]
    await bench.stop()


async def test_what_an_output_writes_is_taken_at_once_by_its_listener_here() -> None:
    async def writes(_message: TriggerMessage) -> Outcome:
        item = OutputItem(body=b"next")
        return Succeeded(outputs=(Output(binding="out", items=(item,)),))

    bench = Bench(writes, outputs=(output("out", "receipts"),))
    other = bench.assembly.listener(definition("file", "receipts"))
    await bench.service.queue("receipts").create()
    await bench.start()
    polling = bench.clock.run(other.run())
    await bench.clock.advance(300.0)
    await bench.queue.send("a")
    bench.listener.wake()
    bench.clock.call_later(0.5, other.stop_polling)

    await polling

    assert bench.clock.monotonic() <= 300.5
    assert b"next" in bench.bodies
    await bench.stop()


async def test_a_poison_copy_is_taken_at_once_by_its_listener_here() -> None:
    async def end(message: TriggerMessage) -> Outcome:
        return await fail(message) if len(bench.bodies) == 1 else Succeeded()

    bench = Bench(end, options=replace(PLAIN, max_dequeue_count=1))
    other = bench.assembly.listener(definition("look", "orders-poison"))
    await bench.service.queue("orders-poison").create()
    await bench.start()
    polling = bench.clock.run(other.run())
    await bench.clock.advance(300.0)
    await bench.queue.send("a")
    bench.listener.wake()
    bench.clock.call_later(0.5, other.stop_polling)

    await polling

    assert bench.bodies == [b"a", b"a"]
    assert bench.left("orders-poison") == []
    await bench.stop()


async def test_a_pause_that_the_service_asks_for_is_kept_whoever_wakes_the_listener() -> None:
    bench = Bench()
    busy = QueueUnavailable("busy", status=503, code="ServerBusy", retry_after_s=30.0)
    bench.service.fail("receive", busy)
    await bench.start("a")

    for _ in range(25):
        await bench.clock.advance(1.0)
        bench.listener.wake()
    assert bench.service.times("receive") == [0.0]

    await bench.clock.advance(6.0)
    assert bench.bodies == [b"a"]
    await bench.stop()


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (QueueUnavailable("busy", status=503, code="ServerBusy"), 36),
        (AccessDenied("no", status=403, code="AuthorizationFailure"), 1),
    ],
    ids=name_of,
)
async def test_wake_ups_of_a_listener_whose_polls_fail_make_no_storm(
    error: QueueError, most: int
) -> None:
    bench = Bench()
    bench.service.fail("receive", error, times=None)
    await bench.start()

    for _ in range(3000):
        bench.listener.wake()
        await bench.clock.advance(0.01)

    assert len(bench.service.times("receive")) <= most
    await bench.stop()


async def test_a_wake_up_during_a_failing_poll_is_not_forgotten() -> None:
    bench = Bench()
    await bench.start()
    await bench.clock.advance(300.0)
    bench.service.fail("receive", QueueUnavailable("busy", status=503), times=1)
    await bench.queue.send("a")
    bench.listener.wake()
    await bench.clock.advance(0.5)

    bench.listener.wake()
    await bench.clock.advance(0.6)

    assert bench.bodies == [b"a"]
    await bench.stop()


async def test_a_stop_ends_a_pause_that_the_service_asked_for() -> None:
    bench = Bench()
    bench.service.fail("receive", QueueUnavailable("busy", status=503, retry_after_s=30.0))
    await bench.start("a")
    await bench.clock.advance(1.0)

    await bench.stop()

    assert bench.clock.monotonic() == 1.0


async def test_a_wish_shorter_than_the_back_off_does_not_hasten_it() -> None:
    bench = Bench()
    busy = QueueUnavailable("busy", status=503, code="ServerBusy", retry_after_s=1.0)
    bench.service.fail("receive", busy, times=None)
    await bench.start()

    await bench.clock.advance(60.0)

    assert len(bench.service.times("receive")) <= 11
    await bench.stop()


def takes(bench: Bench, seconds: float) -> Body:
    async def body(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(seconds)
        return Succeeded()

    return body

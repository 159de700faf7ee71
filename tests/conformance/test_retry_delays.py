"""retryDelays: how long a message waits after each failed try, as the service has it.

The wait is read at the service, from the time at which it shows the message again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from qtrigger.dispositions import Retry, TriesPolicy, varied
from qtrigger.events import Finding, InvocationFinished, MessagePoisoned
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Outcome,
    Postponed,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.project.options import OwnOptions
from qtrigger.telemetry.lines import line_of
from qtrigger.tries import TriesOfAll
from tests.unit.harness import PLAIN, Bench, fail

GROWING = OwnOptions(retry_delays_s=(30.0, 300.0, 3600.0))
PATIENT = replace(PLAIN, max_dequeue_count=6, max_polling_interval_s=60.0)
POLLED = replace(PATIENT, max_polling_interval_s=2.0)
FAILED = Failed(error=ErrorDetail(type="ValueError", message="no"))
DAY_S = 86_400.0


class Waits:
    """A function with these ends, one after another; the last one repeats.

    `at` holds the service's own time of each receipt, to the second.
    """

    def __init__(self, *outcomes: Outcome) -> None:
        self._left = list(outcomes)
        self.at: list[float] = []
        self.bench: Bench | None = None

    async def __call__(self, _message: TriggerMessage) -> Outcome:
        assert self.bench is not None
        self.at.append(self.bench.clock.monotonic())
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


async def hidden_after_each_try(bench: Bench, tries: int) -> list[float]:
    """For how long the service hides the message once a try has ended, try by try."""
    waits: list[float] = []
    for _ in range(tries):
        await bench.clock.advance(0.5)
        (message,) = bench.service.peek_all(bench.name)
        left = (message.next_visible - bench.clock.utcnow()).total_seconds()
        waits.append(max(float(round(left)), 0.0))
        await bench.clock.advance(max(left, 0.0))
        bench.listener.wake()
    return waits


async def test_each_failed_try_waits_for_its_own_delay_and_the_last_one_repeats() -> None:
    bench = Bench(fail, options=PATIENT, own=GROWING)
    await bench.start("a")

    waits = await hidden_after_each_try(bench, 5)

    assert waits == [30.0, 300.0, 3600.0, 3600.0, 3600.0]
    await bench.clock.advance(1.0)
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


async def test_the_delays_go_before_visibility_timeout_and_the_line_says_the_one_that_applies() -> (
    None
):
    bench = Bench(fail, options=replace(PATIENT, visibility_timeout_s=7.0), own=GROWING)
    await bench.start("a")

    assert await hidden_after_each_try(bench, 1) == [30.0]

    (finished, *_) = bench.probe.of(InvocationFinished)
    assert "try 1/6, again in 30 s" in line_of(finished).text
    await bench.stop()


@pytest.mark.parametrize(
    "lost",
    [Interrupted(), WorkerLost(how="signal 9", alone=False)],
    ids=["interrupted", "lost with others"],
)
async def test_a_try_that_is_not_the_functions_fault_neither_waits_nor_moves_to_a_later_delay(
    lost: Outcome,
) -> None:
    body = Waits(lost, FAILED, lost, FAILED)
    bench = body.bench = Bench(body, options=POLLED, own=GROWING)
    await bench.start("a")

    await bench.clock.advance(400.0)

    # Lost and failed at once; 30 s later lost and failed again; then 300 s.
    assert body.at == pytest.approx([0, 0, 30, 30, 330], abs=4.0)
    await bench.stop()


async def test_a_message_that_was_put_off_moves_to_no_later_delay() -> None:
    body = Waits(Postponed(delay_s=10.0), Postponed(delay_s=10.0), FAILED)
    bench = body.bench = Bench(body, options=replace(POLLED, max_dequeue_count=9), own=GROWING)
    await bench.start("a")

    await bench.clock.advance(100.0)

    assert body.at == pytest.approx([0, 10, 20, 50], abs=6.0)
    await bench.stop()


async def test_what_is_known_of_lost_tries_outlives_a_reload() -> None:
    tries = TriesOfAll()
    first = Waits(Interrupted(), Postponed(delay_s=5.0))
    before = first.bench = Bench(first, options=POLLED, own=GROWING, tries=tries)
    await before.start("a")
    await before.clock.advance(0.0)
    await before.stop()

    second = Waits(FAILED)
    after = Bench(second, options=POLLED, own=GROWING, tries=tries, beside=before)
    second.bench = after
    await after.start()

    await after.clock.advance(6.0)

    assert second.at == pytest.approx([5], abs=2.0)
    (message,) = after.service.peek_all("orders")
    assert message.dequeue_count == 3
    assert round((message.next_visible - after.clock.utcnow()).total_seconds()) in (28, 29, 30)
    await after.stop()


@pytest.mark.parametrize(
    "failure", [TimedOut(after_s=2.0), WorkerLost(how="exit code 3", alone=True)]
)
async def test_every_failure_of_the_functions_own_waits(failure: Outcome) -> None:
    body = Waits(failure)
    bench = body.bench = Bench(body, options=POLLED, own=GROWING)
    await bench.start("a")

    assert await hidden_after_each_try(bench, 2) == [30.0, 300.0]
    await bench.stop()


async def test_where_there_is_no_poison_queue_the_delays_apply_without_end() -> None:
    bench = Bench(fail, queue="orders-poison", options=PATIENT, own=GROWING)
    await bench.start("a")

    waits = await hidden_after_each_try(bench, 8)

    assert waits == [30.0, 300.0] + [3600.0] * 6
    assert bench.probe.of(MessagePoisoned) == []
    await bench.stop()


async def test_a_long_delay_is_meant_and_not_explained() -> None:
    both = replace(PATIENT, visibility_timeout_s=DAY_S)
    bench = Bench(fail, options=both, own=OwnOptions(retry_delays_s=(DAY_S,)))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.probe.of(Finding) == []
    await bench.stop()


def spread(*delays_s: float, jitter: float, draws: int = 300) -> Sequence[float]:
    policy = TriesPolicy(
        max_dequeue_count=5, pauses_s=delays_s, has_poison_queue=True, jitter=jitter
    )
    random = Random(7)
    drawn = [varied(Retry(after_s=delays_s[0]), policy, random) for _ in range(draws)]
    assert all(isinstance(each, Retry) for each in drawn)
    return [each.after_s for each in drawn if isinstance(each, Retry)]


def test_jitter_spreads_a_delay_by_its_part_up_and_down_in_whole_seconds() -> None:
    drawn = spread(100.0, jitter=0.2)

    assert 80.0 <= min(drawn) < 85.0
    assert 115.0 < max(drawn) <= 120.0
    assert all(each.is_integer() for each in drawn)


def test_jitter_keeps_a_delay_between_nothing_and_seven_days() -> None:
    assert max(spread(7 * DAY_S, jitter=0.5)) <= 7 * DAY_S
    assert min(spread(1.0, jitter=1.0)) >= 0.0


async def test_jitter_is_of_the_delays_alone() -> None:
    bench = Bench(
        fail,
        options=replace(PATIENT, visibility_timeout_s=20.0),
        own=OwnOptions(retry_jitter=1.0),
        random=Random(3),
    )
    await bench.start("a")

    assert await hidden_after_each_try(bench, 3) == [20.0, 20.0, 20.0]
    await bench.stop()


async def test_messages_that_fail_together_come_back_apart() -> None:
    own = OwnOptions(retry_delays_s=(100.0,), retry_jitter=0.5)
    bench = Bench(fail, options=PATIENT, own=own, random=Random(3))
    await bench.start(*"abcdefgh")

    await bench.clock.advance(0.5)

    times = {each.next_visible for each in bench.service.peek_all("orders")}
    first, last = min(times), max(times)
    assert len(times) > 4
    assert (last - first).total_seconds() > 20.0
    await bench.stop()


async def test_an_empty_list_leaves_it_to_visibility_timeout() -> None:
    bench = Bench(fail, options=replace(PATIENT, visibility_timeout_s=20.0), own=OwnOptions())
    await bench.start("a")

    assert await hidden_after_each_try(bench, 2) == [20.0, 20.0]
    await bench.stop()

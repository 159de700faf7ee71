"""Limits on the rate and on what is in processing at once: nothing is taken that may not start."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from qtrigger.bounds import AtMost, Bounds
from qtrigger.errors import ExitCode
from qtrigger.events import InvocationFinished, StillRunning
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    LeaseLost,
    Outcome,
    Succeeded,
    TriggerMessage,
)
from qtrigger.listener import BY_HAND
from qtrigger.project.model import RetryPolicy
from qtrigger.project.options import OwnOptions
from qtrigger.rate import Rate
from qtrigger.testing.clock import ManualClock, settle
from qtrigger.tries import TriesOfAll
from tests.unit.harness import PLAIN, Bench
from tests.unit.test_host import House

REQUEST_S = 0.01
TICK_S = 0.1
WAITS_S = RetryPolicy(strategy="fixedDelay", max_retries=3, minimum_s=1.0, maximum_s=1.0)


class Rated:
    """A function with a rate, whose runs take `run_s` seconds, and the times of their starts."""

    def __init__(
        self, per_minute: int, *, run_s: float = 2.0, slow_run_after_s: float = 60.0, **options: Any
    ) -> None:
        self.starts: list[float] = []
        self.end: Outcome = Succeeded()
        self.run_s = run_s
        self.own = OwnOptions(max_per_minute=per_minute, slow_run_after_s=slow_run_after_s)
        self.tries = TriesOfAll()
        self.bench = Bench(self._run, own=self.own, tries=self.tries, **options)
        self.clock = self.bench.clock

    async def begin(self, messages: int) -> None:
        await self.bench.start(*map(str, range(messages)))
        self.bench.service.slow("receive", REQUEST_S, times=None)

    @property
    def hidden(self) -> int:
        return self.bench.service.counts("orders").invisible

    def most_in_a_minute(self) -> int:
        return max(sum(at <= each < at + 60.0 for each in self.starts) for at in self.starts)

    async def _run(self, _message: TriggerMessage) -> Outcome:
        self.starts.append(self.clock.monotonic())
        await self.clock.sleep(self.run_s)
        return self.end


async def test_a_full_queue_for_three_minutes_has_never_more_starts_in_any_60_s() -> None:
    """And at no moment is anything hidden at the service that does not run."""
    rated = Rated(60)
    await rated.begin(400)

    while rated.clock.monotonic() < 180.0:
        await rated.clock.advance(TICK_S)
        assert rated.hidden == rated.bench.listener.running

    assert rated.most_in_a_minute() == 60
    assert len(rated.starts) == 180
    await rated.bench.stop()


async def test_what_is_left_of_the_minute_is_what_is_asked_for() -> None:
    rated = Rated(3, run_s=30.0)
    await rated.begin(10)

    await rated.clock.advance(5.0)

    assert (rated.hidden, rated.bench.listener.running) == (3, 3)
    assert rated.bench.service.counts("orders").visible == 7
    await rated.bench.stop()


async def test_a_full_minute_asks_for_nothing_until_a_place_is_free() -> None:
    rated = Rated(3, run_s=0.0)
    await rated.begin(10)
    await rated.clock.advance(5.0)
    asked = len(rated.bench.service.times("receive"))

    await rated.clock.advance(50.0)

    assert len(rated.bench.service.times("receive")) == asked
    await rated.clock.advance(10.0)
    assert len(rated.starts) == 6
    await rated.bench.stop()


async def test_two_requests_beside_one_another_keep_to_the_minute() -> None:
    rated = Rated(500, run_s=0.0)
    await rated.begin(1_200)
    rated.bench.service.slow("delete", REQUEST_S, times=None)

    await rated.clock.advance(0.2)
    times = rated.bench.service.times("receive")
    assert any(second - first < REQUEST_S for first, second in pairwise(times))

    await rated.clock.advance(55.0)
    assert len(rated.starts) == 500
    assert rated.hidden == 0
    await rated.bench.stop()


async def test_each_run_of_a_retry_policy_is_a_start_and_waits_for_its_place() -> None:
    rated = Rated(5, run_s=0.0, retry=WAITS_S)
    rated.end = Failed(error=ErrorDetail(type="ValueError", message="no"))
    await rated.begin(3)

    await rated.clock.advance(200.0)

    assert rated.most_in_a_minute() == 5
    assert 15 <= len(rated.starts) <= 20
    await rated.bench.stop()


async def test_a_retry_that_waits_for_its_place_is_not_said_to_run() -> None:
    rated = Rated(2, run_s=0.0, retry=WAITS_S, slow_run_after_s=5.0)
    rated.end = Failed(error=ErrorDetail(type="ValueError", message="no"))
    await rated.begin(2)

    await rated.clock.advance(50.0)

    assert rated.bench.listener.running == 2
    assert not rated.bench.probe.of(StillRunning)
    await rated.bench.stop()


async def test_a_message_that_is_lost_while_it_waits_for_its_place_does_not_run() -> None:
    rated = Rated(1, run_s=0.0, retry=WAITS_S, lease_s=6.0)
    rated.end = Failed(error=ErrorDetail(type="ValueError", message="no"))
    await rated.begin(1)
    await rated.clock.advance(5.0)
    await rated.bench.queue.clear()

    await rated.clock.advance(100.0)

    assert len(rated.starts) == 1
    (finished,) = rated.bench.probe.of(InvocationFinished)
    assert finished.outcome == LeaseLost()
    await rated.bench.stop()


def test_who_waits_for_the_minute_is_told_of_places_that_a_request_gives_back() -> None:
    """Nothing has started, so that no timer would tell."""
    rate, told = Rate(1, ManualClock(), deque()), list[int]()
    rate.asked(1)
    rate.wait(lambda: told.append(rate.most))

    rate.answered(1, 0)

    assert told == [1]


async def test_a_message_that_never_runs_is_no_start() -> None:
    rated = Rated(2, options=replace(PLAIN, message_encoding="base64"))
    await rated.bench.start("{", "{", "{", "YQ==", "YQ==")

    await rated.clock.advance(5.0)

    assert len(rated.starts) == 2
    assert len(rated.bench.left("orders-poison")) == 3
    await rated.bench.stop()


async def test_a_stop_ends_the_wait_for_the_minute() -> None:
    rated = Rated(2, run_s=0.0)
    await rated.begin(5)
    await rated.clock.advance(5.0)

    await rated.bench.stop()

    assert rated.clock.monotonic() < 6.0
    assert rated.hidden == 0
    assert len(rated.bench.left()) == 3


async def test_a_stop_hands_back_what_waits_for_the_place_of_its_retry() -> None:
    rated = Rated(2, run_s=0.0, retry=WAITS_S)
    rated.end = Failed(error=ErrorDetail(type="ValueError", message="no"))
    await rated.begin(2)
    await rated.clock.advance(10.0)
    assert rated.hidden == 2

    await rated.bench.stop()

    outcomes = [each.outcome for each in rated.bench.probe.of(InvocationFinished)]
    assert outcomes == [Interrupted(), Interrupted()]
    assert rated.clock.monotonic() < 11.0
    assert rated.hidden == 0


async def test_a_pause_while_the_minute_is_full_asks_for_nothing_when_it_is_over() -> None:
    rated = Rated(2, run_s=0.0)
    await rated.begin(5)
    await rated.clock.advance(5.0)
    asked = len(rated.bench.service.times("receive"))

    rated.bench.listener.pause(BY_HAND)
    await rated.clock.advance(100.0)

    assert len(rated.bench.service.times("receive")) == asked
    rated.bench.listener.resume(BY_HAND)
    await rated.clock.advance(1.0)
    assert len(rated.starts) == 4
    await rated.bench.stop()


async def test_a_reload_begins_no_new_minute() -> None:
    rated = Rated(3, run_s=0.0)
    await rated.begin(10)
    await rated.clock.advance(5.0)
    await rated.bench.stop()

    after = Bench(beside=rated.bench, own=rated.own, tries=rated.tries)
    await after.start()
    await rated.clock.advance(50.0)
    assert after.bodies == []

    await rated.clock.advance(10.0)
    assert len(after.bodies) == 3
    await after.stop()


async def test_exit_when_idle_waits_for_what_the_minute_does_not_allow_yet() -> None:
    async def quick(msg: str) -> None:
        done.append(msg)

    done = list[str]()
    house = House({"quick": quick}, own=OwnOptions(max_per_minute=2))
    await house.put("quick", *"abcde")

    code = await house.clock.run(house.supervisor(idle_s=3.0).run())

    assert code is ExitCode.OK
    assert sorted(done) == list("abcde")
    assert 120.0 < house.clock.monotonic() < 250.0


class Town:
    """Functions of one host whose runs take `run_s` seconds each."""

    def __init__(self, *names: str, run_s: float = 1.0, **limits: Any) -> None:
        self.running: Counter[str] = Counter()
        self.begun: Counter[str] = Counter()
        self.first_at: dict[str, float] = {}
        self.run_s = run_s
        self.house = House({name: self._function(name) for name in names}, **limits)
        self.clock = self.house.clock

    @property
    def hidden(self) -> int:
        service = self.house.service
        return sum(service.counts(name).invisible for name in service.names())

    async def over(self, seconds: float) -> tuple[int, int]:
        """Let time pass; the most that ran at once, and the most that was hidden and did not."""
        most, lying = 0, 0
        for _ in range(round(seconds / TICK_S)):
            await self.clock.advance(TICK_S)
            most = max(most, self.running.total())
            lying = max(lying, self.hidden - self.running.total())
        return most, lying

    def _function(self, name: str) -> Callable[..., Any]:
        async def main(msg: str) -> None:
            self.begun[name] += 1
            self.first_at.setdefault(msg, self.clock.monotonic())
            self.running[name] += 1
            try:
                await self.clock.sleep(self.run_s)
            finally:
                self.running[name] -= 1

        return main


async def stopped(town: Town, host: Any) -> None:
    await town.clock.run(host.stop("test", up_to_s=30.0, at_once=asyncio.Event()))
    assert town.hidden == 0


@pytest.mark.parametrize("most", [1, 2, 5, 8])
async def test_a_functions_own_most_is_what_is_taken_and_runs_at_once(most: int) -> None:
    town = Town("busy", own=OwnOptions(max_concurrent=most))
    await town.house.put("busy", *map(str, range(200)))
    host = await town.house.start_host()

    assert await town.over(5.0) == (most, 0)
    await stopped(town, host)


@pytest.mark.parametrize("most", [1, 3, 7, 10])
async def test_a_function_alone_has_all_slots_of_the_host(most: int) -> None:
    town = Town("busy", max_concurrent=most)
    await town.house.put("busy", *map(str, range(200)))
    host = await town.house.start_host()

    assert await town.over(5.0) == (most, 0)
    await stopped(town, host)


async def test_a_full_queue_does_not_keep_another_from_its_turn() -> None:
    town = Town("busy", "seldom", max_concurrent=4)
    await town.house.put("busy", *map(str, range(400)))
    await town.house.put("seldom")
    host = await town.house.start_host()
    waits = list[float]()

    for number in range(10):
        await town.over(4.0)
        listener = next(each for each in host.listeners if each.function == "seldom")
        await town.house.put("seldom", f"s{number}")
        put_at = town.clock.monotonic()
        listener.wake()
        await town.over(2.5)
        waits.append(town.first_at[f"s{number}"] - put_at)

    # A run takes a second, so a slot is free within one.
    assert max(waits) <= 1.0 + TICK_S
    assert town.begun["busy"] > 4 * 50
    await stopped(town, host)


async def test_ten_full_queues_and_three_slots_are_served_in_turn() -> None:
    names = [f"queue{number}" for number in range(10)]
    town = Town(*names, max_concurrent=3)
    for name in names:
        await town.house.put(name, *map(str, range(50)))
    host = await town.house.start_host()

    assert await town.over(60.0) == (3, 0)

    assert set(town.begun) == set(names)
    assert max(town.begun.values()) - min(town.begun.values()) <= 1
    assert 180 <= town.begun.total() <= 183
    await stopped(town, host)


async def test_a_slow_look_at_an_empty_queue_holds_one_slot() -> None:
    town = Town("busy", "empty", max_concurrent=3, run_s=0.5)
    await town.house.put("busy", *map(str, range(400)))
    await town.house.put("empty")
    town.house.service.slow("receive", 30.0, queue="empty", times=None)
    host = await town.house.start_host()

    await town.over(20.0)

    assert 2 * 20 / 0.5 - 4 <= town.begun["busy"] <= 2 * 20 / 0.5 + 4
    await stopped(town, host)


async def test_a_paused_function_stands_in_nobodys_way() -> None:
    town = Town("busy", "paused", max_concurrent=1)
    await town.house.put("busy", *map(str, range(100)))
    await town.house.put("paused", *map(str, range(100)))
    host = await town.house.start_host()
    await town.over(4.0)

    next(each for each in host.listeners if each.function == "paused").pause(BY_HAND)
    await town.over(2.0)
    before = Counter(town.begun)
    await town.over(20.0)

    assert town.begun["paused"] == before["paused"]
    assert town.begun["busy"] - before["busy"] >= 19
    await stopped(town, host)


async def test_a_function_that_waits_for_its_minute_stands_in_nobodys_way() -> None:
    town = Town("busy", "other", max_concurrent=1, own=OwnOptions(max_per_minute=5))
    await town.house.put("busy", *map(str, range(100)))
    host = await town.house.start_host()
    await town.over(10.0)
    assert town.begun["busy"] == 5

    await town.house.put("other", *map(str, range(5)))
    await town.over(20.0)

    assert town.begun == {"busy": 5, "other": 5}
    await stopped(town, host)


async def test_a_host_of_one_slot_is_idle_once_all_its_queues_were_seen_empty() -> None:
    names = [f"queue{number}" for number in range(10)]
    town = Town(*names, max_concurrent=1)
    for name in names:
        await town.house.put(name, "a", "b")

    code = await town.clock.run(town.house.supervisor(idle_s=3.0).run())

    assert code is ExitCode.OK
    assert town.begun == dict.fromkeys(names, 2)


async def test_a_limit_that_is_set_anew_holds_from_then_on() -> None:
    at_most = AtMost(3)
    bounds = Bounds([at_most])
    never, always = asyncio.Event(), asyncio.Event()
    always.set()
    assert bounds.take(16) == 3
    turn = asyncio.ensure_future(bounds.turn(16, stopped=never, resumed=always))
    await settle()
    assert not turn.done()

    at_most.limit = 5
    await settle()

    assert turn.result() == 2

"""A function that keeps failing is left alone, and none of its messages pays for that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from qtrigger.events import (
    BreakerClosed,
    BreakerOpened,
    InvocationFinished,
    MessageHandedBack,
    SettlementFailed,
)
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Outcome,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.listener import BY_HAND
from qtrigger.pauses import PauseFile
from qtrigger.pausing import Pausing
from qtrigger.project.model import QueueOptions
from qtrigger.project.options import CircuitBreaker, OwnOptions
from qtrigger.testing.clock import ManualClock
from qtrigger.tries import TriesOfAll
from tests.unit.harness import Bench

DOWN = Failed(error=ErrorDetail(type="OperationalError", message="the database is down"))
PAUSE_S = 30.0


class Outage:
    """A function whose database can be down; bad messages fail whatever it does."""

    def __init__(
        self,
        *,
        failures: int = 10,
        distinct: int = 3,
        pause_s: float = PAUSE_S,
        max_dequeue_count: int = 5,
        batch_size: int = 16,
        new_batch_threshold: int = 8,
        order_by: str = "",
        beside: Outage | None = None,
        tries: TriesOfAll | None = None,
    ) -> None:
        self.down = True
        self.run_s = 0.1
        self.bad: set[str] = set()
        self.done: list[str] = []
        self.outcome: Outcome = DOWN
        breaker = CircuitBreaker(failures=failures, distinct_messages=distinct, pause_s=pause_s)
        self.bench: Bench = Bench(
            self.work,
            options=QueueOptions(
                message_encoding="none",
                max_dequeue_count=max_dequeue_count,
                batch_size=batch_size,
                new_batch_threshold=new_batch_threshold,
            ),
            own=OwnOptions(breaker=breaker, order_by=order_by),
            beside=beside.bench if beside else None,
            tries=tries,
        )
        self.clock: ManualClock = self.bench.clock

    async def work(self, message: TriggerMessage) -> Outcome:
        text = message.body.decode()
        await self.clock.sleep(self.run_s)
        if self.down or text in self.bad:
            return self.outcome
        self.done.append(text)
        return Succeeded()

    @property
    def poisoned(self) -> list[str]:
        return self.bench.left("orders-poison")

    @property
    def opened(self) -> list[BreakerOpened]:
        return self.bench.probe.of(BreakerOpened)

    @property
    def closed(self) -> list[BreakerClosed]:
        return self.bench.probe.of(BreakerClosed)

    def counts(self) -> list[int]:
        """How often each message that is left was received, as the service counts."""
        return [each.dequeue_count for each in self.bench.service.peek_all("orders")]

    async def until_open(self) -> None:
        await self.clock.run(self.bench.probe.wait_for(BreakerOpened))


def seen_empty(outage: Outage) -> bool:
    return outage.bench.listener.seen_empty


def numbered(count: int) -> list[str]:
    return [f"m{number}" for number in range(count)]


async def test_nothing_is_asked_for_while_it_is_open() -> None:
    outage = Outage()
    await outage.bench.start(*numbered(100))

    await outage.until_open()
    asked = len(outage.bench.service.times("receive"))
    await outage.clock.advance(PAUSE_S - 1.0)

    assert len(outage.bench.service.times("receive")) == asked
    (event,) = outage.opened
    assert (event.failures, event.messages, event.probe) == (10, 10, False)
    assert (event.error_type, event.error) == ("OperationalError", "the database is down")
    assert outage.bench.listener.running == 0
    await outage.bench.stop()


async def test_one_message_at_a_time_is_tried_until_one_succeeds() -> None:
    outage = Outage()
    await outage.bench.start(*numbered(100))
    await outage.until_open()
    await outage.clock.advance(PAUSE_S / 2)
    runs, outage.bench.most_at_once = len(outage.bench.invocations), 0

    await outage.clock.advance(PAUSE_S * 10)

    assert len(outage.bench.invocations) - runs == 10
    assert outage.bench.most_at_once == 1
    assert [each.probe for each in outage.opened] == [False] + [True] * 10
    outage.down = False
    await outage.clock.advance(PAUSE_S)
    assert len(outage.closed) == 1
    assert outage.bench.most_at_once > 1
    await outage.bench.stop()


async def test_no_message_is_poisoned_by_an_outage_and_all_are_processed_after_it() -> None:
    outage = Outage(pause_s=5.0)
    names = numbered(300)
    await outage.bench.start(*names)

    await outage.clock.advance(6 * 3600.0)
    assert (outage.poisoned, outage.done) == ([], [])
    outage.down = False
    await outage.clock.advance(9 * 5.0 + 3.0)  # a pause, and the eight of the last probe

    assert sorted(outage.done) == sorted(names)
    assert (outage.poisoned, outage.bench.left()) == ([], [])
    await outage.bench.stop()


async def test_a_lone_message_outlives_an_outage_of_days() -> None:
    outage = Outage(failures=2, distinct=1)
    await outage.bench.start("only")

    await outage.clock.advance(2 * 86_400.0)
    assert (outage.poisoned, outage.bench.left()) == ([], ["only"])
    outage.down = False
    await outage.clock.advance(8 * PAUSE_S + 60.0)

    assert outage.done == ["only"]
    await outage.bench.stop()


async def test_no_message_is_hidden_for_longer_than_the_service_takes() -> None:
    tries = TriesOfAll()
    outage = Outage(failures=1, distinct=1, pause_s=86_400.0, tries=tries)
    await outage.bench.queue.create()
    message_id = await outage.bench.queue.send("only", ttl_s=-1)
    tries.of("charge", outage.bench.queue.address).spare(message_id, 10)
    await outage.bench.start()

    await outage.clock.advance(2 * 86_400.0)

    assert [each.probe for each in outage.opened] == [False, True]
    assert outage.bench.probe.of(SettlementFailed) == []
    await outage.bench.stop()


async def test_each_probe_takes_another_message_so_that_a_bad_one_keeps_nothing_shut() -> None:
    outage = Outage()
    names = numbered(100)
    await outage.bench.start(*names)
    await outage.until_open()
    outage.bad = set(names[:3])
    outage.down = False

    await outage.clock.advance(PAUSE_S * 40)

    assert sorted(outage.done) == sorted(names[3:])
    await outage.bench.stop()


async def test_bad_messages_that_open_it_again_and_again_come_to_their_end() -> None:
    """Others succeed between, so that the fault is known to be theirs in the end."""
    outage = Outage(failures=2, distinct=2)
    outage.down, outage.bad = False, {f"bad{number}" for number in range(8)}
    await outage.bench.start(*outage.bad)

    for number in range(60):
        await outage.bench.queue.send(f"good{number}")
        await outage.clock.advance(8 * PAUSE_S)
    await outage.clock.advance(20 * PAUSE_S)

    assert sorted(outage.poisoned) == sorted(outage.bad)
    assert len(outage.done) == 60
    await outage.bench.stop()


@pytest.mark.parametrize("max_dequeue_count", [1, 2, 5])
async def test_a_last_try_in_the_row_that_opens_it_poisons_nothing(
    max_dequeue_count: int,
) -> None:
    """What waits on its last try is judged when the row has come to something."""
    outage = Outage(max_dequeue_count=max_dequeue_count, failures=20)
    names = numbered(60)
    await outage.bench.start(*names)

    await outage.clock.advance(600.0)
    assert outage.poisoned == []
    outage.down = False
    await outage.clock.advance(600.0)

    assert sorted(outage.done) == sorted(names)
    await outage.bench.stop()


@pytest.mark.parametrize(("batch_size", "threshold"), [(1, 0), (2, 1), (4, 4)])
async def test_more_failures_than_run_at_once_still_open_it_on_the_last_try(
    batch_size: int, threshold: int
) -> None:
    """Messages that wait for their fate must not keep the rest of the row from coming."""
    outage = Outage(
        failures=30,
        max_dequeue_count=1,
        batch_size=batch_size,
        new_batch_threshold=threshold,
    )
    await outage.bench.start(*numbered(40))

    await outage.clock.advance(PAUSE_S - 1.0)

    assert (len(outage.opened), outage.poisoned) == (1, [])
    await outage.bench.stop()


async def test_a_bad_message_among_good_ones_is_poisoned_after_its_tries() -> None:
    outage = Outage()
    outage.down, outage.bad = False, {"m0"}
    await outage.bench.start(*numbered(50))

    for _ in range(20):
        await outage.bench.queue.send("good")
        await outage.clock.advance(1.0)

    assert (outage.poisoned, outage.opened) == (["m0"], [])
    tries = [each for each in outage.bench.invocations if each.messages[0].body == b"m0"]
    assert len(tries) == 5
    await outage.bench.stop()


async def test_a_bad_message_alone_is_poisoned_too_when_nothing_more_comes() -> None:
    outage = Outage()
    outage.down, outage.bad = False, {"m0"}
    await outage.bench.start("m0")

    await outage.clock.advance(PAUSE_S + 70.0)

    assert (outage.poisoned, outage.opened) == (["m0"], [])
    await outage.bench.stop()


async def test_what_comes_when_it_has_opened_is_handed_back_until_it_probes() -> None:
    outage = Outage(failures=2, distinct=2, batch_size=4, new_batch_threshold=4)
    await outage.bench.start(*numbered(3))
    await outage.clock.advance(0.05)
    for name in ("late1", "late2"):
        await outage.bench.queue.send(name)
    outage.bench.service.slow("receive", 5.0)
    outage.bench.listener.wake()
    await outage.until_open()
    opened_at = outage.clock.monotonic()

    await outage.clock.advance(10.0)

    assert {each.cause for each in outage.bench.probe.of(MessageHandedBack)} == {"breaker"}
    late = [m for m in outage.bench.service.peek_all("orders") if m.text.startswith("late")]
    due = [(m.next_visible - outage.clock.utcnow()).total_seconds() for m in late]
    left_s = opened_at + PAUSE_S - outage.clock.monotonic()
    assert len(due) == 2
    assert all(left_s - 1.5 <= each <= left_s + 1.5 for each in due)
    await outage.bench.stop()


async def test_what_still_runs_when_it_opens_goes_on_and_loses_no_try() -> None:
    outage = Outage(failures=3, max_dequeue_count=1)
    outage.run_s = 5.0
    await outage.bench.start("slow0", "slow1")
    await outage.clock.advance(2.0)
    outage.run_s = 0.1
    for name in numbered(3):
        await outage.bench.queue.send(name)
    outage.bench.listener.wake()

    await outage.clock.advance(10.0)

    assert len(outage.opened) == 1
    ends = outage.bench.probe.of(InvocationFinished)
    assert [each.disposition for each in ends] == ["released"] * 5
    assert outage.poisoned == []
    await outage.bench.stop()


@pytest.mark.parametrize(
    "outcome",
    [Interrupted(), WorkerLost(how="exit code 1", alone=False), Postponed(delay_s=1.0)],
)
async def test_an_end_that_is_no_failure_counts_for_nothing(outcome: Outcome) -> None:
    outage = Outage()
    outage.outcome = outcome
    await outage.bench.start(*numbered(50))

    await outage.clock.advance(1.0)

    assert outage.opened == []
    await outage.bench.stop()


async def test_a_rejected_message_counts_for_nothing_and_goes_where_it_should() -> None:
    outage = Outage()
    outage.outcome = Rejected(reason="no address")
    await outage.bench.start(*numbered(50))

    await outage.clock.advance(10.0)

    assert (outage.opened, len(outage.poisoned)) == ([], 50)
    await outage.bench.stop()


@pytest.mark.parametrize(
    "outcome", [TimedOut(after_s=1.0), WorkerLost(how="signal 9 (SIGKILL)", alone=True)]
)
async def test_time_outs_and_lost_workers_are_failures(outcome: Outcome) -> None:
    outage = Outage()
    outage.outcome = outcome
    await outage.bench.start(*numbered(50))

    await outage.clock.advance(1.0)

    assert len(outage.opened) == 1
    await outage.bench.stop()


async def test_by_hand_it_is_closed_at_once() -> None:
    outage = Outage()
    await outage.bench.start(*numbered(100))
    await outage.until_open()
    outage.down = False

    outage.bench.listener.close_breaker()
    await outage.clock.advance(5.0)

    assert [each.cause for each in outage.closed] == ["hand"]
    assert len(outage.done) > 70
    await outage.clock.advance(PAUSE_S)
    assert len(outage.done) == 100
    await outage.bench.stop()


async def test_a_resume_from_another_process_closes_it_too(tmp_path: Path) -> None:
    outage = Outage()
    file = PauseFile(tmp_path)
    await file.resume("charge", outage.clock)
    pausing = Pausing(file, clock=outage.clock, sink=outage.bench.probe, changed=lambda: None)
    await outage.bench.start(*numbered(100))
    pausing.begin([outage.bench.listener])
    await outage.until_open()
    await outage.clock.advance(5.0)
    assert outage.closed == []  # what was resumed before the start closes nothing
    outage.down = False

    await file.resume("Charge", outage.clock)
    await outage.clock.advance(1.0)

    assert [(each.cause, each.failures) for each in outage.closed] == [("hand", 10)]
    pausing.stop()
    await outage.bench.stop()


async def test_a_pause_by_hand_holds_probes_too() -> None:
    outage = Outage()
    await outage.bench.start(*numbered(100))
    await outage.until_open()
    await outage.clock.advance(1.0)
    runs = len(outage.bench.invocations)

    outage.bench.listener.pause(BY_HAND)
    await outage.clock.advance(10 * PAUSE_S)
    assert len(outage.bench.invocations) == runs
    outage.down = False
    outage.bench.listener.resume(BY_HAND)
    await outage.clock.advance(10 * PAUSE_S)

    assert len(outage.done) == 100
    await outage.bench.stop()


@pytest.mark.parametrize(("batch_size", "threshold"), [(1, 0), (1, 3), (2, 1), (16, 8)])
async def test_no_second_request_goes_beside_a_probe(batch_size: int, threshold: int) -> None:
    outage = Outage(failures=3, batch_size=batch_size, new_batch_threshold=threshold)
    outage.run_s = 0.0
    outage.bench.service.slow("receive", 0.05, times=None)
    await outage.bench.start(*numbered(100))
    await outage.until_open()
    await outage.clock.advance(PAUSE_S - 5.0)
    asked = len(outage.bench.service.times("receive"))
    received = sum(outage.counts())

    await outage.clock.advance(10 * PAUSE_S)

    assert len(outage.bench.service.times("receive")) - asked == 10
    assert sum(outage.counts()) - received == 10
    await outage.bench.stop()


async def test_a_reload_in_an_outage_costs_no_message_a_try() -> None:
    tries = TriesOfAll()
    first = Outage(tries=tries, pause_s=5.0)
    names = numbered(40)
    await first.bench.start(*names)
    for _ in range(12):
        await first.clock.advance(30.0)
        await first.bench.stop()
        following = Outage(tries=tries, pause_s=5.0, beside=first)
        await following.bench.start()
        first = following
    await first.clock.advance(30.0)
    assert first.poisoned == []

    first.down = False
    await first.clock.advance(120.0)

    assert sorted(first.done) == sorted(names)
    await first.bench.stop()


async def test_restarts_in_an_outage_poison_nothing() -> None:
    """What a host before has spared nobody knows; the count alone condemns no message at once."""
    host = Outage(pause_s=5.0)
    names = numbered(30)
    await host.bench.start(*names)
    for _ in range(8):
        await host.clock.advance(30.0)
        await host.bench.stop()
        following = Outage(pause_s=5.0, beside=host)
        await following.bench.start()
        host = following
    assert max(host.counts()) > 5
    assert host.poisoned == []

    host.down = False
    await host.clock.advance(120.0)

    assert sorted(host.done) == sorted(names)
    await host.bench.stop()


async def test_a_message_whose_tries_all_end_with_their_hosts_has_an_end() -> None:
    outage = Outage()
    outage.down = False
    await outage.bench.queue.create()
    await outage.bench.queue.send("kills")
    for _ in range(15):
        assert len(await outage.bench.queue.receive(1, 1.0)) == 1
        await outage.clock.advance(1.0)

    await outage.bench.start()
    await outage.clock.advance(5.0)

    assert (outage.poisoned, outage.bench.invocations) == (["kills"], [])
    await outage.bench.stop()


async def test_a_stop_waits_for_no_probe_and_for_no_fate() -> None:
    outage = Outage(max_dequeue_count=1, failures=20)
    await outage.bench.start(*numbered(5))
    await outage.clock.advance(5.0)
    began_at = outage.clock.monotonic()

    await outage.bench.stop()

    assert outage.clock.monotonic() - began_at < 1.0
    assert (outage.poisoned, len(outage.bench.left())) == ([], 5)


async def test_a_message_that_is_lost_while_its_fate_is_open_is_not_copied() -> None:
    outage = Outage(max_dequeue_count=1, failures=20, pause_s=400.0)
    await outage.bench.start("a")
    await outage.clock.advance(5.0)
    await outage.bench.queue.clear()

    await outage.clock.advance(500.0)

    (finished,) = outage.bench.probe.of(InvocationFinished)
    assert (finished.disposition, outage.poisoned) == ("dropped", [])
    await outage.bench.stop()


async def test_a_last_try_whose_fate_a_stop_left_open_is_not_held_against_its_message() -> None:
    """Whoever takes the breaker out of host.json in the outage finds the message all the same."""
    tries = TriesOfAll()
    outage = Outage(max_dequeue_count=1, failures=20, tries=tries)
    await outage.bench.start("a")
    await outage.clock.advance(5.0)
    await outage.bench.stop()

    options = QueueOptions(message_encoding="none", max_dequeue_count=1)
    after = Bench(options=options, tries=tries, beside=outage.bench)
    await after.start()
    await outage.clock.advance(5.0)

    assert after.bodies == [b"a"]
    await after.stop()


async def test_an_open_breaker_is_not_idle() -> None:
    """Its messages wait; a host that ends when idle must not leave them."""
    outage = Outage()
    await outage.bench.start(*numbered(20))
    await outage.until_open()
    await outage.clock.advance(PAUSE_S / 2)

    assert not seen_empty(outage)
    outage.down = False
    await outage.clock.advance(PAUSE_S * 10)
    assert seen_empty(outage)
    await outage.bench.stop()


async def test_what_waits_for_its_turn_when_it_opens_is_handed_back_and_not_run() -> None:
    outage = Outage(failures=3, order_by="$.k")
    await outage.bench.start(*(f'{{"k": 1, "n": {number}}}' for number in range(20)))

    await outage.until_open()
    await outage.clock.advance(1.0)

    assert len(outage.bench.invocations) == 3
    assert outage.bench.listener.unsettled == 0
    await outage.clock.advance(PAUSE_S + 1.0)
    outage.down = False
    await outage.clock.advance(10 * PAUSE_S)
    assert (len(outage.done), outage.bench.left(), outage.poisoned) == (20, [], [])
    backs = [each.outcome for each in outage.bench.probe.of(InvocationFinished)]
    assert backs.count(Interrupted(by="breaker")) == 13
    await outage.bench.stop()


async def test_a_probe_waits_for_what_still_runs() -> None:
    outage = Outage(failures=3)
    outage.run_s = 2 * PAUSE_S
    await outage.bench.start("slow")
    await outage.clock.advance(2.0)
    outage.run_s = 0.1
    for name in numbered(20):
        await outage.bench.queue.send(name)
    outage.bench.listener.wake()
    await outage.until_open()
    await outage.clock.advance(1.0)
    runs = len(outage.bench.invocations)

    await outage.clock.advance(PAUSE_S + 5.0)

    assert outage.bench.listener.running == 1
    assert len(outage.bench.invocations) == runs
    await outage.clock.advance(3 * PAUSE_S)
    assert len(outage.bench.invocations) > runs
    await outage.bench.stop()


async def test_a_second_host_counts_for_itself_and_poisons_nothing_in_a_short_outage() -> None:
    first = Outage()
    second = Outage(beside=first)
    names = numbered(200)
    await first.bench.start(*names)
    await second.bench.start()
    await first.clock.advance(20 * PAUSE_S)
    assert (len(first.poisoned), bool(first.opened), bool(second.opened)) == (0, True, True)

    first.down = second.down = False
    await first.clock.advance(10 * PAUSE_S)

    assert sorted([*first.done, *second.done]) == sorted(names)
    await asyncio.gather(first.bench.stop(), second.bench.stop())

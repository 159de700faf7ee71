"""Many messages moved: nothing is lost at any point, and little is done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from qtrigger.bulk.deeds import HOMELESS, UNANSWERED, UNDELETED, Deed, Move, Remove, Show
from qtrigger.bulk.held import LEASE_S
from qtrigger.bulk.pace import Pace
from qtrigger.bulk.sweep import AT_ONCE, Sweep, Swept
from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    QueueError,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueMessage
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.store import NEVER
from qtrigger.testing.clock import ManualClock

BUSY = QueueUnavailable("busy", status=503, code="ServerBusy")
LOST = QueueUnavailable("no answer", code="TimedOut")


class Bench:
    """A poison queue, the queue of its function, and a sweep from one to the other."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.poison = self.service.queue("orders-poison")
        self.orders = self.service.queue("orders")
        self.service.make("orders-poison")
        self.stop = asyncio.Event()

    async def fill(self, count: int) -> None:
        for number in range(count):
            await self.poison.send(f"text {number}", ttl_s=NEVER_EXPIRES_S)

    async def sweep(
        self,
        deed: Deed | None = None,
        *,
        rate: float | None = None,
        wanted: Callable[[QueueMessage], bool] | None = None,
        limit: int | None = None,
        most_taken: int | None = None,
        count: int = 10_000,
    ) -> Swept:
        made = Sweep(
            self.poison,
            deed or Move(lambda _: self.orders, self.clock),
            clock=self.clock,
            pace=Pace(rate, self.clock, self.stop),
            stop=self.stop,
            wanted=wanted,
            limit=limit,
            most_taken=most_taken,
            count=count,
        )
        return await self.clock.run(made.run())

    def back(self) -> Counter[str]:
        """How often each text is in the queue of its function."""
        return Counter(each.text for each in self.service.peek_all("orders"))

    def left(self) -> list[str]:
        return [each.text for each in self.service.peek_all("orders-poison")]

    def visible(self, queue: str) -> int:
        return self.service.counts(queue).visible


@pytest.fixture
def bench() -> Bench:
    return Bench()


def texts(count: int) -> list[str]:
    return [f"text {number}" for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, 31, 500])
async def test_every_message_is_moved_once_with_its_text_as_it_was(
    bench: Bench, count: int
) -> None:
    await bench.fill(count)

    swept = await bench.sweep(count=count)

    assert (swept.done, swept.whole, bench.left()) == (count, True, [])
    assert bench.back() == Counter(texts(count)) if count else True


async def test_a_moved_message_does_not_expire(bench: Bench) -> None:
    await bench.fill(1)

    await bench.sweep()

    assert [each.expires for each in bench.service.peek_all("orders")] == [NEVER]


@pytest.mark.parametrize("verb", ["receive", "send", "delete", "update", "create"])
@pytest.mark.parametrize(("error", "carried_out"), [(BUSY, False), (LOST, False), (LOST, True)])
@pytest.mark.parametrize("times", [1, 3, 200])
async def test_at_every_fault_nothing_is_lost_and_no_message_is_back_more_than_twice(
    bench: Bench, verb: str, error: QueueError, carried_out: bool, times: int
) -> None:
    await bench.fill(300)
    bench.service.fail(verb, error, times=times, carried_out=carried_out)

    await bench.sweep()
    bench.service.mend()
    await bench.clock.advance(LEASE_S)
    again = await bench.sweep()

    assert again.whole
    assert bench.left() == []
    assert sorted(bench.back()) == sorted(texts(300))
    assert max(bench.back().values()) <= 2


async def test_a_copy_that_may_have_been_made_is_not_made_again_in_this_run(bench: Bench) -> None:
    await bench.fill(10)
    bench.service.fail("send", LOST, times=3, queue="orders", carried_out=True)
    bench.service.make("orders")

    swept = await bench.sweep()

    assert swept.left == {UNANSWERED: 3}
    assert (swept.done, len(bench.left()), bench.back().total()) == (7, 3, 10)
    assert bench.visible("orders-poison") == 3


async def test_when_nobody_answers_the_copies_the_run_ends(bench: Bench) -> None:
    await bench.fill(1000)
    bench.service.make("orders")
    bench.service.fail("send", LOST, times=None, queue="orders")

    swept = await bench.sweep()

    assert swept.failure is not None
    assert swept.left[UNANSWERED] <= 3 * AT_ONCE
    assert bench.visible("orders-poison") == 1000


async def test_a_queue_whose_messages_may_not_be_deleted_is_not_copied_whole(bench: Bench) -> None:
    await bench.fill(500)
    bench.service.fail("delete", AccessDenied("no", status=403), times=None)

    swept = await bench.sweep()

    assert isinstance(swept.failure, AccessDenied)
    assert swept.left[UNDELETED] == bench.back().total() <= AT_ONCE
    assert len(bench.left()) == 500


async def test_a_text_that_the_service_refuses_stays_and_the_others_go(bench: Bench) -> None:
    await bench.fill(5)
    bench.service.make("orders")
    bench.service.fail("send", QueueRejected("no such text"), queue="orders")

    swept = await bench.sweep()

    assert (swept.done, swept.left) == (4, {"no such text": 1})
    assert bench.visible("orders-poison") == 1


async def test_who_it_belongs_to_is_asked_of_each_and_the_unknown_stay(bench: Bench) -> None:
    await bench.fill(6)

    swept = await bench.sweep(
        Move(lambda each: bench.orders if each.text < "text 4" else None, bench.clock)
    )

    assert (swept.done, swept.left) == (4, {HOMELESS: 2})
    assert bench.left() == ["text 4", "text 5"]
    assert bench.visible("orders-poison") == 2


async def test_a_message_that_fails_again_while_the_run_goes_on_is_not_moved_again(
    bench: Bench,
) -> None:
    await bench.fill(100)
    await bench.clock.advance(1.0)

    async def fail_again() -> None:
        await bench.clock.sleep(2.0)
        for message in await bench.orders.receive(20, 30.0):
            await bench.poison.send(message.text)
            await bench.orders.delete(message.id, message.pop_receipt)

    swept, _ = await bench.clock.run(asyncio.gather(_started(bench, rate=20.0), fail_again()))

    assert (swept.done, swept.whole) == (100, True)
    assert len(bench.left()) == bench.visible("orders-poison") == 20


async def _started(bench: Bench, rate: float) -> Swept:
    move = Move(lambda _: bench.orders, bench.clock)
    pace = Pace(rate, bench.clock, bench.stop)
    return await Sweep(
        bench.poison, move, clock=bench.clock, pace=pace, stop=bench.stop, count=100
    ).run()


async def test_what_is_not_wanted_is_met_once_and_given_back_at_the_end(bench: Bench) -> None:
    await bench.fill(200)

    swept = await bench.sweep(wanted=lambda each: each.text.endswith("7"))

    assert (swept.done, swept.passed) == (20, 180)
    assert bench.visible("orders-poison") == 180
    counts = {each.dequeue_count for each in bench.service.peek_all("orders-poison")}
    assert counts == {1}


async def test_what_is_kept_aside_stays_hidden_however_long_the_run_is(bench: Bench) -> None:
    await bench.fill(200)

    # Two a second times half of two hundred: the lease is renewed on the way.
    swept = await bench.sweep(wanted=lambda each: int(each.text.split()[1]) % 2 == 0, rate=0.2)

    assert (swept.done, swept.passed) == (100, 100)
    counts = {each.dequeue_count for each in bench.service.peek_all("orders-poison")}
    assert counts == {1}


async def test_no_more_than_the_limit_is_done_and_no_more_taken_than_that(bench: Bench) -> None:
    await bench.fill(100)

    swept = await bench.sweep(limit=10)

    assert (swept.done, swept.whole) == (10, True)
    assert bench.visible("orders-poison") == 90
    counts = [each.dequeue_count for each in bench.service.peek_all("orders-poison")]
    assert sum(counts) == 0


async def test_no_more_are_taken_than_was_said(bench: Bench) -> None:
    await bench.fill(20)

    swept = await bench.sweep(wanted=lambda each: each.text == "text 4", most_taken=5)

    assert (swept.done, swept.passed) == (1, 4)
    assert bench.service.requests["receive"] <= 5


async def test_a_rate_is_kept_to(bench: Bench) -> None:
    await bench.fill(50)

    await bench.sweep(rate=10.0)

    assert 4.8 <= bench.clock.monotonic() <= 6.0


async def test_a_lease_is_renewed_rather_than_a_message_copied_that_another_may_have(
    bench: Bench,
) -> None:
    await bench.fill(32)
    bench.service.make("orders")
    bench.service.slow("send", 25.0, times=None, queue="orders")

    swept = await bench.sweep(rate=32.0, count=32 * AT_ONCE)

    assert (swept.done, bench.back().total(), bench.left()) == (32, 32, [])


async def test_a_message_that_somebody_else_has_by_now_is_left_to_them(bench: Bench) -> None:
    await bench.fill(1)
    bench.service.fail("delete", LeaseLostError("gone", status=404, code="MessageNotFound"))

    swept = await bench.sweep()

    assert (swept.done, swept.doubled) == (1, 1)


async def test_a_stop_finishes_what_is_under_way_and_gives_the_rest_back_at_once(
    bench: Bench,
) -> None:
    await bench.fill(300)
    bench.service.make("orders")
    bench.service.slow("send", 1.0, times=None, queue="orders")
    bench.clock.call_later(3.5, bench.stop.set)

    swept = await bench.sweep()

    assert swept.stopped
    assert 0 < swept.done < 300
    assert swept.done == bench.back().total()
    assert bench.visible("orders-poison") == 300 - swept.done
    assert max(bench.back().values()) == 1


async def test_removing_and_showing_do_no_more_than_they_say(bench: Bench) -> None:
    await bench.fill(40)
    seen: list[str] = []

    shown = await bench.sweep(Show(lambda each: seen.append(each.text)))
    assert (shown.done, sorted(seen)) == (40, sorted(texts(40)))
    assert bench.visible("orders-poison") == 40

    removed = await bench.sweep(Remove(bench.clock), wanted=lambda each: each.text < "text 2")
    assert removed.done == 12
    assert len(bench.left()) == 28


async def test_what_cannot_be_given_back_is_counted(bench: Bench) -> None:
    await bench.fill(3)
    bench.service.fail("update", BUSY, times=None)

    swept = await bench.sweep(Show(lambda _: None))

    assert swept.unreturned == 3


async def test_a_queue_that_is_missing_is_as_good_as_empty(bench: Bench) -> None:
    bench.service.remove("orders-poison")

    assert (await bench.sweep()).whole

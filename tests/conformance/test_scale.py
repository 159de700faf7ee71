"""The numbers for scaling: what counts as the length of a queue, and how many hosts it wants."""

from __future__ import annotations

import pytest

from qtrigger.errors import QueueError, QueueMissing
from qtrigger.project.model import QueueOptions
from qtrigger.queues.memory import MemoryQueueClient, MemoryQueueService
from qtrigger.scale import QueueSample, sample, target_instances
from qtrigger.testing.clock import ManualClock
from tests.conformance.answers import BUSY, LASTING, name_of


def options(batch_size: int, threshold: int) -> QueueOptions:
    return QueueOptions(batch_size=batch_size, new_batch_threshold=threshold)


@pytest.mark.parametrize(
    ("length", "given", "instances"),
    [
        (160, options(8, 8), 10),
        (150, options(8, 8), 10),
        (144, options(8, 8), 9),
        (160, options(16, 4), 8),
        (0, QueueOptions(), 0),
        (1, QueueOptions(), 1),
        (24, QueueOptions(), 1),
        (25, QueueOptions(), 2),
        (3, options(1, 0), 3),
    ],
)
def test_the_target_is_the_length_by_the_most_in_processing_at_once_rounded_up(
    length: int, given: QueueOptions, instances: int
) -> None:
    assert target_instances(length, given) == instances


class Queue:
    """A memory queue with messages put at a moment of the manual clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.service.make("orders")
        self.client: MemoryQueueClient = self.service.queue("orders")

    async def put(self, count: int, *, delay_s: float | None = None) -> None:
        for number in range(count):
            await self.client.send(str(number), delay_s=delay_s)

    async def sample(self) -> QueueSample:
        return await sample(self.client, self.clock)


async def test_an_empty_queue_is_one_request_and_zeros() -> None:
    queue = Queue()

    assert await queue.sample() == QueueSample(length=0, age_s=0.0)
    assert queue.service.requests["peek"] == 0


async def test_the_age_is_that_of_the_first_visible_message() -> None:
    queue = Queue()
    await queue.put(1)
    await queue.clock.advance(5.0)
    await queue.put(4)

    assert await queue.sample() == QueueSample(length=5, age_s=5.0)


async def test_where_nothing_is_visible_the_length_is_none() -> None:
    queue = Queue()
    await queue.put(40, delay_s=600.0)

    assert await queue.sample() == QueueSample(length=0, age_s=0.0)


@pytest.mark.parametrize(("visible", "hidden", "length"), [(31, 10, 31), (1, 90, 1), (32, 10, 42)])
async def test_where_fewer_are_visible_than_a_peek_shows_they_are_the_length(
    visible: int, hidden: int, length: int
) -> None:
    """From 32 on nobody can tell, and the count is what there is, hidden ones and all."""
    queue = Queue()
    await queue.put(visible)
    await queue.put(hidden, delay_s=600.0)

    assert (await queue.sample()).length == length


async def test_a_look_takes_nothing_and_counts_no_try() -> None:
    queue = Queue()
    await queue.put(3)

    await queue.sample()

    assert [message.dequeue_count for message in queue.service.peek_all("orders")] == [0, 0, 0]
    assert queue.service.counts("orders").visible == 3


async def test_a_first_message_from_a_clock_ahead_of_ours_has_no_age_below_zero() -> None:
    queue = Queue()
    await queue.clock.advance(50.0)
    await queue.put(1)

    assert (await sample(queue.client, ManualClock())).age_s == 0.0


async def test_a_queue_that_is_not_there_is_missing() -> None:
    queue = Queue()
    queue.service.remove("orders")

    with pytest.raises(QueueMissing):
        await queue.sample()


@pytest.mark.parametrize("verb", ["count", "peek"])
@pytest.mark.parametrize("error", [BUSY, *LASTING], ids=name_of)
async def test_a_look_that_fails_says_so_instead_of_zeros(verb: str, error: QueueError) -> None:
    queue = Queue()
    await queue.put(3)
    queue.service.fail(verb, error)

    with pytest.raises(type(error)):
        await queue.sample()

"""What an owner does to a queue, on every implementation."""

from __future__ import annotations

from typing import Protocol, cast

import pytest

from qtrigger.errors import LeaseLostError, QueueMissing
from qtrigger.queues.client import QueueClient, QueueInspector, QueueService, QueueUpkeep


class Owned(QueueClient, QueueInspector, QueueUpkeep, Protocol):
    """A queue with all its verbs."""


def owned(queue: QueueClient) -> Owned:
    return cast("Owned", queue)


async def test_clearing_removes_all_messages_the_hidden_ones_too(queue: QueueClient) -> None:
    for text in ("taken", "visible", "also visible"):
        await queue.send(text)
    await queue.send("delayed", delay_s=600)
    (taken,) = await queue.receive(1, 600)

    await owned(queue).clear()

    assert await owned(queue).approximate_count() == 0
    assert list(await queue.receive(32, 30)) == []
    with pytest.raises(LeaseLostError) as gone:
        await queue.delete(taken.id, taken.pop_receipt)
    assert gone.value.code == "MessageNotFound"


async def test_a_queue_of_nothing_but_hidden_messages_is_cleared(queue: QueueClient) -> None:
    for n in range(40):
        await queue.send(str(n))
    while await queue.receive(32, 600):
        pass
    assert list(await owned(queue).peek(32)) == []
    assert await owned(queue).approximate_count() == 40

    await owned(queue).clear()

    assert await owned(queue).approximate_count() == 0


async def test_a_cleared_queue_goes_on(queue: QueueClient) -> None:
    await owned(queue).clear()
    await owned(queue).clear()
    await queue.send("a")

    assert [message.text for message in await queue.receive(32, 30)] == ["a"]


async def test_clearing_a_missing_queue_says_so(service: QueueService, queue_name: str) -> None:
    with pytest.raises(QueueMissing):
        await owned(service.queue(queue_name)).clear()

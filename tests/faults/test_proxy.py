"""The proxy does what its faults say, and counts it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.queues.account import emulator_account
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.faults.proxy import VERBS, Answer, Drop, Fault, FaultProxy, Hang, Lose, Reset, Slow

CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Behind:
    proxy: FaultProxy
    service: MemoryQueueService
    queue: RestQueueClient

    @property
    def there(self) -> int:
        """Messages that arrived at the service."""
        return len(self.service.peek_all("orders"))


@pytest.fixture
async def behind() -> AsyncIterator[Behind]:
    emulator = BuiltinEmulator(CLOCK)
    emulator.service.make("orders")
    async with FaultProxy(await emulator.start(0)) as proxy:
        client = RestQueueService(emulator_account(proxy.port), CLOCK, timeout_s=0.3)
        yield Behind(proxy, emulator.service, client.queue("orders"))
        await client.close()
    await emulator.stop()


async def test_without_a_fault_every_verb_passes_and_is_counted_by_its_name(
    behind: Behind,
) -> None:
    queue = behind.queue
    await queue.create()
    assert await queue.exists()
    await queue.send("a")
    (message,) = await queue.receive(1, 30.0)
    receipt = await queue.update(message.id, message.pop_receipt, 30.0)
    await queue.delete(message.id, receipt.pop_receipt)
    await queue.peek(1)

    assert behind.proxy.requests == {**dict.fromkeys(VERBS, 1), "peek": 1}
    assert behind.proxy.struck == {}


@pytest.mark.parametrize(
    ("fault", "error", "acted"),
    [
        (Drop(), "BrokenOff", 0),
        (Hang(), "TimedOut", 0),
        (Reset(), "BrokenOff", 1),
        (Lose(), "BrokenOff", 1),
        (Slow(5.0), "TimedOut", 0),
        (Answer(500, "InternalError"), "InternalError", 0),
    ],
    ids=lambda each: type(each).__name__,
)
async def test_a_fault_strikes_once_and_has_or_has_not_let_the_service_act(
    behind: Behind, fault: Fault, error: str, acted: int
) -> None:
    behind.proxy.script(fault, verb="send", times=1)

    with pytest.raises(QueueUnavailable) as raised:
        await behind.queue.send("a")

    assert (raised.value.code, behind.there) == (error, acted)
    await behind.queue.send("b")
    assert (behind.proxy.requests["send"], behind.proxy.struck["send"]) == (2, 1)


async def test_an_answer_of_its_own_is_read_as_the_services(behind: Behind) -> None:
    behind.proxy.script(Answer(503, "ServerBusy", {"Retry-After": "7"}), times=1)
    behind.proxy.script(Answer(403, "AuthorizationFailure"), times=1)

    with pytest.raises(QueueUnavailable) as busy:
        await behind.queue.send("a")
    with pytest.raises(AccessDenied):
        await behind.queue.send("a")

    assert (busy.value.status, busy.value.retry_after_s) == (503, 7.0)


async def test_what_is_down_refuses_until_it_is_up_again(behind: Behind) -> None:
    await behind.proxy.down()
    with pytest.raises(QueueUnavailable) as refused:
        await behind.queue.send("a")
    assert refused.value.code == "CannotConnect"

    await behind.proxy.up()
    await behind.queue.send("a")


async def test_a_chance_is_that_of_the_seed(behind: Behind) -> None:
    behind.proxy.script(Answer(503, "ServerBusy"), chance=0.5)
    failed = 0
    for _ in range(40):
        try:
            await behind.queue.send("a")
        except QueueError:
            failed += 1

    assert 10 <= failed == behind.proxy.struck["send"] <= 30

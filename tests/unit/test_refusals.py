"""What a credential may not do shows at the first failed try where it can be known then."""

from __future__ import annotations

import pytest

from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.events import QueueStateChanged
from qtrigger.queue_state import QueueState
from qtrigger.queues.account import Account, Credential, Sas, SharedKey
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.refusals import Foresight, Refusals
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe

WITHOUT = Sas(token="ss=q&srt=sco&sp=rpau&sig=c2ln")
WITH = Sas(token="ss=q&srt=sco&sp=rpauc&sig=c2ln")
KEY = SharedKey(account="acme", key="QUFBQQ==")


class Bench:
    def __init__(self, credential: Credential) -> None:
        clock = ManualClock()
        self.probe = Probe()
        self.service = MemoryQueueService(clock)
        state = QueueState("charge", "orders", interval_s=2.0, clock=clock, sink=self.probe)
        state.ok()
        account = Account(name="acme", endpoint="http://acme", credential=credential)
        poison = self.service.queue("orders-poison")
        self.foresight = Foresight(poison, account, Refusals("orders-poison", state))

    def told(self) -> list[str]:
        return [event.message for event in self.probe.of(QueueStateChanged)]


async def test_a_poison_queue_that_is_missing_and_cannot_be_made_is_told_once() -> None:
    bench = Bench(WITHOUT)

    await bench.foresight.look()
    await bench.foresight.look()

    (told,) = bench.told()
    assert "orders-poison does not exist, and the SAS lacks the permission c (create)" in told
    assert bench.service.requests["exists"] == 1


async def test_a_poison_queue_that_is_there_need_not_be_made() -> None:
    bench = Bench(WITHOUT)
    bench.service.make("orders-poison")

    await bench.foresight.look()

    assert bench.told() == []


@pytest.mark.parametrize("credential", [WITH, KEY], ids=["sas", "key"])
async def test_where_nothing_rules_it_out_nobody_asks(credential: Credential) -> None:
    bench = Bench(credential)

    await bench.foresight.look()

    assert (bench.told(), bench.service.requests.total()) == ([], 0)


@pytest.mark.parametrize("error", [AccessDenied("no", status=403), QueueUnavailable("gone")])
async def test_a_look_that_fails_says_nothing(error: AccessDenied | QueueUnavailable) -> None:
    bench = Bench(WITHOUT)
    bench.service.fail("exists", error)

    await bench.foresight.look()

    assert bench.told() == []

"""A disposition is carried out as decided, and what is none of them is a defect."""

from __future__ import annotations

import pytest

from qtrigger.dispositions import Abandon, Ack, Disposition, Drop, Poison, TriesPolicy, decide
from qtrigger.errors import AccessDenied
from qtrigger.lease import Lease
from qtrigger.overdue import Overdue
from qtrigger.poison_copies import REMEMBERED_COPIES
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.settlement import Settled, Settlement
from qtrigger.testing.clock import ManualClock
from qtrigger.wakeups import Wakeups

POLICY = TriesPolicy(max_dequeue_count=5, pauses_s=(0.0,), has_poison_queue=True)


class Desk:
    """A message in hand, and what carries dispositions out on its queue."""

    def __init__(self, *, poison: bool = True) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.service.make("orders")
        self.queue = self.service.queue("orders")
        self.settlement = Settlement(
            poison=self.service.queue("orders-poison") if poison else None,
            clock=self.clock,
            wakeups=Wakeups(),
        )

    async def lease(self) -> Lease:
        await self.queue.send("a")
        (message,) = await self.queue.receive(1, 600.0)
        return Lease(
            self.queue,
            message,
            lease_s=600.0,
            received_at=0.0,
            clock=self.clock,
            renewals=Overdue(self.clock),
        )


@pytest.mark.parametrize("disposition", [Abandon(), Drop()], ids=lambda each: type(each).__name__)
async def test_what_is_let_go_is_neither_deleted_nor_released(disposition: Disposition) -> None:
    desk = Desk()
    lease = await desk.lease()

    assert await desk.settlement.carry_out(disposition, lease) == Settled()

    assert (lease.over, lease.settled) == (True, False)
    assert desk.service.requests["delete"] == desk.service.requests["update"] == 0


async def test_poison_without_a_poison_queue_leaves_the_message_to_its_lease() -> None:
    desk = Desk(poison=False)
    lease = await desk.lease()

    assert await desk.settlement.carry_out(Poison(reason="tries"), lease) == Settled()

    assert (lease.over, len(desk.service.peek_all("orders"))) == (True, 1)


async def test_copies_whose_originals_stay_are_remembered_up_to_a_limit() -> None:
    desk = Desk()
    desk.service.fail("delete", AccessDenied("no", status=403), times=None)
    first = await desk.lease()
    leases = [first, *[await desk.lease() for _ in range(REMEMBERED_COPIES)]]

    for lease in leases:
        assert (await desk.settlement.carry_out(Poison(reason="tries"), lease)).copied
    copies = len(desk.service.peek_all("orders-poison"))
    await desk.settlement.carry_out(Poison(reason="tries"), leases[-1])
    assert len(desk.service.peek_all("orders-poison")) == copies

    await desk.settlement.carry_out(Poison(reason="tries"), first)
    assert len(desk.service.peek_all("orders-poison")) == copies + 1


async def test_an_ack_deletes() -> None:
    desk = Desk()
    lease = await desk.lease()

    assert await desk.settlement.carry_out(Ack(), lease) == Settled()

    assert lease.settled
    assert desk.service.peek_all("orders") == []


async def test_what_is_no_outcome_and_no_disposition_is_a_defect() -> None:
    desk = Desk()

    with pytest.raises(AssertionError):
        decide("fine", 1, POLICY)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(AssertionError):
        await desk.settlement.carry_out("ack", await desk.lease())  # type: ignore[arg-type]

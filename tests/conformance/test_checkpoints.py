"""What a run leaves for the next try of its message, as the service has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from qtrigger.errors import QueueRejected, QueueUnavailable
from qtrigger.events import (
    CheckpointNotKept,
    InvocationFinished,
    LeaseEnded,
    LeaseRenewed,
    RenewalFailed,
)
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Outcome,
    Postponed,
    Succeeded,
    TriggerMessage,
)
from qtrigger.project.model import QueueOptions, RetryPolicy
from tests.unit.harness import Bench

FAILED = Failed(error=ErrorDetail(type="ValueError", message="no"))


@dataclass
class Steps:
    """A function on a bench: `leave` is its context's checkpoint, `go` what it does at a try."""

    go: Callable[[Steps, TriggerMessage], Awaitable[Outcome]]
    options: QueueOptions = field(default_factory=lambda: QueueOptions(message_encoding="none"))
    retry: RetryPolicy | None = None
    lease_s: float = 600.0

    def __post_init__(self) -> None:
        self.bench = Bench(self._body, options=self.options, retry=self.retry, lease_s=self.lease_s)

    def leave(self, body: str) -> None:
        next_try = self.bench.invocations[-1].next_try
        assert next_try is not None
        next_try.checkpoint(body.encode())

    async def pause(self, seconds: float) -> None:
        await self.bench.clock.sleep(seconds)

    def text(self) -> str:
        """The message's text at the service."""
        (text,) = self.bench.left()
        return text

    def hidden_s(self) -> float:
        """How long the service hides the message from now on."""
        (message,) = self.bench.service.peek_all("orders")
        return (message.next_visible - self.bench.clock.utcnow()).total_seconds()

    async def _body(self, message: TriggerMessage) -> Outcome:
        return await self.go(self, message)


async def leave_and_fail(steps: Steps, message: TriggerMessage) -> Outcome:
    steps.leave(message.body.decode() + "+")
    return FAILED


async def leave_and_go_on(steps: Steps, message: TriggerMessage) -> Outcome:
    steps.leave("half")
    await steps.pause(200.0)
    return Succeeded()


async def test_a_checkpoint_stands_at_the_service_while_its_run_goes_on() -> None:
    steps = Steps(leave_and_go_on)
    await steps.bench.start("whole")
    await steps.bench.clock.advance(100.0)

    assert steps.text() == "half"
    assert steps.bench.service.counts("orders").invisible == 1
    assert steps.bench.service.requests["update"] == 1
    assert 490.0 <= steps.hidden_s() <= 500.0

    await steps.bench.clock.advance(150.0)
    await steps.bench.stop()
    assert steps.bench.left() == []
    assert steps.bench.bodies == [b"whole"]


async def test_every_later_try_gets_the_newest_text_and_so_does_the_poison_copy() -> None:
    steps = Steps(leave_and_fail)
    await steps.bench.start("a")

    await steps.bench.clock.advance(120.0)
    await steps.bench.stop()

    assert steps.bench.bodies == [b"a", b"a+", b"a++", b"a+++", b"a++++"]
    assert steps.bench.left("orders-poison") == ["a+++++"]
    assert steps.bench.left() == []


async def test_a_host_that_dies_right_after_it_leaves_the_new_text_to_the_next() -> None:
    steps = Steps(leave_and_go_on, lease_s=30.0)
    steps.bench.service.slow("update", 0.1)
    await steps.bench.start("whole")
    await steps.bench.clock.advance(1.0)
    steps.bench.service.fail("update", QueueUnavailable("the host is dead"), times=None)
    steps.bench.service.fail("delete", QueueUnavailable("the host is dead"), times=None)
    await steps.bench.give_up()

    other = Bench(beside=steps.bench)
    await other.start()
    await other.clock.advance(120.0)

    assert other.bodies[:1] == [b"half"]
    steps.bench.service.mend()
    await other.stop()
    await steps.bench.clock.run(steps.bench.listener.settled())


async def test_a_run_that_asks_for_later_comes_back_with_the_text_it_left() -> None:
    async def go(steps: Steps, message: TriggerMessage) -> Outcome:
        if message.body == b"half":
            return Succeeded()
        steps.leave("half")
        return Postponed(delay_s=600.0)

    steps = Steps(go)
    await steps.bench.start("whole")
    await steps.bench.clock.advance(1.0)
    assert (steps.text(), steps.hidden_s()) == ("half", 599.0)

    await steps.bench.clock.advance(660.0)
    await steps.bench.stop()
    assert steps.bench.bodies == [b"whole", b"half"]


async def test_the_next_run_within_a_receipt_gets_it_too() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=1.0, maximum_s=1.0)
    steps = Steps(
        leave_and_fail, QueueOptions(message_encoding="none", max_dequeue_count=1), policy
    )
    await steps.bench.start("a")

    await steps.bench.clock.advance(30.0)
    await steps.bench.stop()

    assert steps.bench.bodies == [b"a", b"a+", b"a++"]
    assert steps.bench.left("orders-poison") == ["a+++"]


async def test_of_many_the_last_counts_and_there_is_one_update_at_a_time() -> None:
    async def go(steps: Steps, _message: TriggerMessage) -> Outcome:
        for number in range(100):
            steps.leave(str(number))
            await steps.pause(0.01)
        await steps.pause(10.0)
        return Succeeded()

    steps = Steps(go)
    steps.bench.service.slow("update", 0.4, times=None)
    await steps.bench.start("a")
    await steps.bench.clock.advance(5.0)

    assert steps.text() == "99"
    assert steps.bench.service.requests["update"] <= 4
    await steps.bench.clock.advance(10.0)
    await steps.bench.stop()
    assert steps.bench.left() == []
    assert steps.bench.probe.of(LeaseEnded) == []


async def test_a_checkpoint_during_a_renewal_waits_for_its_receipt() -> None:
    async def go(steps: Steps, _message: TriggerMessage) -> Outcome:
        await steps.pause(302.0)
        steps.leave("half")
        await steps.pause(20.0)
        return FAILED

    steps = Steps(go)
    steps.bench.service.slow("update", 5.0)  # the renewal at 300 s
    await steps.bench.start("whole")
    await steps.bench.clock.advance(310.0)

    assert steps.text() == "half"
    assert len(steps.bench.probe.of(LeaseRenewed)) == 2
    steps.bench.body = Bench.succeed
    await steps.bench.clock.advance(100.0)
    await steps.bench.stop()
    assert (steps.bench.bodies, steps.bench.left()) == ([b"whole", b"half"], [])
    assert steps.bench.probe.of(LeaseEnded) == []


async def test_a_service_that_does_not_answer_gets_it_soon_after() -> None:
    steps = Steps(leave_and_go_on)
    steps.bench.service.fail("update", QueueUnavailable("no answer"), times=3)
    await steps.bench.start("whole")
    await steps.bench.clock.advance(16.0)

    assert steps.text() == "half"
    assert len(steps.bench.probe.of(RenewalFailed)) == 3
    assert steps.bench.probe.of(CheckpointNotKept) == []
    await steps.bench.clock.advance(300.0)
    await steps.bench.stop()


async def test_what_could_not_be_written_before_the_end_goes_with_the_release() -> None:
    steps = Steps(leave_and_fail)
    steps.bench.service.fail("update", QueueUnavailable("no answer"))
    await steps.bench.start("a")
    await steps.bench.clock.advance(0.0)
    steps.bench.body = Bench.succeed

    await steps.bench.clock.advance(60.0)
    await steps.bench.stop()

    assert steps.bench.bodies == [b"a", b"a+"]


async def test_a_text_that_is_refused_is_told_and_costs_neither_lease_nor_run() -> None:
    steps = Steps(leave_and_go_on, lease_s=60.0)
    steps.bench.service.fail("update", QueueRejected("no such text", status=400))
    await steps.bench.start("whole")
    await steps.bench.clock.advance(250.0)
    await steps.bench.stop()

    (told,) = steps.bench.probe.of(CheckpointNotKept)
    assert told.message == "no such text"
    assert [each.disposition for each in steps.bench.probe.of(InvocationFinished)] == ["acked"]
    assert steps.bench.left() == []


async def test_a_text_that_was_refused_is_not_sent_again_with_the_release() -> None:
    """Where it is refused for good, the message could never be released."""

    async def go(steps: Steps, _message: TriggerMessage) -> Outcome:
        steps.leave("half")
        await steps.pause(10.0)
        return FAILED

    steps = Steps(go)
    steps.bench.service.fail("update", QueueRejected("no such text", status=400))
    await steps.bench.start("whole")
    await steps.bench.clock.advance(5.0)
    steps.bench.body = Bench.succeed
    await steps.bench.clock.advance(60.0)
    await steps.bench.stop()

    assert steps.bench.bodies == [b"whole", b"whole"]


async def test_a_text_that_the_queue_cannot_hold_is_told() -> None:
    async def go(steps: Steps, _message: TriggerMessage) -> Outcome:
        steps.leave("a character that XML has no word for: \x00")
        return Succeeded()

    steps = Steps(go)
    await steps.bench.start("a")
    await steps.bench.probe.wait_for(InvocationFinished)
    await steps.bench.stop()

    assert len(steps.bench.probe.of(CheckpointNotKept)) == 1
    assert steps.bench.service.requests["update"] == 0


async def test_a_checkpoint_of_a_message_that_is_no_longer_ours_is_told_and_not_written() -> None:
    async def go(steps: Steps, _message: TriggerMessage) -> Outcome:
        (message,) = steps.bench.service.peek_all("orders")
        await steps.bench.queue.update(message.id, message.pop_receipt, 600.0, "somebody else's")
        steps.leave("half")
        await steps.pause(1.0)
        steps.leave("more")
        return Succeeded()

    steps = Steps(go)
    await steps.bench.start("whole")
    await steps.bench.clock.advance(5.0)
    await steps.bench.stop()

    assert len(steps.bench.probe.of(LeaseEnded)) == 1
    assert len(steps.bench.probe.of(CheckpointNotKept)) == 2
    assert steps.text() == "somebody else's"


async def test_a_checkpoint_after_the_end_of_its_run_is_told_and_not_written() -> None:
    steps = Steps(leave_and_fail, QueueOptions(message_encoding="none", visibility_timeout_s=60.0))
    await steps.bench.start("a")
    await steps.bench.clock.advance(1.0)

    steps.leave("too late")
    await asyncio.sleep(0)

    (told,) = steps.bench.probe.of(CheckpointNotKept)
    assert "its run has ended" in told.message
    assert steps.text() == "a+"
    await steps.bench.stop()


@pytest.mark.parametrize("encoding", ["base64", "auto", "none"])
async def test_it_is_written_as_the_functions_messages_are_read(encoding: str) -> None:
    steps = Steps(leave_and_fail, QueueOptions(message_encoding=encoding))
    await steps.bench.start("YQ==" if encoding != "none" else "a")

    await steps.bench.clock.advance(120.0)
    await steps.bench.stop()

    assert steps.bench.bodies == [b"a", b"a+", b"a++", b"a+++", b"a++++"]

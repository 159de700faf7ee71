"""Whatever options stand beside each other, and whatever happens: each message has its one end.

Random projects under random faults, pauses and reloads, in virtual time; the seed is the test's.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from qtrigger.errors import QueueUnavailable
from qtrigger.events import InvocationFinished, MessageHandedBack
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    Outcome,
    Postponed,
    Ran,
    Rejected,
    Succeeded,
    WorkerLost,
)
from qtrigger.listener import BY_HAND
from qtrigger.project.model import QueueOptions, RetryPolicy
from qtrigger.project.options import CircuitBreaker, OwnOptions
from qtrigger.tries import TriesOfAll
from tests.unit.harness import Bench

FAILED = Failed(error=ErrorDetail(type="OperationalError", message="the database is down"))
STEPS = 25
# Later messages show that the database is back, where bad ones alone would keep a breaker open.
LATER = 1000


@dataclass
class World:
    """What happens to all hosts alike, and what was seen."""

    random: Random
    down: bool = False
    running: Counter[str] = field(default_factory=Counter)
    starts: list[float] = field(default_factory=list)
    done: Counter[int] = field(default_factory=Counter)
    twice: list[str] = field(default_factory=list)


class Host(Bench):
    """A bench whose function does anything at all."""

    world: World
    processing = 0
    most = 0

    async def _run(self, invocation: Invocation) -> Ran:
        world, messages = self.world, invocation.messages
        world.starts.append(self.clock.monotonic())
        world.twice += [each.id for each in messages if world.running[each.id]]
        world.running.update(each.id for each in messages)
        self.processing += len(messages)
        self.most = max(self.most, self.processing)
        try:
            await self.clock.sleep(world.random.choice([0.0, 0.05, 0.5, 3.0, 20.0]))
            outcomes = self._outcomes(invocation)
        finally:
            world.running.subtract(each.id for each in messages)
            self.processing -= len(messages)
        for message, outcome in zip(messages, outcomes, strict=True):
            if isinstance(outcome, Succeeded):
                world.done[number_of(message.body)] += 1
        return Ran(outcomes=outcomes, duration_s=1.0)

    def _outcomes(self, invocation: Invocation) -> tuple[Outcome, ...]:
        world, messages = self.world, invocation.messages
        if world.down:
            return (FAILED,) * len(messages)
        alone = len(messages) == 1
        whole: tuple[Outcome, ...] = (
            Postponed(delay_s=world.random.choice([0.0, 1.0, 30.0])),
            Rejected(reason="no"),
            WorkerLost(how="killed", alone=alone and invocation.alone),
            Interrupted(by="neighbour"),
        )
        if world.random.random() < 0.15:
            return (world.random.choice(whole),) * len(messages)
        if invocation.next_try is not None and world.random.random() < 0.05:
            (message,) = messages
            invocation.next_try.checkpoint(message.body.replace(b'"kept": ', b'"kept": 1'))
        return tuple(
            FAILED if b"bad" in each.body or world.random.random() < 0.05 else Succeeded()
            for each in messages
        )


def number_of(text: str | bytes) -> int:
    return int(json.loads(text)["number"])


class Chaos:
    """One random project and its hosts, the last of which polls."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.world = World(random)
        self.many = random.random() < 0.35
        self.options = QueueOptions(
            message_encoding="none",
            batch_size=random.choice([1, 2, 16, 32]),
            new_batch_threshold=random.choice([0, 1, 8]),
            max_dequeue_count=random.choice([1, 5]),
        )
        breaker = CircuitBreaker(
            failures=random.choice([1, 3, 10]),
            distinct_messages=1,
            pause_s=random.choice([1.0, 30.0, 300.0]),
        )
        self.own = OwnOptions(
            breaker=breaker if random.random() < 0.6 else None,
            max_per_minute=random.choice([None, 3, 60]),
            max_concurrent=random.choice([None, 1, 3, 100]),
            retry_delays_s=random.choice([(), (0.0,), (1.0, 30.0)]),
            retry_jitter=random.choice([0.0, 0.5]),
            order_by="$.key" if not self.many and random.random() < 0.5 else "",
        )
        policy = RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=1.0, maximum_s=1.0)
        self.retry = policy if not self.many and random.random() < 0.2 else None
        self.max_concurrent = random.choice([None, 2, 8])
        self.tries = TriesOfAll()
        self.hosts: list[Host] = []
        self.count = random.choice([5, 40])

    @property
    def host(self) -> Host:
        return self.hosts[-1]

    def begin_host(self) -> None:
        host = Host(
            options=self.options,
            own=self.own,
            many=self.many,
            retry=self.retry,
            tries=self.tries,
            max_concurrent=self.max_concurrent,
            beside=self.hosts[-1] if self.hosts else None,
        )
        host.world = self.world
        self.hosts.append(host)

    def put(self, number: int) -> None:
        kind = "bad" if self.random.random() < 0.05 and number < LATER else "good"
        body = {
            "number": number,
            "key": self.random.choice([None, 1, 2, number]),
            "kind": kind,
            "kept": 0,
        }
        self.host.service.store("orders").put(json.dumps(body), 0, None)

    def happen(self) -> None:
        """Let something happen; no fault lasts for as long as a lease, and no receipt is lost."""
        random, host = self.random, self.host
        match random.randrange(10):
            case 0:
                verb = random.choice(["receive", "update", "delete", "send", "exists"])
                host.service.fail(verb, QueueUnavailable("busy"), times=random.choice([1, 3, 8]))
            case 1:
                host.service.fail("delete", QueueUnavailable("busy"), carried_out=True)
            case 2:
                verb = random.choice(["receive", "update", "delete"])
                host.service.slow(verb, random.choice([0.01, 1.0, 20.0]), times=3)
            case 3:
                host.listener.pause(BY_HAND)
            case 4 | 5:
                host.listener.resume(BY_HAND)
            case 6:
                self.world.down = True
            case 7:
                self.world.down = False
            case 8:
                host.listener.close_breaker()
            case _:
                self.begin_host()
                host.listener.stop_polling()
                self.host._task = asyncio.create_task(self.host.listener.run())

    async def run(self) -> None:
        self.begin_host()
        await self.host.start()
        for number in range(self.count):
            self.put(number)
        for _ in range(STEPS):
            self.happen()
            await self.host.clock.advance(self.random.choice([0.0, 0.1, 1.0, 7.0, 45.0, 200.0]))
            assert self.hidden() <= self.accounted_for()
        self.world.down = False
        self.host.service.mend()
        self.host.listener.resume(BY_HAND)
        for later in range(300):
            await self.host.clock.advance(300.0)
            if not any(number_of(each) < LATER for each in self.host.left()):
                break
            self.put(LATER + later)
        await self.host.stop()

    def hidden(self) -> set[str]:
        """What nobody can receive now."""
        messages = self.host.service.peek_all("orders")
        now = self.host.clock.utcnow()
        return {each.id for each in messages if each.next_visible > now}

    def accounted_for(self) -> set[str]:
        """What is in hand, and what came back once: it may be hidden for the pause that it got."""
        tasks = [task for host in self.hosts for task in host.listener._in_hand._tasks]
        ids = {task.get_name().split()[-1] for task in tasks}
        for host in self.hosts:
            ids |= {event.message_id for event in host.probe.of(InvocationFinished)}
            ids |= {event.message_id for event in host.probe.of(MessageHandedBack)}
        return ids


@pytest.mark.parametrize("seed", range(16))
async def test_each_message_has_one_end_and_no_limit_is_passed(seed: int) -> None:
    chaos = Chaos(seed)

    await chaos.run()

    world, host = chaos.world, chaos.host
    left = [each for each in host.left() if number_of(each) < LATER]
    poisoned = Counter(number_of(each) for each in host.left("orders-poison"))
    done = Counter({number: n for number, n in world.done.items() if number < LATER})
    assert left == []
    assert done + poisoned == Counter(range(chaos.count))
    assert world.twice == []
    assert passed_limits(chaos) == []
    for each in chaos.hosts:
        assert (each.listener.unsettled, each.listener.stranded) == (0, 0)


def passed_limits(chaos: Chaos) -> list[str]:
    """The limits that were not kept."""
    passed = []
    most = chaos.options.concurrency
    for limit in (chaos.own.max_concurrent, chaos.max_concurrent):
        most = min(most, limit or most)
    passed += [f"{each.most} at once" for each in chaos.hosts if each.most > most]
    rate, starts = chaos.own.max_per_minute, chaos.world.starts
    if rate is not None:
        within = max((sum(at <= each < at + 60.0 for each in starts) for at in starts), default=0)
        passed += [f"{within} in a minute"] if within > rate else []
    return passed

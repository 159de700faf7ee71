"""One function's listener on a real queue service and the machine's own clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

from qtrigger.assembly import Assembly
from qtrigger.clock import SystemClock
from qtrigger.invocation import Invocation, Outcome, Ran, TriggerMessage
from qtrigger.project.model import HostConfig, QueueOptions
from qtrigger.queues.rest import RestQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.probe import Probe
from tests.unit.harness import definition

CLOCK = SystemClock()
LIMIT_S = 20.0
# One at a time, so that a message whose lease ran out is not taken again by its own listener.
OPTIONS = QueueOptions(
    message_encoding="none", batch_size=1, new_batch_threshold=0, max_polling_interval_s=0.1
)

T = TypeVar("T")


class Live:
    """A function `charge` on `queue`; `body` is what it does with a message."""

    def __init__(
        self,
        service: RestQueueService,
        queue: str,
        body: Callable[[TriggerMessage], Awaitable[Outcome]],
        *,
        options: QueueOptions = OPTIONS,
        lease_s: float = 600.0,
    ) -> None:
        self.probe = Probe()
        self.given: list[TriggerMessage] = []
        self._body = body
        self._began = asyncio.Event()
        assembly = Assembly(
            HostConfig(lease_s=lease_s),
            services=QueueServices(lambda _account: service),
            run=self._run,
            clock=CLOCK,
            sink=self.probe,
            random=Random(1),
            changed=lambda: None,
        )
        self.listener = assembly.listener(definition("charge", queue, options=options))

    async def event(self, kind: type[T], *, count: int = 1) -> list[T]:
        """The events of that kind, once there are `count` of them."""
        return await within(self.probe.wait_for(kind, count=count))

    async def began(self, count: int) -> None:
        """Wait until that many runs have begun."""

        async def enough() -> None:
            while len(self.given) < count:
                self._began.clear()
                await self._began.wait()

        await within(enough())

    async def _run(self, invocation: Invocation) -> Ran:
        (message,) = invocation.messages
        self.given.append(message)
        self._began.set()
        return Ran(outcomes=(await self._body(message),), duration_s=0.0)


@asynccontextmanager
async def listening(live: Live) -> AsyncIterator[Live]:
    """Poll until the block ends, then let every message reach its end."""
    polling = asyncio.ensure_future(live.listener.run())
    try:
        yield live
    finally:
        live.listener.stop_polling()
        await within(polling)
        await within(live.listener.settled())


async def within(awaited: Awaitable[T]) -> T:
    """Await it, and give up after `LIMIT_S`."""
    async with CLOCK.timeout(LIMIT_S):
        return await awaited

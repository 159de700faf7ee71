"""A host in this process behind a proxy that refuses, hangs, breaks off or answers busy.

What a message makes its function do is its first word: see `House.work`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

from qtrigger.clock import SystemClock
from qtrigger.host import Host
from qtrigger.project.model import HostConfig, Project, QueueOptions
from qtrigger.queues.account import Credential, emulator_account
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.rest import RestQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.probe import Probe
from qtrigger.throttling import Throttling
from qtrigger.workers.inline import InlineWorker
from tests.faults.proxy import FaultProxy
from tests.unit.harness import definition, output

CLOCK = SystemClock()
LEASE_S = 2.0
REQUEST_S = 1.0
LONGEST_POLL_WAIT_S = 0.2
LIMIT_S = 40.0
OPTIONS = QueueOptions(
    message_encoding="none", max_polling_interval_s=LONGEST_POLL_WAIT_S, max_dequeue_count=10
)
TEXTS = [f"{kind}-{n}" for kind in ("plain", "slow", "once", "never") for n in range(5)]
BINDINGS = (
    {"type": "queueTrigger", "direction": "in", "name": "msg", "queueName": "orders"},
    {"type": "queue", "direction": "out", "name": "$return", "queueName": "receipts"},
)


class House:
    """A host behind a proxy, on an account whose queues the test can see into.

    It has `functions` functions on queues of their own: `queue`, `queue-1` and so on.
    """

    def __init__(
        self,
        proxy: FaultProxy,
        *,
        queue: str = "orders",
        functions: int = 1,
        options: QueueOptions = OPTIONS,
        lease_s: float = LEASE_S,
        request_s: float = REQUEST_S,
        credential: Credential | None = None,
    ) -> None:
        self.proxy = proxy
        self.queues = [f"{queue}-{n}" if n else queue for n in range(functions)]
        self._options = options
        self._lease_s = lease_s
        self._request_s = request_s
        self._credential = credential
        self.probe = Probe()
        self.runs: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self._host = self._make()
        self._failed: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._host.start(workers=1, interpreter="this one", began_at=0.0)
        self._failed = asyncio.ensure_future(self._host.failed())

    async def stop(self, up_to_s: float = 5.0) -> int:
        assert self._failed is not None
        assert not self._failed.done(), self._failed
        self._failed.cancel()
        return await self._host.stop("test", up_to_s=up_to_s, at_once=asyncio.Event())

    @property
    def state(self) -> str:
        (state,) = {listener.state for listener in self._host.listeners}
        return state

    @property
    def throttling(self) -> Sequence[Throttling]:
        return self._host.throttling

    async def work(self, msg: str) -> str:
        """Succeed, succeed late, fail once, or fail always, by the message's first word."""
        self.runs[msg] += 1
        kind = msg.partition("-")[0]
        if kind == "slow":
            await CLOCK.sleep(LEASE_S * 0.8)
        if kind == "never" or (kind == "once" and self.runs[msg] == 1):
            raise ValueError(msg)
        self.done[msg] += 1
        return msg

    def _make(self) -> Host:
        account = emulator_account(self.proxy.port)
        if self._credential is not None:
            account = replace(account, credential=self._credential)
        outputs = (replace(output("$return", "receipts"), account=account),)
        plain = [definition(queue, queue, options=self._options) for queue in self.queues]
        functions = [
            replace(
                each,
                bindings=BINDINGS,
                outputs=outputs,
                trigger=replace(each.trigger, account=account),
            )
            for each in plain
        ]
        project = Project(
            root=Path("/nowhere"),
            environment="Development",
            host=HostConfig(lease_s=self._lease_s),
            settings={},
            functions=tuple(functions),
            failed=(),
            problems=(),
        )
        return Host(
            project,
            services=QueueServices(
                lambda _account: RestQueueService(account, CLOCK, timeout_s=self._request_s)
            ),
            workers=InlineWorker(dict.fromkeys(self.queues, self.work), clock=CLOCK),
            clock=CLOCK,
            sink=self.probe,
            random=Random(1),
        )


@asynccontextmanager
async def behind_proxy(
    *, request_s: float = REQUEST_S, options: QueueOptions = OPTIONS
) -> AsyncIterator[tuple[House, MemoryQueueService]]:
    """A host that does not run yet, and the account behind its proxy."""
    emulator = BuiltinEmulator(CLOCK)
    try:
        async with FaultProxy(await emulator.start(0)) as proxy:
            yield House(proxy, request_s=request_s, options=options), emulator.service
    finally:
        await emulator.stop()


async def until(true: Callable[[], bool], probe: Probe) -> None:
    """Wait for an event after which it holds, within the limit."""
    async with CLOCK.timeout(LIMIT_S):
        while not true():
            seen = len(probe.events)
            await probe.wait_for(object, count=seen + 1)


def texts(service: MemoryQueueService, queue: str) -> list[str]:
    return [m.text for m in service.peek_all(queue)] if queue in service.names() else []


async def put(service: MemoryQueueService, messages: list[str]) -> None:
    await service.queue("orders").create()
    for text in messages:
        await service.queue("orders").send(text)

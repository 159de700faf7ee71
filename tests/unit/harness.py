"""One function's listener around a memory queue, a manual clock and a function of the test's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

from qtrigger.assembly import Assembly
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Invocation,
    Outcome,
    Ran,
    Succeeded,
    TriggerMessage,
)
from qtrigger.listener import Listener
from qtrigger.notices import Notices, Teller
from qtrigger.project.model import (
    FunctionDefinition,
    HostConfig,
    QueueOptions,
    QueueOutput,
    QueueTrigger,
    RetryPolicy,
)
from qtrigger.project.options import OwnOptions, TracingOptions
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe
from qtrigger.tracing import Tracing
from qtrigger.tries import TriesOfAll

ACCOUNT = Account(name="memory", endpoint="http://memory", credential=Sas(token=""))
NO_OPTIONS = OwnOptions()
PLAIN = QueueOptions(message_encoding="none")

Body = Callable[[TriggerMessage], Awaitable[Outcome]]
T = TypeVar("T")


async def succeed(_message: TriggerMessage) -> Outcome:
    return Succeeded()


async def fail(_message: TriggerMessage) -> Outcome:
    return Failed(error=ErrorDetail(type="ValueError", message="no"))


class Steady(Random):
    """Draws the middle of every range."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


class RecordingService(MemoryQueueService):
    """A memory queue that notes when each request was made."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.log: list[tuple[float, str, str]] = []
        self._time = clock.monotonic

    async def request(self, verb: str, queue: str, work: Callable[[], T]) -> T:
        self.log.append((self._time(), verb, queue))
        return await super().request(verb, queue, work)

    def times(self, verb: str, queue: str = "") -> list[float]:
        """When that verb was asked for, to the millisecond."""
        return [
            round(at, 3) for at, asked, name in self.log if asked == verb and queue in ("", name)
        ]

    def order(self, *verbs: str) -> list[tuple[str, str]]:
        """Those verbs and their queues in the order in which they were asked for."""
        return [(verb, queue) for _, verb, queue in self.log if verb in verbs]


class Bench:
    """A function `charge` on queue `orders`; `body` is what it does with a message.

    `beside` another bench it is a second host on the same account, under the same clock; with
    the same `tries` it is the next generation in the same process.
    """

    succeed = staticmethod(succeed)

    def __init__(
        self,
        body: Body = succeed,
        *,
        options: QueueOptions = PLAIN,
        queue: str = "orders",
        lease_s: float = 600.0,
        outputs: tuple[QueueOutput, ...] = (),
        random: Random | None = None,
        beside: Bench | None = None,
        retry: RetryPolicy | None = None,
        tries: TriesOfAll | None = None,
        many: bool = False,
        own: OwnOptions = NO_OPTIONS,
        tellers: Sequence[Teller] = (),
        max_concurrent: int | None = None,
        tracing: Tracing | None = None,
        tracing_options: TracingOptions | None = None,
    ) -> None:
        self.clock: ManualClock = beside.clock if beside else ManualClock()
        self.service: RecordingService = beside.service if beside else RecordingService(self.clock)
        self.probe = Probe()
        self.body = body
        self.bodies: list[bytes] = []
        self.invocations: list[Invocation] = []
        self.most_at_once = 0
        self._at_once = 0
        self.name = queue
        self.queue = self.service.queue(queue)
        function = definition("charge", queue, options=options, outputs=outputs)
        self.function = replace(
            function, retry=retry, trigger=replace(function.trigger, many=many), own=own
        )
        self.assembly = Assembly(
            HostConfig(
                lease_s=lease_s,
                max_concurrent=max_concurrent,
                tracing=tracing_options or TracingOptions(),
            ),
            services=QueueServices(lambda _account: self.service),
            run=self._run,
            clock=self.clock,
            sink=self.probe,
            random=random or Steady(),
            changed=lambda: None,
            tries=tries,
            tracing=tracing,
        )
        self.notices = Notices(clock=self.clock, sink=self.probe)
        notify = self.notices.of(self.function, lambda _function: tellers)
        self.listener: Listener = self.assembly.listener(self.function, notify)
        self._task: asyncio.Task[None] | None = None

    async def start(self, *texts: str) -> None:
        """Make the queue with those messages on it, and let the listener go."""
        await self.queue.create()
        for text in texts:
            await self.queue.send(text)
        self._task = asyncio.create_task(self.listener.run())

    async def stop(self) -> None:
        """Stop polling and let everything reach its end."""
        assert self._task is not None
        self.listener.stop_polling()
        await self.clock.run(self._task)
        await self.clock.run(self.listener.settled())

    async def give_up(self) -> None:
        """Wait no longer for the listener's end, as a host whose time to stop is over."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    def left(self, queue: str | None = None) -> list[str]:
        """The texts on a queue, hidden ones too."""
        name = queue or self.name
        if name not in self.service.names():
            return []
        return [message.text for message in self.service.peek_all(name)]

    async def _run(self, invocation: Invocation) -> Ran:
        began = self.clock.monotonic()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.invocations.append(invocation)
        message = invocation.messages[0]
        self.bodies.append(message.body)
        try:
            outcome = await self.body(message)
        finally:
            self._at_once -= 1
        return Ran(outcomes=(outcome,), duration_s=self.clock.monotonic() - began)


def definition(
    name: str,
    queue: str,
    *,
    options: QueueOptions = PLAIN,
    outputs: tuple[QueueOutput, ...] = (),
) -> FunctionDefinition:
    """A function as the loader would describe it."""
    folder = Path("/nowhere") / name
    return FunctionDefinition(
        name=name,
        directory=folder,
        script_file=folder / "__init__.py",
        entry_point="main",
        source=f"{name}/function.json",
        bindings=(),
        trigger=QueueTrigger(name="msg", queue=queue, connection="Storage", account=ACCOUNT),
        outputs=outputs,
        options=options,
    )


def output(name: str, queue: str) -> QueueOutput:
    """A queue output on the same account."""
    return QueueOutput(name=name, queue=queue, connection="Storage", account=ACCOUNT)


__all__ = ["Bench", "Body", "RecordingService", "definition", "fail", "output", "succeed"]

"""One function's listener around a memory queue, a manual clock and a function of the test's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

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
from qtrigger.project.model import (
    FunctionDefinition,
    HostConfig,
    QueueOptions,
    QueueOutput,
    QueueTrigger,
)
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe

ACCOUNT = Account(name="memory", endpoint="http://memory", credential=Sas(token=""))
PLAIN = QueueOptions(message_encoding="none")

Body = Callable[[TriggerMessage], Awaitable[Outcome]]


async def succeed(_message: TriggerMessage) -> Outcome:
    return Succeeded()


async def fail(_message: TriggerMessage) -> Outcome:
    return Failed(error=ErrorDetail(type="ValueError", message="no"))


class Steady(Random):
    """Draws the middle of every range."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


class Bench:
    """A function `charge` on queue `orders`; `body` is what it does with a message."""

    succeed = staticmethod(succeed)

    def __init__(
        self,
        body: Body = succeed,
        *,
        options: QueueOptions = PLAIN,
        queue: str = "orders",
        lease_s: float = 600.0,
        outputs: tuple[QueueOutput, ...] = (),
    ) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.probe = Probe()
        self.body = body
        self.bodies: list[bytes] = []
        self.most_at_once = 0
        self._at_once = 0
        self.name = queue
        self.queue = self.service.queue(queue)
        self.function = definition("charge", queue, options=options, outputs=outputs)
        self.assembly = Assembly(
            HostConfig(lease_s=lease_s),
            services=QueueServices(lambda _account: self.service),
            run=self._run,
            clock=self.clock,
            sink=self.probe,
            random=Steady(),
            changed=lambda: None,
        )
        self.listener: Listener = self.assembly.listener(self.function)
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


__all__ = ["Bench", "Body", "definition", "fail", "output", "succeed"]

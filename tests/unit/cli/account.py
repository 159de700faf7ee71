"""The built-in emulator in a thread of its own, so that verbs in the test's process reach it."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from qtrigger.clock import SystemClock
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.memory import MemoryQueueService

LIMIT_S = 10.0


class Account:
    """Queues behind HTTP, and a look behind it."""

    def __init__(self, service: MemoryQueueService, port: int) -> None:
        self.service = service
        self.connection = (
            f"DefaultEndpointsProtocol=http;AccountName={EMULATOR_ACCOUNT};"
            f"AccountKey={EMULATOR_KEY};"
            f"QueueEndpoint=http://127.0.0.1:{port}/{EMULATOR_ACCOUNT};"
        )

    def put(self, queue: str, *bodies: str | bytes) -> list[str]:
        """Put bodies in base64, making the queue; their ids."""
        return self.put_raw(queue, *(in_base64(each) for each in bodies))

    def put_raw(self, queue: str, *texts: str) -> list[str]:
        """Put texts as they are, making the queue; their ids."""
        self.service.make(queue)
        return [self.service.store(queue).put(each, None, -1.0).id for each in texts]

    def hide(self, queue: str, count: int) -> None:
        """Take messages, as a host does."""
        self.service.store(queue).receive(count, 300.0)

    def texts(self, queue: str) -> list[str]:
        """The texts of a queue, in the order of their arrival."""
        return [each.text for each in self.service.peek_all(queue)]

    def bodies(self, queue: str) -> list[str]:
        """As `texts`, decoded."""
        return [base64.b64decode(each).decode() for each in self.texts(queue)]

    def tries(self, queue: str) -> list[int]:
        """How often each message was received."""
        return [each.dequeue_count for each in self.service.peek_all(queue)]

    def visible(self, queue: str) -> int:
        """How many could be received now."""
        return self.service.counts(queue).visible


def in_base64(body: str | bytes) -> str:
    """The text on the wire for a body."""
    return base64.b64encode(body.encode() if isinstance(body, str) else body).decode()


@contextmanager
def account() -> Iterator[Account]:
    """An account that ends with the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    emulator = BuiltinEmulator(SystemClock())
    try:
        port = asyncio.run_coroutine_threadsafe(emulator.start(0), loop).result(LIMIT_S)
        yield Account(emulator.service, port)
    finally:
        asyncio.run_coroutine_threadsafe(emulator.stop(), loop).result(LIMIT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LIMIT_S)
        loop.close()

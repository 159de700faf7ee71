"""The queue services that the contract is held against, each over the protocol alone."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from qtrigger.clock import SystemClock
from qtrigger.queues.account import Credential, emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.client import QueueClient, QueueService
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.rest import RestQueueService

CLOCK = SystemClock()

_numbers = itertools.count()


@pytest.fixture
def queue_name() -> str:
    """A name that no other test uses."""
    return f"t{next(_numbers)}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=["memory", "built-in", "azurite"])
def kind(request: pytest.FixtureRequest) -> str | AzuriteProcess:
    """Which implementation; Azurite is started by the first test that wants it."""
    if request.param == "azurite":
        process: AzuriteProcess = request.getfixturevalue("azurite")
        return process
    return str(request.param)


@pytest.fixture
async def service(kind: str | AzuriteProcess) -> AsyncIterator[QueueService]:
    """Each implementation in turn."""
    emulator = BuiltinEmulator(CLOCK)
    made: QueueService
    if isinstance(kind, AzuriteProcess):
        made = RestQueueService(emulator_account(kind.port), CLOCK)
    elif kind == "built-in":
        made = RestQueueService(emulator_account(await emulator.start(0)), CLOCK)
    else:
        made = MemoryQueueService(CLOCK)
    yield made
    await made.close()
    await emulator.stop()


@pytest.fixture
async def queue(service: QueueService, queue_name: str) -> QueueClient:
    """A fresh, empty queue."""
    fresh = service.queue(queue_name)
    await fresh.create()
    return fresh


@pytest.fixture
async def azurite_service(
    azurite: AzuriteProcess,
) -> AsyncIterator[Callable[[Credential | None], RestQueueService]]:
    """Makes clients of the real Azurite with the credential of one's choice."""
    made: list[RestQueueService] = []

    def make(credential: Credential | None = None) -> RestQueueService:
        account = emulator_account(azurite.port)
        if credential is not None:
            account = replace(account, credential=credential)
        made.append(RestQueueService(account, CLOCK))
        return made[-1]

    yield make
    for each in made:
        await each.close()

"""The queue services that the contract is held against, each over the protocol alone."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

import pytest
import uvloop

from qtrigger.clock import SystemClock
from qtrigger.queues.account import Credential, emulator_account
from qtrigger.queues.aiohttp_transport import AiohttpTransport
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.client import QueueClient, QueueService
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.httptools_transport import HttptoolsTransport
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.rest import RestQueueService
from tests.contract.sockets import QueueAt, Way, queue_by

CLOCK = SystemClock()

_numbers = itertools.count()

WAYS: dict[str, Way] = {"httptools": HttptoolsTransport, "aiohttp": AiohttpTransport}
CLOSE_TO_SOCKETS = (
    "test_transport.py",
    "test_one_try.py",
    "test_connections_kept.py",
    "test_parity_requests.py",
    "test_parity_answers.py",
)
LOOPS: Mapping[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.SelectorEventLoop,
    "uvloop": uvloop.new_event_loop,
}


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What is close to the sockets runs on each loop that a host may run on."""
    close = item.path.name in CLOSE_TO_SOCKETS
    return LOOPS if close else {"asyncio": LOOPS["asyncio"]}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """Each way of HTTP."""
    return WAYS[request.param]


@pytest.fixture
def queue_at(way: Way) -> QueueAt:
    """Makes clients of the queue `orders` at an address, by each way of HTTP."""
    return partial(queue_by, way)


@pytest.fixture
def queue_name() -> str:
    """A name that no other test uses."""
    return f"t{next(_numbers)}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=["memory", "built-in", "built-in by aiohttp", "azurite"])
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
    elif kind == "built-in by aiohttp":
        account = emulator_account(await emulator.start(0))
        parts = urlsplit(account.endpoint)
        by = AiohttpTransport(f"{parts.scheme}://{parts.netloc}")
        made = RestQueueService(account, CLOCK, transport=by)
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

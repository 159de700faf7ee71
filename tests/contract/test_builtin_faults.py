"""Faults scripted into the built-in emulator reach the REST client as what they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import (
    AccessDenied,
    EmulatorError,
    LeaseLostError,
    MessageTooLarge,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.queues.account import emulator_account
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.rest import RestQueueClient, RestQueueService

CLOCK = SystemClock()


@pytest.fixture
async def emulator() -> AsyncIterator[BuiltinEmulator]:
    emulator = BuiltinEmulator(CLOCK)
    yield emulator
    await emulator.stop()


@pytest.fixture
async def queue(emulator: BuiltinEmulator) -> AsyncIterator[RestQueueClient]:
    service = RestQueueService(emulator_account(await emulator.start(0)), CLOCK)
    emulator.service.make("orders")
    yield service.queue("orders")
    await service.close()


@pytest.mark.parametrize(
    "error",
    [
        QueueUnavailable("x"),
        QueueUnavailable("x", status=500, code="OperationTimedOut"),
        QueueMissing("x"),
        QueueMissing("x", status=409, code="QueueBeingDeleted"),
        LeaseLostError("x"),
        LeaseLostError("x", status=400, code="PopReceiptMismatch"),
        AccessDenied("x"),
        MessageTooLarge("x"),
        QueueRejected("x"),
        QueueRejected("x", status=409, code="QueueDisabled"),
    ],
    ids=lambda error: f"{type(error).__name__}-{error.code}",
)
async def test_each_kind_of_error_comes_through(
    emulator: BuiltinEmulator, queue: RestQueueClient, error: QueueError
) -> None:
    emulator.service.fail("send", error)

    with pytest.raises(type(error)) as raised:
        await queue.send("x")

    assert type(raised.value) is type(error)
    if error.status:
        assert (raised.value.status, raised.value.code) == (error.status, error.code)
    await queue.send("x")


async def test_the_wish_for_a_pause_comes_through(
    emulator: BuiltinEmulator, queue: RestQueueClient
) -> None:
    emulator.service.fail("receive", QueueUnavailable("busy", status=503, retry_after_s=7))

    with pytest.raises(QueueUnavailable) as busy:
        await queue.receive(1, 30)

    assert busy.value.retry_after_s == 7


async def test_closing_answers_a_request_under_way(
    emulator: BuiltinEmulator, queue: RestQueueClient
) -> None:
    emulator.service.slow("receive", 30)
    service = RestQueueService(emulator_account(_port(queue)), CLOCK)
    waiting = asyncio.create_task(service.queue("orders").receive(1, 30))
    async with CLOCK.timeout(20):
        while not emulator.service.requests["receive"]:
            await CLOCK.sleep(0.01)

    await service.close()

    with pytest.raises(QueueUnavailable):
        await waiting


async def test_a_cancelled_request_leaves_the_service_usable(
    emulator: BuiltinEmulator, queue: RestQueueClient
) -> None:
    emulator.service.slow("receive", 30)
    waiting = asyncio.create_task(queue.receive(1, 30))
    async with CLOCK.timeout(20):
        while not emulator.service.requests["receive"]:
            await CLOCK.sleep(0.01)

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert list(await queue.receive(1, 30)) == []


async def test_a_port_that_is_taken_is_an_error(emulator: BuiltinEmulator) -> None:
    port = await emulator.start(0)

    with pytest.raises(EmulatorError, match=f"127.0.0.1:{port}: "):
        await BuiltinEmulator(CLOCK).start(port)


def _port(queue: RestQueueClient) -> int:
    port = urlsplit(queue.address).port
    assert port is not None
    return port

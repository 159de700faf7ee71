"""Listing queues by the SDK, and its errors in our own family."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.queues.account import EMULATOR_ACCOUNT, Identity, SharedKey, emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.management import list_queues
from qtrigger.queues.rest import RestQueueService

CLOCK = SystemClock()


@pytest.fixture(params=["built-in", "azurite"])
def listing_kind(request: pytest.FixtureRequest) -> AzuriteProcess | None:
    if request.param == "built-in":
        return None
    process: AzuriteProcess = request.getfixturevalue("azurite")
    return process


async def test_queues_are_listed_by_prefix(
    listing_kind: AzuriteProcess | None, queue_name: str
) -> None:
    emulator = BuiltinEmulator(CLOCK)
    account = emulator_account(listing_kind.port if listing_kind else await emulator.start(0))
    service = RestQueueService(account, CLOCK)
    names = [f"{queue_name}-{letter}" for letter in "abc"]
    for name in reversed(names):
        await service.queue(name).create()

    assert await list_queues(account, CLOCK, prefix=queue_name) == names
    assert set(names) <= set(await list_queues(account, CLOCK))
    assert await list_queues(account, CLOCK, prefix=f"{queue_name}-x") == []

    await service.close()
    await emulator.stop()


async def test_a_wrong_key_is_denied_in_our_words(azurite: AzuriteProcess) -> None:
    account = replace(
        emulator_account(azurite.port),
        credential=SharedKey(account=EMULATOR_ACCOUNT, key="QUFBQQ=="),
    )

    with pytest.raises(AccessDenied, match=r"refused to list the queues .* key is not one of"):
        await list_queues(account, CLOCK)


async def test_nobody_there_is_unavailable() -> None:
    emulator = BuiltinEmulator(CLOCK)
    port = await emulator.start(0)
    await emulator.stop()

    with pytest.raises(QueueUnavailable, match=r"is the emulator running\?"):
        await list_queues(emulator_account(port), CLOCK)


async def test_an_identity_over_http_is_denied(azurite: AzuriteProcess) -> None:
    account = replace(emulator_account(azurite.port), credential=Identity(kind="default"))

    with pytest.raises(AccessDenied, match="https only"):
        await list_queues(account, CLOCK)

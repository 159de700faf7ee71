"""A host on a real Azurite whose credential may do a part only, or whose queue comes and goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from azure.storage.queue import AccountSasPermissions, ResourceTypes, generate_account_sas

from qtrigger.events import InvocationFinished, QueueStateChanged
from qtrigger.queues import wire
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY, Sas, emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.rest import RestQueueService
from qtrigger.queues.wire import Request
from qtrigger.telemetry.lines import line_of
from tests.faults.house import CLOCK, OPTIONS, House, until
from tests.faults.proxy import FaultProxy

LEASE_S = 20.0


def account_sas(**permissions: bool) -> Sas:
    return Sas(
        token=generate_account_sas(
            EMULATOR_ACCOUNT,
            EMULATOR_KEY,
            resource_types=ResourceTypes(container=True, object=True),
            permission=AccountSasPermissions(**permissions),
            expiry=datetime.now(UTC) + timedelta(hours=1),
        )
    )


def told(house: House) -> list[str]:
    return [event.state for event in house.probe.of(QueueStateChanged)]


MAY_TAKE = {"read": True, "process": True}


@pytest.mark.parametrize(
    ("name", "permissions", "tries", "words"),
    [
        ("no-update", MAY_TAKE, 10, ["refused to update a message", "lacks the permission u"]),
        ("no-add", {**MAY_TAKE, "update": True}, 1, ["refused to put a message", "permission a"]),
        (
            "no-create",
            {**MAY_TAKE, "update": True, "add": True},
            1,
            ["refused to create the queue", "permission c"],
        ),
        (
            "no-create-yet",
            {**MAY_TAKE, "update": True, "add": True},
            1000,
            ["no-create-yet-poison does not exist", "lacks the permission c"],
        ),
    ],
)
async def test_a_sas_that_allows_a_part_degrades_the_listener_once_and_loses_nothing(
    azurite: AzuriteProcess, name: str, permissions: dict[str, bool], tries: int, words: list[str]
) -> None:
    direct = RestQueueService(emulator_account(azurite.port), CLOCK)
    queue = direct.queue(name)
    await queue.create()
    async with FaultProxy(azurite.port) as proxy:
        house = House(
            proxy,
            queue=name,
            options=replace(OPTIONS, max_dequeue_count=tries, visibility_timeout_s=LEASE_S),
            lease_s=LEASE_S,
            request_s=10.0,
            credential=account_sas(**permissions),
        )
        if name == "no-add":
            await direct.queue(f"{name}-poison").create()
        for text in ("never-1", "never-2"):
            await queue.send(text)
        await house.start()
        await until(lambda: len(house.probe.of(InvocationFinished)) == 2, house.probe)
        asked = sum(proxy.requests.values())
        await CLOCK.sleep(1.0)

        assert (told(house), house.state) == (["degraded"], "degraded")
        line = line_of(house.probe.of(QueueStateChanged)[0])
        assert line.event == "queue.degraded"
        said = f"{line.text} {line.hint}"
        assert all(word in said for word in [*words, "or the role 'Storage Queue Data"])
        assert "sig=" not in said
        assert sum(house.runs.values()) == 2
        # Polls every 0.2 s, and nothing else.
        assert sum(proxy.requests.values()) - asked <= 10
        assert await queue.approximate_count() == 2
        await house.stop()
    await direct.close()


async def test_a_listener_recovers_when_the_poison_queue_is_made_by_somebody_else(
    azurite: AzuriteProcess,
) -> None:
    direct = RestQueueService(emulator_account(azurite.port), CLOCK)
    queue = direct.queue("made-later")
    await queue.create()
    await queue.send("never-1")
    async with FaultProxy(azurite.port) as proxy:
        house = House(
            proxy,
            queue="made-later",
            options=replace(OPTIONS, max_dequeue_count=1),
            credential=account_sas(**MAY_TAKE, update=True, add=True),
            request_s=10.0,
        )
        await house.start()
        await until(lambda: told(house) == ["degraded"], house.probe)
        await direct.queue("made-later-poison").create()

        await until(lambda: told(house) == ["degraded", "ok"], house.probe)

        assert await direct.queue("made-later-poison").approximate_count() == 1
        assert await house.stop() == 0
    await direct.close()


async def test_a_queue_deleted_and_made_again_is_picked_up_with_one_line_at_each_change(
    azurite: AzuriteProcess,
) -> None:
    direct = RestQueueService(emulator_account(azurite.port), CLOCK)
    queue = direct.queue("comes-and-goes")
    await queue.create()
    delete = Request(
        operation=wire.CLEAR_MESSAGES,
        method="DELETE",
        path=f"/{EMULATOR_ACCOUNT}/comes-and-goes",
    )
    async with FaultProxy(azurite.port) as proxy:
        house = House(proxy, queue="comes-and-goes", request_s=10.0)
        await house.start()
        await queue.send("plain-1")
        await until(lambda: house.done["plain-1"] == 1, house.probe)
        await direct.exchange(queue.address, delete, (204,))
        await until(lambda: told(house) == ["missing"], house.probe)
        asked = sum(proxy.requests.values())
        await CLOCK.sleep(1.0)
        assert sum(proxy.requests.values()) - asked <= 7

        await queue.create()
        await queue.send("plain-2")
        await until(lambda: house.done["plain-2"] == 1, house.probe)

        assert told(house) == ["missing", "ok"]
        assert await house.stop() == 0
    await direct.close()

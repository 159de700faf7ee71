"""Keys and signatures on a real Azurite: what each may do, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from azure.storage.queue import (
    AccountSasPermissions,
    QueueSasPermissions,
    ResourceTypes,
    generate_account_sas,
    generate_queue_sas,
)

from qtrigger.errors import AccessDenied, QueueError
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY, Credential, Sas, SharedKey
from qtrigger.queues.rest import RestQueueService

Make = Callable[[Credential | None], RestQueueService]


def queue_sas(queue: str, permission: str, *, hours: float = 1) -> Sas:
    return Sas(
        token=generate_queue_sas(
            EMULATOR_ACCOUNT,
            queue,
            EMULATOR_KEY,
            permission=QueueSasPermissions.from_string(permission),
            expiry=datetime.now(UTC) + timedelta(hours=hours),
        )
    )


@pytest.fixture
async def filled(azurite_service: Make, queue_name: str) -> str:
    """The name of a queue with one message."""
    queue = azurite_service(None).queue(queue_name)
    await queue.create()
    await queue.send("x")
    return queue_name


async def test_a_sas_for_processing_takes_and_deletes(azurite_service: Make, filled: str) -> None:
    queue = azurite_service(queue_sas(filled, "p")).queue(filled)

    (message,) = await queue.receive(1, 30)

    await queue.delete(message.id, message.pop_receipt)


async def test_a_sas_to_read_add_and_process_takes_and_puts_and_makes_no_queue(
    azurite_service: Make, filled: str
) -> None:
    service = azurite_service(queue_sas(filled, "rap"))
    queue = service.queue(filled)

    assert len(await queue.receive(1, 30)) == 1
    await queue.send("y")
    with pytest.raises(AccessDenied, match="create the queue"):
        await service.queue(f"{filled}-poison").create()


async def test_a_sas_to_read_alone_may_look_and_take_nothing(
    azurite_service: Make, filled: str
) -> None:
    queue = azurite_service(queue_sas(filled, "r")).queue(filled)

    assert await queue.exists()
    with pytest.raises(AccessDenied, match=r"permission p \(process\)"):
        await queue.receive(1, 30)


async def test_a_sas_with_its_question_mark_works_too(azurite_service: Make, filled: str) -> None:
    sas = queue_sas(filled, "p")
    queue = azurite_service(Sas(token=f"?{sas.token}\n")).queue(filled)

    assert len(await queue.receive(1, 30)) == 1


async def test_a_refusal_names_the_operation_and_the_permission_it_needs(
    azurite_service: Make, filled: str
) -> None:
    queue = azurite_service(queue_sas(filled, "p")).queue(filled)
    (message,) = await queue.receive(1, 30)

    with pytest.raises(AccessDenied, match=r"put a message .*permission a \(add\)"):
        await queue.send("y")
    with pytest.raises(AccessDenied, match=r"update a message .*permission u \(update\)"):
        await queue.update(message.id, message.pop_receipt, 0)
    with pytest.raises(AccessDenied, match="create the queue"):
        await queue.create()
    with pytest.raises(AccessDenied, match=r"properties .*permission r \(read\)"):
        await queue.exists()


async def test_an_account_sas_creates_queues(azurite_service: Make, queue_name: str) -> None:
    token = generate_account_sas(
        EMULATOR_ACCOUNT,
        EMULATOR_KEY,
        resource_types=ResourceTypes(service=True, container=True, object=True),
        permission=AccountSasPermissions(
            read=True, write=True, create=True, add=True, process=True, update=True
        ),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )
    queue = azurite_service(Sas(token=token)).queue(queue_name)

    await queue.create()
    await queue.send("a+b")

    (message,) = await queue.receive(1, 30)
    renewed = await queue.update(message.id, message.pop_receipt, 30)
    await queue.delete(message.id, renewed.pop_receipt)


async def test_an_expired_sas_is_called_so(azurite_service: Make, filled: str) -> None:
    queue = azurite_service(queue_sas(filled, "p", hours=-1)).queue(filled)

    with pytest.raises(AccessDenied, match="expired"):
        await queue.receive(1, 30)


async def test_a_wrong_key_is_called_so(azurite_service: Make, filled: str) -> None:
    queue = azurite_service(SharedKey(account=EMULATOR_ACCOUNT, key="QUFBQQ==")).queue(filled)

    with pytest.raises(AccessDenied, match="key is not one of account"):
        await queue.receive(1, 30)


async def test_no_refusal_shows_the_secret(azurite_service: Make, filled: str) -> None:
    sas = queue_sas(filled, "r")
    service = azurite_service(sas)

    with pytest.raises(QueueError) as refused:
        await service.queue(filled).receive(1, 30)

    signature = sas.token.partition("sig=")[2].partition("&")[0]
    shown = f"{refused.value!r} {refused.value} {service.account!r} {service.queue(filled)!r}"
    assert signature
    assert signature not in shown
    assert "sig=" not in shown

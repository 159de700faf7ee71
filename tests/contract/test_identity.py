"""A managed identity end to end: azure-identity's own credential, a token, a real Azurite."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import jwt
import pytest
from aiohttp import web

from qtrigger.clock import SystemClock
from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.queues.account import EMULATOR_ACCOUNT, Account, Identity
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_process import AzuriteProcess, start_azurite
from qtrigger.queues.rest import RestQueueService
from tests.contract.certificates import write_certificate
from tests.contract.sockets import listening

CLOCK = SystemClock()


class Issuer:
    """Stands for the machine's identity endpoint; remembers who asked for what."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.audience = "https://storage.azure.com/"

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.query))
        now = int(time.time())
        claims = {
            "aud": self.audience,
            "iss": f"https://sts.windows.net/{uuid.uuid4()}/",
            "iat": now - 60,
            "nbf": now - 60,
            "exp": now + 3600,
        }
        return web.json_response(
            {
                "access_token": jwt.encode(claims, "k" * 48, algorithm="HS256"),
                "expires_on": str(now + 3600),
                "resource": request.query["resource"],
                "token_type": "Bearer",
            }
        )


@pytest.fixture
async def issuer(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Issuer]:
    issuer = Issuer()
    app = web.Application()
    app.router.add_get("/msi/token", issuer.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "x")
    yield issuer
    await runner.cleanup()


@pytest.fixture
async def account(
    azurite: AzuriteProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[[Identity], Account]]:
    """An Azurite of its own, with https and tokens."""
    assert azurite.pid  # installed by now
    certificate = str(write_certificate(tmp_path / "cert.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    found = find(tmp_path, Machine.here())
    assert found is not None
    flags = ("--oauth", "basic", "--cert", certificate, "--key", certificate)
    process = await start_azurite(found, 0, CLOCK, data=None, flags=flags)
    endpoint = f"https://127.0.0.1:{process.port}/{EMULATOR_ACCOUNT}"
    yield lambda identity: Account(name="acme", endpoint=endpoint, credential=identity)
    await process.stop()


async def test_a_managed_identity_works_a_queue_on_one_token(
    account: Callable[[Identity], Account], issuer: Issuer, queue_name: str
) -> None:
    identity = Identity(kind="managedidentity", client_id="3f1c")
    service = RestQueueService(account(identity), CLOCK)
    queue = service.queue(queue_name)

    await queue.create()
    await queue.send("x")
    (message,) = await queue.receive(1, 30)
    renewed = await queue.update(message.id, message.pop_receipt, 60)
    await queue.delete(message.id, renewed.pop_receipt)
    await service.close()

    assert [(asked["resource"], asked["client_id"]) for asked in issuer.asked] == [
        ("https://storage.azure.com", "3f1c")
    ]


async def test_a_token_for_something_else_is_refused_in_words(
    account: Callable[[Identity], Account], issuer: Issuer, queue_name: str
) -> None:
    issuer.audience = "https://vault.azure.net"
    service = RestQueueService(account(Identity(kind="managedidentity")), CLOCK)

    with pytest.raises(AccessDenied, match=r"token of the identity \(managedidentity\)"):
        await service.queue(queue_name).receive(1, 30)

    await service.close()


async def test_an_issuer_that_is_not_there_is_named(
    account: Callable[[Identity], Account],
    queue_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    service = RestQueueService(account(Identity(kind="workloadidentity")), CLOCK)

    with pytest.raises(AccessDenied, match=r"no token for the identity \(workloadidentity\)"):
        await service.queue(queue_name).receive(1, 30)

    await service.close()


async def test_the_deadline_of_a_verb_is_over_the_token_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as port:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{port}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", "x")
        account = Account(
            name="acme",
            endpoint="https://127.0.0.1:1/acme",
            credential=Identity(kind="managedidentity"),
        )
        service = RestQueueService(account, CLOCK, timeout_s=0.2)

        with pytest.raises(QueueUnavailable, match=r"within 0\.2 s") as late:
            await service.queue("orders").receive(1, 30)
        await service.close()

    assert late.value.code == "TimedOut"

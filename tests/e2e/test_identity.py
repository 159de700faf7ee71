"""Each kind of identity, end to end: azure-identity's own code, a token, https, a real service."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import jwt
import pytest
from aiohttp import web

from qtrigger.clock import SystemClock
from qtrigger.queues.account import EMULATOR_ACCOUNT
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_process import AzuriteProcess, start_azurite
from tests.contract.certificates import write_certificate
from tests.e2e.support import REPOSITORY, qtrigger

CLOCK = SystemClock()
TENANT = "11111111-2222-3333-4444-555555555555"
CLIENT = "66666666-7777-8888-9999-000000000000"
SECRET = "Abc8Q~the-secret-of-the-app-0123456789"


@dataclass(slots=True)
class Issuers:
    """The machine's identity endpoint and the tenant's authority; they note what is asked."""

    machine: list[Mapping[str, str]] = field(default_factory=list)
    tenant: list[Mapping[str, str]] = field(default_factory=list)
    endpoint: str = ""
    authority: str = ""

    async def of_machine(self, request: web.Request) -> web.Response:
        self.machine.append(dict(request.query))
        return web.json_response(
            {"access_token": token(), "expires_on": str(int(time.time()) + 3600), "resource": "x"}
        )

    async def discovery(self, request: web.Request) -> web.Response:
        base = f"{self.authority}/{request.match_info['tenant']}"
        return web.json_response(
            {
                "issuer": f"{base}/v2.0",
                "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
                "token_endpoint": f"{base}/oauth2/v2.0/token",
            }
        )

    async def of_tenant(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.tenant.append({key: str(value) for key, value in form.items()})
        return web.json_response(
            {"access_token": token(), "expires_in": 3600, "token_type": "Bearer"}
        )


def token() -> str:
    now = int(time.time())
    claims = {
        "aud": "https://storage.azure.com/",
        "iss": f"https://sts.windows.net/{uuid.uuid4()}/",
        "iat": now - 60,
        "nbf": now - 60,
        "exp": now + 3600,
    }
    return jwt.encode(claims, "k" * 48, algorithm="HS256")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return write_certificate(tmp_path / "cert.pem")


@pytest.fixture
async def issuers(certificate: Path) -> AsyncIterator[Issuers]:
    issuers = Issuers()
    app = web.Application()
    app.router.add_get("/msi/token", issuers.of_machine)
    app.router.add_get("/{tenant}/v2.0/.well-known/openid-configuration", issuers.discovery)
    app.router.add_post("/{tenant}/oauth2/v2.0/token", issuers.of_tenant)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    plain, secure = (address[1] for address in runner.addresses)
    issuers.endpoint = f"http://127.0.0.1:{plain}/msi/token"
    issuers.authority = f"https://127.0.0.1:{secure}"
    yield issuers
    await runner.cleanup()


@pytest.fixture
async def address(azurite: AzuriteProcess, tmp_path: Path, certificate: Path) -> AsyncIterator[str]:
    """The queue service's address, of an Azurite of its own with https and tokens."""
    assert azurite.pid  # installed by now
    found = find(tmp_path, Machine.here())
    assert found is not None
    flags = ("--oauth", "basic", "--cert", str(certificate), "--key", str(certificate))
    process = await start_azurite(found, 0, CLOCK, data=None, flags=flags)
    yield f"https://127.0.0.1:{process.port}/{EMULATOR_ACCOUNT}"
    await process.stop()


KEYS = {
    "the system's managed identity": {"credential": "managedidentity"},
    "a managed identity of one's own": {"credential": "managedidentity", "clientId": CLIENT},
    "the default one": {},
    "a client secret": {"tenantId": TENANT, "clientId": CLIENT, "clientSecret": SECRET},
    "a client certificate": {
        "tenantId": TENANT,
        "clientId": CLIENT,
        "clientCertificatePath": "{certificate}",
    },
    "a workload identity": {
        "credential": "workloadidentity",
        "tenantId": TENANT,
        "clientId": CLIENT,
        "tokenFilePath": "{token_file}",
    },
}


def environment(
    issuers: Issuers, home: Path, certificate: Path, keys: Mapping[str, str]
) -> dict[str, str]:
    """A machine with an identity endpoint and an authority of its own; `keys` are of Q."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(REPOSITORY),
        "SSL_CERT_FILE": str(certificate),
        "AZURE_AUTHORITY_HOST": issuers.authority,
        "IDENTITY_ENDPOINT": issuers.endpoint,
        "IDENTITY_HEADER": "x",
        **{f"Q__{key}": value for key, value in keys.items()},
    }


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("key_of_address", ["queueServiceUri", "serviceUri"])
async def test_every_kind_of_identity_sends_ten_messages_on_one_token(
    address: str,
    issuers: Issuers,
    tmp_path: Path,
    certificate: Path,
    keys: Mapping[str, str],
    key_of_address: str,
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("a-token-of-the-platform")
    (tmp_path / "host.json").write_text('{"version": "2.0"}')
    named = {
        key: value.format(certificate=certificate, token_file=token_file)
        for key, value in {key_of_address: address, **keys}.items()
    }
    environ = environment(issuers, tmp_path, certificate, named)

    ended = await asyncio.to_thread(
        lambda: qtrigger(
            *("send", "orders", "x", "--count", "10", "--connection", "Q"),
            *("--project", str(tmp_path)),
            environ=environ,
        )
    )

    assert ended.stderr == ""
    assert ended.stdout == "sent 10 to orders (base64)\n"
    asked = issuers.tenant if "tenantId" in keys else issuers.machine
    assert len(issuers.tenant) + len(issuers.machine) == 1
    if "clientId" in keys:
        assert asked[0]["client_id"] == CLIENT
    if "clientSecret" in keys:
        assert asked[0]["client_secret"] == SECRET


async def test_a_look_at_an_identitys_queues_says_which_rights_it_did_not_try(
    address: str, issuers: Issuers, tmp_path: Path, certificate: Path
) -> None:
    trigger = {"type": "queueTrigger", "direction": "in", "name": "msg", "queueName": "orders"}
    (tmp_path / "host.json").write_text('{"version": "2.0"}')
    folder = tmp_path / "functions" / "resize"
    folder.mkdir(parents=True)
    binding = {**trigger, "connection": "Q"}
    (folder / "function.json").write_text(json.dumps({"bindings": [binding]}))
    (folder / "__init__.py").write_text("def main(msg: str): pass\n")
    keys = {"queueServiceUri": address, "credential": "managedidentity"}
    environ = environment(issuers, tmp_path, certificate, keys)

    ended = await asyncio.to_thread(
        lambda: qtrigger("check", str(tmp_path), "--connect", environ=environ)
    )

    assert ended.returncode == 0, ended.stdout
    assert "queue orders in devstoreaccount1 (identity (managedidentity)): does not exist" in (
        ended.stdout
    )
    assert "not tried, since it changes something: get messages" in ended.stdout
    assert "Storage Queue Data Message Processor" in ended.stdout
    assert len(issuers.machine) == 1

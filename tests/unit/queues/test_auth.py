"""Signatures, with the SDK's own signing policy as the oracle."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.pipeline import PipelineContext, PipelineRequest
from azure.core.pipeline.transport import HttpRequest
from azure.storage.queue._shared.authentication import SharedKeyCredentialPolicy

from qtrigger.errors import AccessDenied
from qtrigger.queues import wire
from qtrigger.queues.account import EMULATOR_KEY, Account, Identity, Sas, SharedKey
from qtrigger.queues.auth import SasSigner, SharedKeySigner, Signer, TokenSigner, signer_for
from qtrigger.queues.identity import IdentityTokens
from qtrigger.queues.markup import write_time
from qtrigger.testing.clock import ManualClock

REAL = ("https://acme.queue.core.windows.net", "acme", "/orders")
LOCAL = ("http://127.0.0.1:10001", "devstoreaccount1", "/devstoreaccount1/orders")

REQUESTS = {
    "get": lambda path: wire.get_messages(path, 16, 600),
    "put": lambda path: wire.put_message(path, "a <&> ü", None, None),
    "put with times": lambda path: wire.put_message(path, "x", 5, -1),
    "renew": lambda path: wire.update_message(path, "1b-c", "AgA+/b==", 600, None),
    "update": lambda path: wire.update_message(path, "1b-c", "AgA+/b==", 0, "new"),
    "delete": lambda path: wire.delete_message(path, "1b-c", "AgA+/b=="),
    "properties": wire.get_properties,
    "create": wire.create_queue,
}


def signed_by_the_sdk(
    origin: str, account: str, request: wire.Request, headers: dict[str, str]
) -> str:
    """What the SDK puts into Authorization for the same request."""
    kept = {name: value for name, value in headers.items() if name != "Authorization"}
    theirs = HttpRequest(request.method, origin + request.target, headers=kept)
    if request.body:
        theirs.headers["Content-Length"] = str(len(request.body))
    policy: Any = SharedKeyCredentialPolicy  # the SDK gives it no types
    policy(account, EMULATOR_KEY).on_request(PipelineRequest(theirs, PipelineContext(None)))
    return str(theirs.headers["Authorization"])


@pytest.mark.parametrize("place", [REAL, LOCAL], ids=["account", "emulator"])
@pytest.mark.parametrize("kind", REQUESTS)
async def test_a_shared_key_signs_as_the_sdk_does(place: tuple[str, str, str], kind: str) -> None:
    origin, account, path = place
    request = REQUESTS[kind](path)
    signer = SharedKeySigner(SharedKey(account=account, key=EMULATOR_KEY), ManualClock())

    target, headers = await signer.sign(request)

    assert target == request.target
    assert headers["Authorization"] == signed_by_the_sdk(origin, account, request, headers)
    assert headers["x-ms-version"] == wire.API_VERSION
    assert ("Content-Type" in headers) == bool(request.body)


@pytest.mark.parametrize("kind", REQUESTS)
def test_queries_are_sorted_as_signing_wants_them(kind: str) -> None:
    names = [name for name, _ in REQUESTS[kind]("/orders").query]

    assert names == sorted(names)


async def test_the_date_is_made_anew_each_second() -> None:
    clock = ManualClock()
    signer = SharedKeySigner(SharedKey(account="acme", key=EMULATOR_KEY), clock)
    request = wire.create_queue("/orders")

    _, first = await signer.sign(request)
    await clock.advance(0.5)
    _, same = await signer.sign(request)
    await clock.advance(0.6)
    _, later = await signer.sign(request)

    assert first["x-ms-date"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert same == first
    assert later["x-ms-date"] == "Thu, 01 Jan 2026 00:00:01 GMT"


def test_a_key_that_is_not_base64_is_refused_without_showing_it() -> None:
    with pytest.raises(AccessDenied, match="'acme' is not base64") as refused:
        SharedKeySigner(SharedKey(account="acme", key="half-a-key!"), ManualClock())

    assert "half" not in str(refused.value)


@pytest.mark.parametrize("token", ["sv=1&sig=a%2Bb", "?sv=1&sig=a%2Bb", " &sv=1&sig=a%2Bb\n"])
async def test_a_sas_is_added_to_the_query_as_it_stands(token: str) -> None:
    signer = SasSigner(token, ManualClock())

    target, headers = await signer.sign(wire.get_messages("/orders", 1, 30))
    bare, _ = await signer.sign(wire.create_queue("/orders"))

    assert target == "/orders/messages?numofmessages=1&visibilitytimeout=30&sv=1&sig=a%2Bb"
    assert bare == "/orders?sv=1&sig=a%2Bb"
    assert "Authorization" not in headers


class FixedToken:
    async def get_token(self, *_scopes: str) -> AccessToken:
        return AccessToken("t", 4_102_444_800)

    async def close(self) -> None:
        pass


async def fixed_token(_: Identity) -> FixedToken:
    return FixedToken()


def by_each_kind(clock: ManualClock) -> list[Signer]:
    tokens = IdentityTokens(Identity(kind="default"), clock, build=fixed_token)
    return [
        SharedKeySigner(SharedKey(account="acme", key=EMULATOR_KEY), clock),
        SasSigner("sv=1&sig=a", clock),
        TokenSigner(tokens, clock),
    ]


async def test_every_kind_of_request_has_its_date() -> None:
    clock = ManualClock()
    for signer in by_each_kind(clock):
        for make in REQUESTS.values():
            _, headers = await signer.sign(make("/orders"))
            assert headers["x-ms-date"] == write_time(clock.utcnow())
        await signer.close()


def test_an_identity_over_http_is_refused() -> None:
    account = Account(
        name="acme", endpoint="http://10.0.0.1/acme", credential=Identity(kind="default")
    )

    with pytest.raises(AccessDenied, match="https only"):
        signer_for(account, ManualClock())


def test_no_repr_shows_a_secret() -> None:
    secret = base64.b64encode(b"secret").decode()
    values = [
        SharedKey(account="a", key=secret),
        Sas(token=f"sig={secret}"),
        Identity(kind="clientsecret", client_secret=secret, certificate_password=secret),
    ]

    assert all(secret not in repr(value) for value in values)

"""Our client and the SDK's own, side by side on one recording server.

Owns what each verb is in either client, and every way to sign in, by connection string or token.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from azure.core.credentials import AccessToken
from azure.storage.queue import (
    AccountSasPermissions,
    QueueSasPermissions,
    ResourceTypes,
    generate_account_sas,
    generate_queue_sas,
)
from azure.storage.queue.aio import QueueClient

from qtrigger.clock import SystemClock
from qtrigger.project import connection_string
from qtrigger.queues.account import EMULATOR_KEY, Account, Identity
from qtrigger.queues.auth import TokenSigner
from qtrigger.queues.client import NEVER_EXPIRES_S
from qtrigger.queues.identity import IdentityTokens
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from tests.contract.recording import Playing, Recorded, Recording, recording, success
from tests.contract.sockets import Way

CLOCK = SystemClock()
ACCOUNT = "acme"
TOKEN = "eyJ0.an-identity.s-token"

Ours = Callable[[RestQueueClient], Awaitable[Any]]
Theirs = Callable[[QueueClient], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Verb:
    """The same wish, by either client."""

    ours: Ours
    theirs: Theirs


async def first_page(client: QueueClient, **wanted: int) -> list[Any]:
    """One Get Messages; the SDK's iterator would ask until the queue is empty."""
    pages = client.receive_messages(**wanted).by_page()
    try:
        return [message async for message in await anext(pages)]
    except StopAsyncIteration:  # its way to say: none
        return []


RECEIVE = Verb(
    lambda ours: ours.receive(16, 600),
    lambda theirs: first_page(theirs, messages_per_page=16, visibility_timeout=600),
)
PEEK = Verb(lambda ours: ours.peek(5), lambda theirs: theirs.peek_messages(max_messages=5))
RENEW = Verb(
    lambda ours: ours.update("1b-c", "AgA+/b==", 600),
    lambda theirs: theirs.update_message("1b-c", "AgA+/b==", visibility_timeout=600),
)
DELETE = Verb(
    lambda ours: ours.delete("1b-c", "AgA+/b=="),
    lambda theirs: theirs.delete_message("1b-c", "AgA+/b=="),
)
SEND = Verb(lambda ours: ours.send("aGk="), lambda theirs: theirs.send_message("aGk="))
COUNT = Verb(lambda ours: ours.approximate_count(), lambda theirs: theirs.get_queue_properties())
CREATE = Verb(lambda ours: ours.create(), lambda theirs: theirs.create_queue())
CLEAR = Verb(lambda ours: ours.clear(), lambda theirs: theirs.clear_messages())

VERBS: Mapping[str, Verb] = {
    "receive": RECEIVE,
    "receive the most for the longest": Verb(
        lambda ours: ours.receive(32, 604_800),
        lambda theirs: first_page(theirs, messages_per_page=32, visibility_timeout=604_800),
    ),
    "peek": PEEK,
    "renew": RENEW,
    "release": Verb(
        lambda ours: ours.update("1b-c", "AgA+/b==", 0),
        lambda theirs: theirs.update_message("1b-c", "AgA+/b==", visibility_timeout=0),
    ),
    "update the text": Verb(
        lambda ours: ours.update("1b-c", "AgA+/b==", 30, "<&> new"),
        lambda theirs: theirs.update_message(
            "1b-c", "AgA+/b==", visibility_timeout=30, content="<&> new"
        ),
    ),
    "delete": DELETE,
    "send": SEND,
    "send for later": Verb(
        lambda ours: ours.send("x", delay_s=60),
        lambda theirs: theirs.send_message("x", visibility_timeout=60),
    ),
    "send for now": Verb(
        lambda ours: ours.send("x", delay_s=0),
        lambda theirs: theirs.send_message("x", visibility_timeout=0),
    ),
    "send for later, for an hour": Verb(
        lambda ours: ours.send("x", delay_s=5, ttl_s=3600),
        lambda theirs: theirs.send_message("x", visibility_timeout=5, time_to_live=3600),
    ),
    "send for ever": Verb(
        lambda ours: ours.send("x", ttl_s=NEVER_EXPIRES_S),
        lambda theirs: theirs.send_message("x", time_to_live=-1),
    ),
    "exists": Verb(lambda ours: ours.exists(), lambda theirs: theirs.get_queue_properties()),
    "count": COUNT,
    "create": CREATE,
    "clear": CLEAR,
}


def _by_key(endpoint: str) -> str:
    return f"AccountName={ACCOUNT};AccountKey={EMULATOR_KEY};QueueEndpoint={endpoint}"


def _by_sas(endpoint: str, token: str) -> str:
    return f"QueueEndpoint={endpoint};SharedAccessSignature={token}"


def _queue_sas() -> str:
    now = datetime.now(UTC)
    return generate_queue_sas(
        ACCOUNT,
        "orders",
        EMULATOR_KEY,
        permission=QueueSasPermissions.from_string("raup"),
        start=now,
        expiry=now + timedelta(hours=1),
        ip="127.0.0.1-127.0.0.9",
        protocol="https,http",
    )


def _account_sas() -> str:
    return generate_account_sas(
        ACCOUNT,
        EMULATOR_KEY,
        resource_types=ResourceTypes(service=True, container=True, object=True),
        permission=AccountSasPermissions(
            read=True, write=True, delete=True, list=True, add=True, create=True, process=True
        ),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )


# Each way of a connection string to sign in, of an account by host or, as on emulators, by path.
BY_STRING: Mapping[str, Callable[[str], str]] = {
    "key": _by_key,
    "key, by path": lambda origin: _by_key(f"{origin}/{ACCOUNT}"),
    "key, by path with a final slash": lambda origin: _by_key(f"{origin}/{ACCOUNT}/"),
    "SAS of the queue": lambda origin: _by_sas(origin, _queue_sas()),
    "SAS of the queue with its ?, by path": lambda origin: _by_sas(
        f"{origin}/{ACCOUNT}", f"?{_queue_sas()}"
    ),
    "SAS of the account": lambda origin: _by_sas(origin, _account_sas()),
    "SAS of the account with its ?": lambda origin: _by_sas(origin, f"?{_account_sas()}"),
}


class FixedToken:
    """An identity's credential, for either client; keeps the scopes that it was asked for."""

    def __init__(self) -> None:
        self.scopes: list[tuple[str, ...]] = []

    async def get_token(self, *scopes: str, **_: object) -> AccessToken:
        self.scopes.append(scopes)
        return AccessToken(TOKEN, int(CLOCK.utcnow().timestamp()) + 3600)

    async def close(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Pair:
    """Our client and the SDK's, of one queue on one recording server."""

    server: Recording
    ours: RestQueueClient
    theirs: QueueClient

    async def sent(self, verb: Verb) -> tuple[Recorded, Recorded]:
        """The one request that each of them made of it."""
        self.server.seen.clear()
        await verb.ours(self.ours)
        await verb.theirs(self.theirs)
        (ours, theirs) = self.server.seen
        return ours, theirs


@asynccontextmanager
async def pair_by_string(
    way: Way, kind: str = "key, by path", *, queue: str = "orders", plays: Playing = success
) -> AsyncIterator[Pair]:
    """Both clients from the same connection string."""
    async with recording(plays) as server:
        origin = f"http://127.0.0.1:{server.port}"
        text = BY_STRING[kind](origin)
        account, _ = connection_string.parse(text)
        service = RestQueueService(account, CLOCK, transport=way(origin))
        theirs = QueueClient.from_connection_string(text, queue, retry_total=0)
        try:
            async with theirs:
                yield Pair(server, service.queue(queue), theirs)
        finally:
            await service.close()


@asynccontextmanager
async def pair_by_token(
    way: Way, certificate: Path, ours: FixedToken, theirs: FixedToken
) -> AsyncIterator[Pair]:
    """Both clients by an identity; `certificate` is the server's, and trusted by ours already."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    identity = Identity(kind="default")

    async def build(_: Identity) -> FixedToken:
        return ours

    async with recording(success, tls) as server:
        origin = f"https://localhost:{server.port}"
        account = Account(name=ACCOUNT, endpoint=origin, credential=identity)
        signer = TokenSigner(IdentityTokens(identity, CLOCK, build=build), CLOCK)
        service = RestQueueService(account, CLOCK, transport=way(origin), signer=signer)
        client: Any = QueueClient(
            origin, "orders", credential=theirs, retry_total=0, connection_verify=str(certificate)
        )
        try:
            async with client:
                yield Pair(server, service.queue("orders"), client)
        finally:
            await service.close()

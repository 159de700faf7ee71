"""When tokens are fetched, and what a failure to fetch one means."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.queues.account import Identity
from qtrigger.queues.credentials import TokenCredential, build_credential
from qtrigger.queues.identity import IdentityTokens
from qtrigger.testing.clock import ManualClock, settle

IDENTITY = Identity(kind="clientsecret", client_secret="s3cret")


@dataclass(frozen=True)
class Token:
    token: str
    expires_on: int


class Issuer:
    """A credential whose tokens last an hour, and which can be slow or fail."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.fetches = 0
        self.takes_s = 0.0
        self.lasts_s = 3600
        self.error: Exception | None = None
        self.closed = False

    async def get_token(self, *scopes: str) -> Token:
        assert scopes == ("https://storage.azure.com/.default",)
        self.fetches += 1
        number = self.fetches
        if self.takes_s:
            await self.clock.sleep(self.takes_s)
        if self.error is not None:
            raise self.error
        return Token(f"token-{number}", int(self.clock.utcnow().timestamp()) + self.lasts_s)

    async def close(self) -> None:
        self.closed = True


class Suspendable(ManualClock):
    """Its machine can sleep, during which wall time alone goes on."""

    def __init__(self) -> None:
        super().__init__()
        self._slept = timedelta()

    def suspend(self, seconds: float) -> None:
        self._slept += timedelta(seconds=seconds)

    def utcnow(self) -> datetime:
        return super().utcnow() + self._slept


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def issuer(clock: ManualClock) -> Issuer:
    return Issuer(clock)


@pytest.fixture
def tokens(clock: ManualClock, issuer: Issuer) -> IdentityTokens:
    async def at_once(_identity: Identity) -> TokenCredential:
        return issuer

    return IdentityTokens(IDENTITY, clock, build=at_once)


async def test_a_token_is_fetched_once_and_kept(tokens: IdentityTokens, issuer: Issuer) -> None:
    assert await tokens.get() == "token-1"
    assert await tokens.get() == "token-1"
    assert issuer.fetches == 1


async def test_callers_at_the_same_moment_share_one_fetch(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    issuer.takes_s = 1

    got = await clock.run(asyncio.gather(*[tokens.get() for _ in range(10)]))

    assert got == ["token-1"] * 10
    assert issuer.fetches == 1


async def test_a_refresh_comes_five_minutes_early_and_nobody_waits_for_it(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    await tokens.get()
    await clock.advance(3299)
    assert await tokens.get() == "token-1"
    assert issuer.fetches == 1

    await clock.advance(1)
    issuer.takes_s = 1
    assert await tokens.get() == "token-1"
    await clock.advance(1)

    assert await tokens.get() == "token-2"
    assert issuer.fetches == 2


async def test_a_failed_refresh_keeps_the_old_token_while_it_holds(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    await tokens.get()
    issuer.error = OSError("down")
    await clock.advance(3300)

    for _ in range(9):
        assert await tokens.get() == "token-1"
        await clock.advance(30)
    assert issuer.fetches == 1 + 9

    await clock.advance(31)
    with pytest.raises(QueueUnavailable, match="down"):
        await tokens.get()


async def test_a_token_that_expired_after_a_failed_refresh_is_not_sent(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    await tokens.get()
    issuer.error = OSError("down")
    await clock.advance(3585)
    assert await tokens.get() == "token-1"
    await settle()
    issuer.error = None

    await clock.advance(20)  # the failed refresh is not due again, but the token is over

    assert await tokens.get() == "token-3"


async def test_a_token_that_expired_while_the_machine_slept_is_not_sent() -> None:
    clock = Suspendable()
    issuer = Issuer(clock)

    async def at_once(_identity: Identity) -> TokenCredential:
        return issuer

    tokens = IdentityTokens(IDENTITY, clock, build=at_once)
    await tokens.get()

    clock.suspend(7200)

    assert await tokens.get() == "token-2"


async def test_a_token_that_is_short_from_the_start_is_not_fetched_for_every_request(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    issuer.lasts_s = 120

    for _ in range(50):
        assert await tokens.get() == "token-1"
        await settle()

    assert issuer.fetches == 1


async def test_an_issuer_that_does_not_answer_is_given_ten_seconds(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    issuer.takes_s = 3600

    with pytest.raises(QueueUnavailable, match="within 10 s"):
        await clock.run(tokens.get())

    assert clock.monotonic() == 10


async def test_where_no_machine_can_have_an_identity_the_way_out_is_named(
    clock: ManualClock, issuer: Issuer
) -> None:
    issuer.takes_s = 3600

    async def build(_: Identity) -> Issuer:
        return issuer

    tokens = IdentityTokens(Identity(kind="managedidentity"), clock, build=build)

    with pytest.raises(QueueUnavailable, match="leave credential away to sign in as yourself"):
        await clock.run(tokens.get())


async def test_a_refusal_is_denied_and_a_hiccup_is_not(
    tokens: IdentityTokens, issuer: Issuer
) -> None:
    issuer.error = ValueError("the secret s3cret is wrong")
    with pytest.raises(AccessDenied, match=r"\(clientsecret\): the secret \*\*\* is wrong"):
        await tokens.get()

    issuer.error = ConnectionResetError("reset")
    with pytest.raises(QueueUnavailable, match="reset") as hiccup:
        await tokens.get()

    assert hiccup.value.code == "NoToken"


async def test_a_caller_that_goes_takes_nothing_from_the_others(
    clock: ManualClock, tokens: IdentityTokens, issuer: Issuer
) -> None:
    issuer.takes_s = 1
    impatient = asyncio.create_task(tokens.get())
    patient = asyncio.create_task(tokens.get())
    await asyncio.sleep(0)

    impatient.cancel()

    assert await clock.run(patient) == "token-1"


async def test_closing_ends_a_fetch_under_way(tokens: IdentityTokens, issuer: Issuer) -> None:
    issuer.takes_s = 3600
    waiting = asyncio.create_task(tokens.get())
    for _ in range(5):
        await asyncio.sleep(0)

    await tokens.close()

    assert issuer.closed
    with pytest.raises(QueueUnavailable, match="closed"):
        await waiting
    with pytest.raises(QueueUnavailable, match="closed"):
        await tokens.get()


@pytest.mark.parametrize(
    ("identity", "credential"),
    [
        (Identity(kind="default"), "DefaultAzureCredential"),
        (Identity(kind="managedidentity"), "ManagedIdentityCredential"),
        (Identity(kind="managedidentity", client_id="c"), "ManagedIdentityCredential"),
        (
            Identity(kind="managedidentity", managed_identity_object_id="o"),
            "ManagedIdentityCredential",
        ),
        (
            Identity(kind="workloadidentity", tenant_id="t", client_id="c", token_file="/f"),
            "WorkloadIdentityCredential",
        ),
        (
            Identity(kind="clientsecret", tenant_id="t", client_id="c", client_secret="s"),
            "ClientSecretCredential",
        ),
        (
            Identity(kind="managedidentityasfederatedidentity", tenant_id="t", client_id="c"),
            "FederatedCredential",
        ),
    ],
)
async def test_each_kind_has_its_credential(identity: Identity, credential: str) -> None:
    built = build_credential(identity)

    assert type(built).__name__ == credential
    await built.close()


@pytest.mark.parametrize(
    "identity",
    [
        Identity(kind="workloadidentity"),
        Identity(kind="clientsecret"),
        Identity(kind="managedidentityasfederatedidentity", azure_cloud="moon"),
        Identity(kind="managedidentity", client_id="c", managed_identity_object_id="o"),
        Identity(kind="astrology"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_TENANT_ID", raising=False)
    monkeypatch.delenv("AZURE_CLIENT_ID", raising=False)

    with pytest.raises(ValueError, match=r"."):
        build_credential(identity)

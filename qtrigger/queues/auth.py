"""How a request shows who sends it: account key, shared access signature or identity's token.

Owns signing; fetching tokens is `identity`'s. A signed request's parts hold secrets: they go to
the transport and nowhere else.
"""

from __future__ import annotations

import base64
import hmac
from datetime import datetime
from typing import Protocol

from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied
from qtrigger.queues.account import Account, Identity, Sas, SharedKey
from qtrigger.queues.identity import IdentityTokens
from qtrigger.queues.markup import write_time
from qtrigger.queues.wire import API_VERSION, CONTENT_TYPE, Request

Signed = tuple[str, dict[str, str]]


class Signer(Protocol):
    """Turns a request into target and headers that the service will accept."""

    async def sign(self, request: Request) -> Signed:
        """Target and headers. Raises AccessDenied or QueueUnavailable when there is no token."""

    async def close(self) -> None:
        """Let go of what fetches tokens."""


def signer_for(account: Account, clock: Clock) -> Signer:
    """The signer for the account's credential. Raises AccessDenied for one that cannot work."""
    match account.credential:
        case SharedKey() as credential:
            return SharedKeySigner(credential, clock)
        case Sas(token=token):
            return SasSigner(token, clock)
        case Identity() as identity:
            if not account.endpoint.startswith("https:"):
                raise AccessDenied(
                    f"{account.endpoint}: an identity's token may travel over https only"
                )
            return TokenSigner(IdentityTokens(identity, clock), clock)


class SharedKeySigner:
    """Signs with the account's key. Raises AccessDenied for a key that is not base64."""

    def __init__(self, credential: SharedKey, clock: Clock) -> None:
        try:
            key = base64.b64decode(credential.key, validate=True)
        except ValueError:
            raise AccessDenied(
                f"the key of account {credential.account!r} is not base64: was it copied in full?"
            ) from None
        self._account = credential.account
        # The key is taken in once; each signature starts from a copy of this state.
        self._mac = hmac.new(key, digestmod="sha256")
        self._dates = _Dates(clock)

    async def sign(self, request: Request) -> Signed:
        """See `Signer`."""
        date = self._dates.now()
        headers = _plain_headers(request, date)
        headers["Authorization"] = f"SharedKey {self._account}:{self._signature(request, date)}"
        return request.target, headers

    def _signature(self, request: Request, date: str) -> str:
        body = request.body
        length, kind = (str(len(body)), CONTENT_TYPE) if body else ("", "")
        query = "".join([f"\n{name}:{value}" for name, value in request.query])
        mac = self._mac.copy()
        mac.update(
            # Lines left empty: encoding, language, MD5; then date, conditions and range.
            f"{request.method}\n\n\n{length}\n\n{kind}\n\n\n\n\n\n\n"
            f"x-ms-date:{date}\nx-ms-version:{API_VERSION}\n"
            f"/{self._account}{request.path}{query}".encode()
        )
        return base64.b64encode(mac.digest()).decode()

    async def close(self) -> None:
        """See `Signer`."""


class SasSigner:
    """Adds the signature that was handed out beforehand to the query."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._token = token.strip().lstrip("?&")
        self._dates = _Dates(clock)

    async def sign(self, request: Request) -> Signed:
        """See `Signer`."""
        joint = "&" if request.query else "?"
        headers = _plain_headers(request, self._dates.now())
        return f"{request.target}{joint}{self._token}", headers

    async def close(self) -> None:
        """See `Signer`."""


class TokenSigner:
    """Sends an identity's token."""

    def __init__(self, tokens: IdentityTokens, clock: Clock) -> None:
        self._tokens = tokens
        self._dates = _Dates(clock)

    async def sign(self, request: Request) -> Signed:
        """See `Signer`."""
        token = await self._tokens.get()
        headers = _plain_headers(request, self._dates.now())
        headers["Authorization"] = f"Bearer {token}"
        return request.target, headers

    async def close(self) -> None:
        """See `Signer`."""
        await self._tokens.close()


class _Dates:
    """The date header's value, made anew once a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._text = ""
        self._until = float("-inf")

    def now(self) -> str:
        moment = self._clock.monotonic()
        if moment >= self._until:
            wall: datetime = self._clock.utcnow()
            self._text = write_time(wall)
            self._until = moment + 1.0
        return self._text


def _plain_headers(request: Request, date: str) -> dict[str, str]:
    # The reference wants a date on every authorized request, also where it is not signed.
    headers = {"x-ms-date": date, "x-ms-version": API_VERSION}
    if request.body:
        headers["Content-Type"] = CONTENT_TYPE
    return headers

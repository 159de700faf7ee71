"""How a request shows who sends it: account key, shared access signature or identity's token.

Owns signing; fetching tokens is `identity`'s. A signed request's parts hold secrets: they go to
the transport and nowhere else.
"""

from __future__ import annotations

import base64
import hashlib
from binascii import b2a_base64
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
        self._mac = _Mac(key)
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
        # Lines left empty: encoding, language, MD5; then date, conditions and range.
        text = (
            f"{request.method}\n\n\n{length}\n\n{kind}\n\n\n\n\n\n\n"
            f"x-ms-date:{date}\nx-ms-version:{API_VERSION}\n"
            f"/{self._account}{request.path}{query}"
        )
        return b2a_base64(self._mac.of(text.encode()), newline=False).decode()

    async def close(self) -> None:
        """See `Signer`."""


class _Mac:
    """HMAC-SHA256 with one key (RFC 2104), which is taken in once.

    What `hmac.new(key, …).copy()` does, in three fifths of its time: every request has one.
    """

    def __init__(self, key: bytes) -> None:
        block = hashlib.sha256().block_size
        padded = (hashlib.sha256(key).digest() if len(key) > block else key).ljust(block, b"\0")
        self._inner = hashlib.sha256(bytes([byte ^ 0x36 for byte in padded]))
        self._outer = hashlib.sha256(bytes([byte ^ 0x5C for byte in padded]))

    def of(self, text: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(text)
        outer.update(inner.digest())
        return outer.digest()


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

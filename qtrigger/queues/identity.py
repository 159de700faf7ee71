"""An identity's access tokens for the storage service.

Owns when a token is fetched: one fetch at a time, early enough that no request waits for it,
within a deadline. Which credential fetches it is `credentials`', what a failure means is
`token_faults`'.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueUnavailable
from qtrigger.queues.account import Identity
from qtrigger.queues.credentials import Token, TokenCredential, build_credential
from qtrigger.queues.token_faults import from_failure, from_silence

SCOPE = "https://storage.azure.com/.default"
REFRESH_EARLY_S = 300.0
FETCH_TIMEOUT_S = 10.0

# The least time between two refreshes: after one that failed, or that brought a short token.
RETRY_REFRESH_S = 30.0

_CLOSED = "the connection has been closed"


async def _build_aside(identity: Identity) -> TokenCredential:
    # The import alone would hold up every lease of the process.
    return await asyncio.to_thread(build_credential, identity)


class IdentityTokens:
    """The current token of one identity."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        *,
        build: Callable[[Identity], Awaitable[TokenCredential]] = _build_aside,
    ) -> None:
        self._identity = identity
        self._clock = clock
        self._build = build
        self._credential: TokenCredential | None = None
        self._token: Token | None = None
        self._refresh_at = 0.0
        self._fetching: asyncio.Task[Token | QueueError] | None = None
        self._closed = False

    async def get(self) -> str:
        """A token good for now.

        Raises AccessDenied when the identity gets none until a person mends something,
        QueueUnavailable when it gets none just now or within ten seconds. Callers at the same
        moment share one fetch.
        """
        if self._closed:
            raise QueueUnavailable(_CLOSED)
        token = self._token
        # By wall time too: a refresh may have failed, and a sleeping machine's monotonic clock
        # stands still while tokens expire.
        holds = token is not None and self._left_s(token) > 0
        if token is not None and holds and self._clock.monotonic() < self._refresh_at:
            return token.token
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch(), name="identity-token")
            self._fetching.add_done_callback(self._fetched)
        if token is not None and holds:
            return token.token
        # Shielded: one caller that is cancelled must not take the token from the others.
        outcome = await asyncio.shield(self._fetching)
        if isinstance(outcome, QueueError):
            raise type(outcome)(str(outcome), code=outcome.code)
        return outcome.token

    async def close(self) -> None:
        """Stop fetching and end the credential's connections."""
        self._closed = True
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])
        if self._credential is not None:
            await self._credential.close()

    def _fetched(self, task: asyncio.Task[Token | QueueError]) -> None:
        self._fetching = None
        if task.cancelled():  # before it began
            return
        outcome = task.result()
        wait = RETRY_REFRESH_S
        if not isinstance(outcome, QueueError):
            self._token = outcome
            wait = max(wait, self._left_s(outcome) - REFRESH_EARLY_S)
        self._refresh_at = self._clock.monotonic() + wait

    async def _fetch(self) -> Token | QueueError:
        try:
            async with self._clock.timeout(FETCH_TIMEOUT_S):
                if self._credential is None:
                    self._credential = await self._build(self._identity)
                return await self._credential.get_token(SCOPE)
        except TimeoutError:
            return from_silence(self._identity, FETCH_TIMEOUT_S)
        except asyncio.CancelledError:
            # By `close` alone; an answer, since those who wait for one were not cancelled.
            return QueueUnavailable(_CLOSED)
        except Exception as error:  # noqa: BLE001 - the SDK's own tree is not to be imported here
            return from_failure(self._identity, error)

    def _left_s(self, token: Token) -> float:
        return token.expires_on - self._clock.utcnow().timestamp()

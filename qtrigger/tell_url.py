"""Tells an address: the notice is posted to it as JSON.

Owns the request, what of its failures is worth another try, and that of the address no more is
ever shown than its host.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from qtrigger.clock import Clock
from qtrigger.notices import TellingError
from qtrigger.queues.reach import reason, trusting

# After the first and the second try; there is no fourth.
PAUSES_S: Final = (1.0, 2.0)
_UNTRUSTED: Final = "name a file with its authority's certificate in SSL_CERT_FILE"
_PASSING: Final = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class _Failure:
    why: str
    passing: bool
    hint: str = "see who listens at onPoison.url"


class UrlTeller:
    """Posts each notice to `url`, by the proxy that the usual variables name."""

    def __init__(self, url: str, clock: Clock) -> None:
        parts = urlsplit(url)
        self._url = url
        self._shown = f"{parts.scheme}://{parts.hostname}/…"
        self._clock = clock
        self._trusted: ssl.SSLContext | None = None

    @property
    def who(self) -> str:
        """See `Teller`."""
        return self._shown

    async def tell(self, document: str) -> None:
        """See `Teller`: an answer of 2xx is success, and a passing fault has two more tries."""
        tries = 1
        for pause_s in (*PAUSES_S, None):
            failure = await self._post(document)
            if failure is None:
                return
            if pause_s is None or not failure.passing:
                times = f", {tries} times" if tries > 1 else ""
                raise TellingError(f"{failure.why}{times}", failure.hint)
            tries += 1
            await self._clock.sleep(pause_s)

    async def _post(self, document: str) -> _Failure | None:
        try:
            async with (
                self._session() as session,
                session.post(self._url, data=document.encode(), allow_redirects=False) as answer,
            ):
                return _judged(answer.status)
        except aiohttp.ClientConnectorCertificateError as error:
            return _Failure(
                f"no connection: {reason(error.certificate_error)}", passing=False, hint=_UNTRUSTED
            )
        except aiohttp.ClientConnectorError as error:
            return _Failure(f"no connection: {reason(error.os_error)}", passing=True)
        except (aiohttp.InvalidURL, ValueError):
            return _Failure("onPoison.url cannot be used as an address", passing=False)
        except (aiohttp.ClientError, OSError) as error:
            # Not its text, which may hold the address.
            return _Failure(f"no answer: {reason(error)}", passing=True)

    def _session(self) -> aiohttp.ClientSession:
        if self._trusted is None:
            self._trusted = trusting(os.environ)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._trusted),
            trust_env=True,
            # The deadline is the caller's.
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Content-Type": "application/json", "User-Agent": "qtrigger"},
        )


def _judged(status: int) -> _Failure | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return _Failure(f"it answered {status}, and redirects are not followed", passing=False)
    return _Failure(f"it answered {status}", passing=status >= 500 or status in _PASSING)

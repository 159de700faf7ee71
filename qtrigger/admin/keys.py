"""The keys of the HTTP face, the sessions they open, and what becomes of those who guess.

Owns every comparison of a secret. A key is kept as its digest alone, compared in constant time,
and shown nowhere; a session's cookie is a random text that says nothing of the key.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from qtrigger.clock import Clock
from qtrigger.errors import ProjectError
from qtrigger.project.secrets import HTTP_KEYS

KEY, READ_KEY = HTTP_KEYS
SHORTEST: Final = 16

# Who somebody is: the name of their key, or that there is none and they are on this machine.
ADMIN, READER, LOCAL = "admin", "reader", "local"

SESSION_S: Final = 12 * 3600.0
MOST_SESSIONS: Final = 64

# From one address so many wrong keys at once, and then one more after each wait.
WRONG_AT_ONCE: Final = 10
WRONG_EACH_S: Final = 6.0
MOST_ADDRESSES: Final = 256


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The digests of the keys for acting and for reading; None where there is none."""

    admin: bytes | None = None
    reader: bytes | None = None

    @classmethod
    def of(cls, admin: str, reader: str) -> Keys:
        """Make them from what was set, "" for nothing.

        Raises ProjectError for one that is too short, or for two that are the same.
        """
        for name, text in ((KEY, admin), (READ_KEY, reader)):
            if text and len(text) < SHORTEST:
                raise ProjectError(
                    f"{name} has fewer than {SHORTEST} characters. Set a longer one, made by: "
                    "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
                )
        if admin and admin == reader:
            raise ProjectError(
                f"{KEY} and {READ_KEY} are the same, so that who may read may act as well. Set "
                "another for one of them, or none."
            )
        return cls(_digest(admin) if admin else None, _digest(reader) if reader else None)

    def __bool__(self) -> bool:
        return self.admin is not None or self.reader is not None

    def who(self, given: str) -> str:
        """Whose key that is, "" for nobody's; it takes as long for any."""
        digest = _digest(given)
        is_admin = hmac.compare_digest(digest, self.admin or bytes(len(digest)))
        is_reader = hmac.compare_digest(digest, self.reader or bytes(len(digest)))
        return ADMIN if is_admin else READER if is_reader else ""


class Sessions:
    """Who has shown a key at the page, for twelve hours; the newest of them, so many at most."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def begin(self, who: str) -> str:
        """Open a session; the cookie's value."""
        token = secrets.token_urlsafe(32)
        self._open[_digest(token)] = (who, self._clock.monotonic() + SESSION_S)
        while len(self._open) > MOST_SESSIONS:
            self._open.popitem(last=False)
        return token

    def who(self, token: str) -> str:
        """Whose session that is, "" for none."""
        who, until = self._open.get(_digest(token), ("", 0.0))
        return who if self._clock.monotonic() < until else ""

    def end(self, token: str) -> None:
        """Close a session; harmless without one."""
        self._open.pop(_digest(token), None)


class Guesses:
    """Counts wrong keys by the address they came from, and says when one has to wait.

    Addresses that are not remembered share one count, so that many of them gain nothing.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[str, float] = {}

    def wait_s(self, remote: str) -> float:
        """How long that address has to wait before a key of its is looked at again."""
        ahead = self._due.get(self._name(remote), 0.0) - self._clock.monotonic()
        return max(ahead - WRONG_EACH_S * (WRONG_AT_ONCE - 1), 0.0)

    def wrong(self, remote: str) -> None:
        """One more from there."""
        now, name = self._clock.monotonic(), self._name(remote)
        if name not in self._due:
            self._due = {each: due for each, due in self._due.items() if due > now}
        self._due[name] = max(self._due.get(name, 0.0), now) + WRONG_EACH_S

    def _name(self, remote: str) -> str:
        return remote if remote in self._due or len(self._due) < MOST_ADDRESSES else "others"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()

"""Who is answered over HTTP: the rules, as functions of what a request says.

Owns which names this server goes by, which pages of a browser may ask, and what a key allows. It
reads no socket and waits for nothing; every rule is a table in its test.

Two dangers are met. A page from elsewhere, open in a browser on this machine, can send requests
here: it is told apart by `Sec-Fetch-Site`, by `Origin`, and by a header that no page may send to
another site without being asked. A name that leads here only for the moment (DNS rebinding) makes
such a page look like ours: so the name in `Host` has to be one of ours.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qtrigger.admin.keys import ADMIN, KEY, LOCAL, READ_KEY, READER, Guesses, Keys, Sessions
from qtrigger.admin.route import Right

ACTION_HEADER: Final = "x-qtrigger-action"
KEY_HEADER: Final = "x-functions-key"
SAFE: Final = frozenset({"GET", "HEAD"})

# With every answer. Nothing of ours may be framed, kept, or read by another site.
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With less, a browser would send the form of a key as from nowhere (Origin: null).
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "qtrigger",
}

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?")
_HTTP_PORT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Somebody is not answered: the status, a stable word for the log, and a text for them.

    `wait_s` is how long they should wait, 0 where waiting does not help.
    """

    status: int
    reason: str
    text: str
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What a request says of who sends it; a header that was not sent is "".

    `hosts` are all values of `Host`. `local` is the address of this machine that was reached and
    `remote` that of the other side, without ports. `session` is the cookie's value.
    """

    method: str = "GET"
    hosts: tuple[str, ...] = ()
    origin: str = ""
    site: str = ""
    mode: str = ""
    action: str = ""
    key: str = ""
    session: str = ""
    local: str = ""
    remote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the server is: its port, and whether it can be reached from this machine alone.

    `names`, with or without a port, are those that somebody has said it goes by elsewhere.
    """

    port: int
    loopback: bool = True
    names: frozenset[str] = frozenset()


def cookie_name(port: int) -> str:
    """A session's cookie. Browsers keep none apart by their ports, so that the name has to."""
    return f"qtrigger-{port}"


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach what listens at that IP address."""
    return ipaddress.ip_address(address).is_loopback


class Gate:
    """The rules for one server, in the order in which they are asked."""

    def __init__(self, place: Place, keys: Keys, sessions: Sessions, guesses: Guesses) -> None:
        self.place = place
        self.keys = keys
        self.sessions = sessions
        self.guesses = guesses

    def stranger(self, caller: Caller, *, form: bool = False) -> Refused | None:
        """Why the request is not looked at, whoever sends it; see `host` and `page`."""
        return wrong_host(caller, self.place) or wrong_page(caller, form=form)

    def who(self, caller: Caller, right: Right) -> str | Refused:
        """The name of who may use that right: of their key, or `local` where none is needed."""
        if not self.keys:
            return LOCAL
        who = self.sessions.who(caller.session) if caller.session else ""
        if caller.key:
            if (wait_s := self.guesses.wait_s(caller.remote)) > 0:
                text = "too many wrong keys came from this address; wait, and try again"
                return Refused(status=429, reason="too many keys", text=text, wait_s=wait_s)
            who = self.keys.who(caller.key)
            if not who:
                self.guesses.wrong(caller.remote)
                text = f"that is no key of this host; see {KEY} and {READ_KEY}"
                return Refused(status=401, reason="wrong key", text=text)
        if not who:
            text = (
                f"a key is needed: send it in the header {KEY_HEADER}. One in the address is not "
                "taken, since addresses are kept in logs and histories"
            )
            return Refused(status=401, reason="no key", text=text)
        if right is Right.ACT and who == READER:
            text = f"that key is for reading; acting needs the one that {KEY} sets"
            return Refused(status=403, reason="read key", text=text)
        return who


def wrong_host(caller: Caller, place: Place) -> Refused | None:
    """Refuse a request for a name that is not ours.

    An address in digits is ours where the request came in by it: no name was looked up for it.
    Behind a mapped port (containers) ours is not the one that others know, so that it counts
    only for a server of this machine alone.
    """
    hosts = [each.casefold() for each in caller.hosts]
    match = _AUTHORITY.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if match is None:
        text = "the request needs one header Host, with a name and a port alone"
        return Refused(status=400, reason="no host", text=text)
    name, port = match[1], int(match[2] or _HTTP_PORT)
    if name in place.names or hosts[0] in place.names:
        return None
    known = name in _LOOPBACK_NAMES or (bool(caller.local) and name == _in_url(caller.local))
    if known and (port == place.port or not place.loopback):
        return None
    text = "this server does not go by that name; if it should, start it with --http-host NAME"
    return Refused(status=403, reason="host", text=text)


def wrong_page(caller: Caller, *, form: bool = False) -> Refused | None:
    """Refuse what another site's page asks for, and every change that no page of ours asks for.

    Someone may follow a link to a page of ours: its answer is shown to them, and can be neither
    framed nor read by where they came from. A `form` of ours cannot send our header.
    """
    ours = not caller.origin or _is_own(caller.origin, caller.hosts[0])
    if not ours:
        text = "pages of other sites are not answered"
        return Refused(status=403, reason="origin", text=text)
    if caller.method in SAFE:
        navigates = caller.mode == "navigate" and caller.method == "GET"
        if caller.site in ("", "same-origin", "none") or navigates:
            return None
        return Refused(status=403, reason="site", text="pages of other sites are not answered")
    if caller.site not in ("", "same-origin"):
        text = "what changes something is taken from pages of this server alone"
        return Refused(status=403, reason="site", text=text)
    from_browser = bool(caller.origin or caller.site)
    if from_browser and not form and caller.action != "1":
        text = f"a page that changes something has to send the header {ACTION_HEADER}: 1"
        return Refused(status=403, reason="action header", text=text)
    return None


def _is_own(origin: str, host: str) -> bool:
    """Whether a page's origin is the server it asks; what ends TLS before us is not seen here."""
    scheme, found, authority = origin.casefold().partition("://")
    return bool(found) and scheme in ("http", "https") and authority == host.casefold()


def _in_url(address: str) -> str:
    """An IP address as a URL has it; one of IPv4 within IPv6 as itself."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return f"[{found}]" if found.ipv4_mapped is None else str(found.ipv4_mapped)
    return str(found)


def may_act(who: str) -> bool:
    """Whether somebody of that name may act."""
    return who in (ADMIN, LOCAL)

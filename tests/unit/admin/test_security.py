"""Who is answered, as tables: names, pages, keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qtrigger.admin.keys import (
    ADMIN,
    LOCAL,
    MOST_ADDRESSES,
    MOST_SESSIONS,
    READER,
    SESSION_S,
    WRONG_AT_ONCE,
    WRONG_EACH_S,
    Guesses,
    Keys,
    Sessions,
)
from qtrigger.admin.route import Right
from qtrigger.admin.security import Caller, Gate, Place, Refused, wrong_host, wrong_page
from qtrigger.errors import ProjectError
from qtrigger.testing.clock import ManualClock

HERE = Place(port=7071)
OUT = Place(port=7071, loopback=False)
NAMED = Place(port=7071, loopback=False, names=frozenset({"q.example", "p.example:8080"}))
ADMIN_KEY, READ_KEY = "a" * 32, "r" * 32


@pytest.mark.parametrize(
    ("place", "host", "local", "answered"),
    [
        (HERE, "localhost:7071", "127.0.0.1", True),
        (HERE, "LOCALHOST:7071", "127.0.0.1", True),
        (HERE, "127.0.0.1:7071", "127.0.0.1", True),
        (HERE, "[::1]:7071", "::1", True),
        (HERE, "localhost", "127.0.0.1", False),
        (HERE, "localhost:80", "127.0.0.1", False),
        (HERE, "localhost.evil.example:7071", "127.0.0.1", False),
        (HERE, "evil.example:7071", "127.0.0.1", False),
        (HERE, "evil.example", "127.0.0.1", False),
        (HERE, "192.0.2.1:7071", "127.0.0.1", False),
        (HERE, "", "127.0.0.1", False),
        (HERE, "localhost:7071@evil.example", "127.0.0.1", False),
        (HERE, "localhost:7071/evil", "127.0.0.1", False),
        (HERE, "localhost:x", "127.0.0.1", False),
        (Place(port=80), "localhost", "127.0.0.1", True),
        (HERE, "127.0.0.2:7071", "127.0.0.2", True),
        (OUT, "192.0.2.1:7071", "192.0.2.1", True),
        (OUT, "192.0.2.1:7071", "::ffff:192.0.2.1", True),
        (OUT, "[2001:db8::1]:7071", "2001:db8::1", True),
        (OUT, "192.0.2.2:7071", "192.0.2.1", False),
        (OUT, "localhost:8080", "172.17.0.2", True),
        (OUT, "evil.example:7071", "192.0.2.1", False),
        (NAMED, "q.example", "192.0.2.1", True),
        (NAMED, "Q.Example:443", "192.0.2.1", True),
        (NAMED, "p.example:8080", "192.0.2.1", True),
        (NAMED, "p.example:8081", "192.0.2.1", False),
    ],
)
def test_a_name_is_ours_or_not(place: Place, host: str, local: str, *, answered: bool) -> None:
    refused = wrong_host(Caller(hosts=(host,), local=local), place)
    assert (refused is None) is answered


@pytest.mark.parametrize("hosts", [(), ("localhost:7071", "localhost:7071"), ("a", "b")])
def test_one_name_is_needed(hosts: tuple[str, ...]) -> None:
    refused = wrong_host(Caller(hosts=hosts, local="127.0.0.1"), HERE)
    assert refused is not None
    assert refused.status == 400


OURS = "http://localhost:7071"


@pytest.mark.parametrize(
    ("method", "origin", "site", "mode", "action", "reason"),
    [
        # No browser.
        ("GET", "", "", "", "", None),
        ("POST", "", "", "", "", None),
        ("DELETE", "", "", "", "", None),
        # Our own pages.
        ("GET", "", "same-origin", "cors", "", None),
        ("GET", "", "none", "navigate", "", None),
        ("POST", OURS, "same-origin", "cors", "1", None),
        ("POST", OURS, "", "", "1", None),
        ("POST", "https://localhost:7071", "same-origin", "cors", "1", None),
        ("POST", OURS, "same-origin", "cors", "", "action header"),
        ("POST", OURS, "same-origin", "navigate", "", "action header"),
        ("POST", "", "same-origin", "cors", "", "action header"),
        ("POST", OURS, "", "", "", "action header"),
        ("POST", OURS, "same-origin", "cors", "yes", "action header"),
        # Pages of others; a link to one of ours may be followed.
        ("GET", "", "cross-site", "navigate", "", None),
        ("HEAD", "", "cross-site", "navigate", "", "site"),
        ("GET", "", "cross-site", "no-cors", "", "site"),
        ("GET", "", "same-site", "cors", "", "site"),
        ("GET", "http://evil.example", "cross-site", "cors", "", "origin"),
        ("GET", "http://evil.example", "", "", "", "origin"),
        ("GET", "null", "", "", "", "origin"),
        ("POST", "null", "cross-site", "cors", "1", "origin"),
        ("POST", "http://localhost:3000", "same-site", "cors", "1", "origin"),
        ("POST", "http://localhost:7071.evil.example", "", "", "1", "origin"),
        ("POST", "ftp://localhost:7071", "", "", "1", "origin"),
        ("POST", OURS, "cross-site", "cors", "1", "site"),
        ("POST", OURS, "same-site", "cors", "1", "site"),
        ("POST", "", "none", "navigate", "1", "site"),
        ("POST", "", "nonsense", "cors", "1", "site"),
    ],
)
def test_a_page_may_ask_or_not(
    method: str, origin: str, site: str, mode: str, action: str, reason: str | None
) -> None:
    caller = Caller(
        method=method,
        hosts=("localhost:7071",),
        origin=origin,
        site=site,
        mode=mode,
        action=action,
    )
    refused = wrong_page(caller)
    assert (refused.reason if refused else None) == reason


def test_a_form_of_ours_needs_no_header_and_one_of_others_is_refused() -> None:
    ours = Caller(method="POST", hosts=("localhost:7071",), origin=OURS, site="same-origin")
    assert wrong_page(ours, form=True) is None
    assert wrong_page(replace(ours, site="cross-site"), form=True) is not None
    assert wrong_page(replace(ours, origin="http://evil.example"), form=True) is not None


def _gate(clock: ManualClock, admin: str = ADMIN_KEY, reader: str = READ_KEY) -> Gate:
    return Gate(HERE, Keys.of(admin, reader), Sessions(clock), Guesses(clock))


@pytest.mark.parametrize(
    ("admin", "reader", "key", "right", "who"),
    [
        ("", "", "", Right.ACT, LOCAL),
        ("", "", "whatever", Right.ACT, LOCAL),
        (ADMIN_KEY, "", "", Right.READ, 401),
        (ADMIN_KEY, "", ADMIN_KEY, Right.READ, ADMIN),
        (ADMIN_KEY, "", ADMIN_KEY, Right.ACT, ADMIN),
        (ADMIN_KEY, "", ADMIN_KEY + "x", Right.READ, 401),
        (ADMIN_KEY, "", ADMIN_KEY[:-1], Right.READ, 401),
        (ADMIN_KEY, "", "ä\udcff", Right.READ, 401),
        (ADMIN_KEY, READ_KEY, READ_KEY, Right.READ, READER),
        (ADMIN_KEY, READ_KEY, READ_KEY, Right.ACT, 403),
        ("", READ_KEY, "", Right.READ, 401),
        ("", READ_KEY, READ_KEY, Right.ACT, 403),
        # No digest stands for a key that is not set.
        ("", READ_KEY, "\0" * 32, Right.ACT, 401),
    ],
)
async def test_a_key_allows_or_not(
    admin: str, reader: str, key: str, right: Right, who: str | int
) -> None:
    found = _gate(ManualClock(), admin, reader).who(Caller(key=key, remote="192.0.2.1"), right)
    assert (found.status if isinstance(found, Refused) else found) == who


def test_keys_that_are_short_or_alike_are_refused_without_being_shown() -> None:
    with pytest.raises(ProjectError, match="QTRIGGER_HTTP_KEY has fewer than 16") as error:
        Keys.of("short-secret", "")
    assert "short-secret" not in str(error.value)
    with pytest.raises(ProjectError, match="QTRIGGER_HTTP_READ_KEY has fewer"):
        Keys.of("", "x" * 15)
    with pytest.raises(ProjectError, match="are the same"):
        Keys.of("x" * 16, "x" * 16)
    assert ADMIN_KEY not in repr(Keys.of(ADMIN_KEY, READ_KEY))


async def test_wrong_keys_are_slowed_by_address_and_never_hold_up_sessions() -> None:
    clock = ManualClock()
    gate = _gate(clock)
    token = gate.sessions.begin(ADMIN)
    bad, good = (Caller(key=key, remote="192.0.2.1") for key in ("wrong", ADMIN_KEY))
    for _ in range(WRONG_AT_ONCE):
        refused = gate.who(bad, Right.READ)
        assert isinstance(refused, Refused)
        assert refused.status == 401
    waits = gate.who(good, Right.READ)
    assert isinstance(waits, Refused)
    assert (waits.status, waits.reason) == (429, "too many keys")
    assert 0 < waits.wait_s <= WRONG_EACH_S
    assert gate.who(replace(good, remote="192.0.2.2"), Right.READ) == ADMIN
    assert gate.who(Caller(session=token, remote="192.0.2.1"), Right.ACT) == ADMIN
    await clock.advance(WRONG_EACH_S)
    assert gate.who(good, Right.READ) == ADMIN


async def test_addresses_that_are_not_remembered_share_one_count() -> None:
    guesses = Guesses(ManualClock())
    for number in range(MOST_ADDRESSES):
        guesses.wrong(f"2001:db8::{number:x}")
    for number in range(WRONG_AT_ONCE):
        guesses.wrong(f"192.0.2.{number}")
    assert guesses.wait_s("198.51.100.1") > 0
    assert guesses.wait_s("2001:db8::1") == 0


async def test_a_session_ends_by_time_by_its_end_and_by_too_many() -> None:
    clock = ManualClock()
    sessions = Sessions(clock)
    first = sessions.begin(READER)
    assert sessions.who(first) == READER
    assert sessions.who(first[:-1]) == ""
    for _ in range(MOST_SESSIONS):
        last = sessions.begin(ADMIN)
    assert (sessions.who(first), sessions.who(last)) == ("", ADMIN)
    sessions.end(last)
    assert sessions.who(last) == ""
    old = sessions.begin(ADMIN)
    await clock.advance(SESSION_S)
    assert sessions.who(old) == ""

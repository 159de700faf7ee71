"""Ids, receipts and names of any characters are escaped as the standard library escapes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY, emulator_account
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from qtrigger.testing.clock import ManualClock
from tests.contract.recording import Recorded
from tests.unit.queues.transports import ScriptedTransport, answer

RENEWED = answer(204, x_ms_popreceipt="r", x_ms_time_next_visible="Tue, 01 Dec 2026 03:29:55 GMT")

# What the service gives, what it could give, and what nobody would.
BASE64 = st.text("ABCxyz0189+/=", max_size=48)
NEAR_BASE64 = st.text("Az09+/=-_.~%& \n", max_size=12)
ANY = st.text(st.characters(codec="utf-8"), max_size=24)
TEXTS = st.one_of(BASE64, NEAR_BASE64, ANY)

Verb = Callable[[RestQueueClient, str, str], Awaitable[object]]

VERBS: dict[str, Verb] = {
    "delete": lambda queue, message_id, receipt: queue.delete(message_id, receipt),
    "renew": lambda queue, message_id, receipt: queue.update(message_id, receipt, 30),
}


async def asked(verb: Verb, name: str, message_id: str, receipt: str) -> Recorded:
    """The request that the verb makes."""
    transport = ScriptedTransport([RENEWED])
    service = RestQueueService(emulator_account(10001), ManualClock(), transport=transport)
    await verb(service.queue(name), message_id, receipt)
    ((method, target, headers, body),) = transport.asked
    path, _, query = target.partition("?")
    lower = {header.lower(): value for header, value in headers.items()}
    return Recorded(method=method, path=path, raw_query=query, headers=lower, body=body)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@example(name="orders", message_id="1b-c", receipt="AgAAAAMAAAAAAAAAzP+/b==\n")
@example(name="orders", message_id="1b-c", receipt="%2B+%2F")
@example(name="a/b", message_id="a/b", receipt="a/b")
@given(name=TEXTS, message_id=TEXTS, receipt=TEXTS)
async def test_any_characters_are_escaped_as_quote_does_and_signed_as_they_are(
    verb: Verb, name: str, message_id: str, receipt: str
) -> None:
    request = await asked(verb, name, message_id, receipt)

    parts = [EMULATOR_ACCOUNT, quote(name, safe=""), "messages", quote(message_id, safe="")]
    assert request.path == "/" + "/".join(parts)
    first, *rest = request.raw_query.split("&")
    assert first == f"popreceipt={quote(receipt, safe='')}"
    assert rest in ([], ["visibilitytimeout=30"])
    assert dict(parse_qsl(request.raw_query, keep_blank_values=True))["popreceipt"] == receipt
    signature = request.signature(EMULATOR_ACCOUNT, EMULATOR_KEY)
    assert request.headers["authorization"] == signature


@given(name=TEXTS, message_id=TEXTS, receipt=TEXTS)
async def test_a_target_is_one_line_of_ascii_with_one_query(
    name: str, message_id: str, receipt: str
) -> None:
    request = await asked(VERBS["delete"], name, message_id, receipt)

    target = f"{request.path}?{request.raw_query}"
    assert target.isascii()
    assert target.isprintable()
    assert " " not in target
    assert (urlsplit(target).path, urlsplit(target).fragment) == (request.path, "")

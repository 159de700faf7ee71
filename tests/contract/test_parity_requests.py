"""What goes over the wire is what the SDK's own client sends, request by request."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from azure.storage.queue.aio import QueueClient

from qtrigger.project import connection_string
from qtrigger.queues.account import EMULATOR_KEY
from qtrigger.queues.identity import SCOPE
from qtrigger.queues.markup import read_time
from qtrigger.queues.wire import API_VERSION
from tests.contract.certificates import write_certificate
from tests.contract.pairs import (
    ACCOUNT,
    BY_STRING,
    CLOCK,
    TOKEN,
    VERBS,
    FixedToken,
    Pair,
    Verb,
    pair_by_string,
    pair_by_token,
)
from tests.contract.recording import Recorded
from tests.contract.sockets import Way

RECENT = timedelta(minutes=1)

# Compared by themselves, or left to each client: the version is ours on purpose, and the others
# say who asks, or what is true without them (a queue service answers in XML alone).
APART = frozenset(
    {
        "authorization",
        "content-length",
        "x-ms-date",
        "x-ms-version",
        "user-agent",
        "x-ms-client-request-id",
        "accept",
        "accept-encoding",
    }
)

ODD = [
    "AgAAAAMAAAAAAAAA+/b==",
    "a b&c=d?e#f%g;h,i",
    "%2B%20",
    "~-._!$'()*@:",
    '"<>\\^`{|}[]',
    "grüße 😀",
    "a/b",
]

TEXTS = [
    "",
    " ",
    "plain",
    "x" * 49_152,
    "😀" * 12_288,
    "&" * 49_152,
    "<&>\"'",
    "]]> &amp; &#65; <![CDATA[x]]>",
    "\t line\nline \u00a0\u2028\ufffd",
    "ABCDwxyz0189+/+/==",
    '{"a": [1, "ü"]}',
]


def wanted(request: Recorded) -> dict[str, object]:
    """What both must have alike."""
    return {
        "method": request.method,
        "path": unquote(request.path),
        "query": request.query,
        "text": request.text,
        "headers": {n: v for n, v in request.headers.items() if n not in APART},
    }


def check_each(request: Recorded) -> None:
    """What a request must have by itself."""
    length = request.headers.get("content-length", "")
    # A PUT or POST without a length is answered 411.
    assert length == str(len(request.body)) or (
        request.method in ("GET", "DELETE") and length == "" and not request.body
    )
    assert abs(read_time(request.headers["x-ms-date"]) - CLOCK.utcnow()) < RECENT
    authorization = request.headers.get("authorization", "")
    if authorization.startswith("SharedKey "):
        assert authorization == request.signature(ACCOUNT, EMULATOR_KEY)


async def all_verbs(pair: Pair) -> list[tuple[Recorded, Recorded]]:
    """Each verb's request by each client, all found to be alike."""
    requests = []
    for name, verb in VERBS.items():
        ours, theirs = await pair.sent(verb)
        assert wanted(ours) == wanted(theirs), name
        check_each(ours)
        check_each(theirs)
        assert ours.headers["x-ms-version"] == API_VERSION
        requests.append((ours, theirs))
    return requests


@pytest.mark.parametrize("kind", BY_STRING)
async def test_every_verb_by_a_connection_string_is_the_sdks_request(way: Way, kind: str) -> None:
    async with pair_by_string(way, kind) as pair:
        requests = await all_verbs(pair)

    for ours, theirs in requests:
        by_key = [request.headers.get("authorization", "")[:10] for request in (ours, theirs)]
        signed = [dict(request.query).get("sig") for request in (ours, theirs)]
        if kind.startswith("key"):
            assert (by_key, signed) == (["SharedKey "] * 2, [None, None])
        else:
            assert by_key == ["", ""]
            assert signed[0]


async def test_every_verb_by_an_identity_is_the_sdks_request(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path / "cert.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    our_token, their_token = FixedToken(), FixedToken()

    async with pair_by_token(way, certificate, our_token, their_token) as pair:
        requests = await all_verbs(pair)

    for ours, theirs in requests:
        assert ours.headers["authorization"] == f"Bearer {TOKEN}" == theirs.headers["authorization"]
    assert our_token.scopes == [(SCOPE,)] == their_token.scopes


@pytest.mark.parametrize("odd", ODD)
async def test_ids_and_receipts_of_any_characters_arrive_as_by_the_sdk(way: Way, odd: str) -> None:
    delete = Verb(
        lambda ours: ours.delete(odd, odd), lambda theirs: theirs.delete_message(odd, odd)
    )
    update = Verb(
        lambda ours: ours.update(odd, odd, 30, "x"),
        lambda theirs: theirs.update_message(odd, odd, content="x", visibility_timeout=30),
    )
    async with pair_by_string(way) as pair:
        for verb in (delete, update):
            ours, theirs = await pair.sent(verb)

            assert wanted(ours) == wanted(theirs)
            assert unquote(ours.path) == f"/{ACCOUNT}/orders/messages/{odd}"
            assert dict(ours.query)["popreceipt"] == odd
            check_each(ours)


@pytest.mark.parametrize("name", ["orders", "a b", "Über", "a_b.c~d", "50%", "q?x=1#y", "$logs"])
async def test_names_of_queues_of_any_characters_arrive_as_by_the_sdk(way: Way, name: str) -> None:
    async with pair_by_string(way, queue=name) as pair:
        for verb in VERBS.values():
            ours, theirs = await pair.sent(verb)

            assert wanted(ours) == wanted(theirs)
            check_each(ours)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:12]))
async def test_every_text_is_written_as_by_the_sdk(way: Way, text: str) -> None:
    send = Verb(lambda ours: ours.send(text), lambda theirs: theirs.send_message(text))
    update = Verb(
        lambda ours: ours.update("m", "r", 30, text),
        lambda theirs: theirs.update_message("m", "r", content=text, visibility_timeout=30),
    )
    async with pair_by_string(way) as pair:
        for verb in (send, update):
            ours, theirs = await pair.sent(verb)

            assert wanted(ours) == wanted(theirs)
            assert ours.text == text
            check_each(ours)
            check_each(theirs)


async def test_a_cr_is_written_so_that_it_arrives_where_the_sdks_becomes_a_line_feed(
    way: Way,
) -> None:
    send = Verb(lambda ours: ours.send("a\r\nb"), lambda theirs: theirs.send_message("a\r\nb"))
    async with pair_by_string(way) as pair:
        ours, theirs = await pair.sent(send)

    assert (ours.text, theirs.text) == ("a\r\nb", "a\nb")


KEYED = f"AccountName={ACCOUNT};AccountKey={EMULATOR_KEY}"


@pytest.mark.parametrize(
    "text",
    [
        "UseDevelopmentStorage=true",
        KEYED,
        f"defaultendpointsprotocol=https;accountname={ACCOUNT};accountkey={EMULATOR_KEY}",
        f"DefaultEndpointsProtocol=http;{KEYED};EndpointSuffix=stack.example",
        f"DefaultEndpointsProtocol=https;{KEYED};EndpointSuffix=core.chinacloudapi.cn",
        f"{KEYED};QueueEndpoint=https://acme.z1.queue.storage.azure.net/",
        f"{KEYED};QueueEndpoint=http://127.0.0.1:10001/acme;",
        "QueueEndpoint=https://acme.queue.core.windows.net/;SharedAccessSignature=?sv=1&sig=a%2Bb",
    ],
)
async def test_a_connection_string_leads_to_the_sdks_address_and_account(text: str) -> None:
    account, _ = connection_string.parse(text)
    async with QueueClient.from_connection_string(text, "orders") as theirs:
        assert f"{account.endpoint}/orders" == theirs.url.partition("?")[0]
        assert account.name == theirs.account_name

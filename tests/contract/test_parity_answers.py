"""What is made of an answer is what the SDK's own client makes of it, answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from azure.core.exceptions import AzureError

from qtrigger.errors import QueueUnavailable
from qtrigger.queues.client import QueueMessage
from tests.contract.pairs import (
    COUNT,
    DELETE,
    PEEK,
    RECEIVE,
    RENEW,
    SEND,
    Pair,
    pair_by_string,
)
from tests.contract.recording import SENT, Parts, Playing, Recorded, answer
from tests.contract.sockets import Way, chunked

FIELDS = {
    "MessageId": "5f7f4f30-0b30-4bd8-8b8a-3a4f7ef5f1b2",
    "InsertionTime": "Tue, 01 Dec 2026 03:29:55 GMT",
    "ExpirationTime": "Fri, 31 Dec 9999 23:59:59 GMT",
    "PopReceipt": "AgAAAAMAAAAAAAAA+/b==",
    "TimeNextVisible": "Thu, 29 Feb 2024 23:59:59 GMT",
    "DequeueCount": "5",
    "MessageText": "hi",
}


def message(**fields: str | None) -> str:
    """A message as the service writes it; None leaves a field out."""
    given = {**FIELDS, **fields}
    inner = "".join(f"<{n}>{v}</{n}>" for n, v in given.items() if v is not None)
    return f"<QueueMessage>{inner}</QueueMessage>"


def listing(*messages: str) -> bytes:
    body = f"<QueueMessagesList>{''.join(messages)}</QueueMessagesList>"
    return f'\ufeff<?xml version="1.0" encoding="utf-8"?>{body}'.encode()


def pieces(whole: bytes, size: int) -> Parts:
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def without_length(status: str, body: bytes, **headers: str) -> bytes:
    """The head of an answer whose end shows in another way."""
    head, _, _ = answer(status, body, **headers).partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    return b"\r\n".join([*kept, b"", b""])


def in_chunks(body: bytes) -> bytes:
    head = without_length("200 OK", body, Transfer_Encoding="chunked")
    return head + b"".join(map(chunked, pieces(body, 1000))) + b"0\r\n\r\n"


# The ways in which one and the same list can arrive.
DELIVERIES: Mapping[str, Callable[[bytes], Parts]] = {
    "whole": lambda body: [answer("200 OK", body)],
    "head, then body": lambda body: [answer("200 OK", body)[: -len(body)], body],
    "in pieces": lambda body: pieces(answer("200 OK", body), 61),
    "in chunks": lambda body: [in_chunks(body)],
    "in chunks, in pieces": lambda body: pieces(in_chunks(body), 61),
    "in chunks with extensions and trailers": lambda body: [
        without_length("200 OK", body, Transfer_Encoding="chunked")
        + b"%x;name=value\r\n%s\r\n0\r\nx-after: 1\r\n\r\n" % (len(body), body)
    ],
    "and the connection is closed": lambda body: [answer("200 OK", body, Connection="close")],
    "until the connection is closed": lambda body: [
        without_length("200 OK", body, Connection="close") + body
    ],
    "after early hints": lambda body: [
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
        answer("200 OK", body),
    ],
    "with a type that says more": lambda body: [
        answer("200 OK", body, Content_Type="application/xml; charset=utf-8")
    ],
}


def playing(parts: Parts) -> Playing:
    return lambda _request: parts


def seen_by_us(each: QueueMessage) -> tuple[object, ...]:
    times = (each.inserted, each.expires, each.next_visible)
    assert all(time.tzinfo is UTC for time in times)
    return (each.id, each.text, each.dequeue_count, each.pop_receipt, *times)


def seen_by_the_sdk(each: Any) -> tuple[object, ...]:
    times = (each.inserted_on, each.expires_on, each.next_visible_on)
    return (each.id, each.content, each.dequeue_count, each.pop_receipt, *times)


async def received(pair: Pair) -> list[tuple[object, ...]]:
    """The messages of one answer, found to be the same by both."""
    ours = [seen_by_us(each) for each in await RECEIVE.ours(pair.ours)]
    theirs = [seen_by_the_sdk(each) for each in await RECEIVE.theirs(pair.theirs)]
    assert ours == theirs
    return ours


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("count", [0, 1, 32])
async def test_lists_are_read_alike_however_they_arrive(
    way: Way, count: int, delivery: str
) -> None:
    ids = [str(number) for number in range(count)]
    body = listing(*[message(MessageId=id_, MessageText=id_ * 40) for id_ in ids])

    async with pair_by_string(way, plays=playing(DELIVERIES[delivery](body))) as pair:
        for _ in range(2):  # what is left of the first must not spoil the second
            found = await received(pair)

            assert [fields[:2] for fields in found] == [(id_, id_ * 40) for id_ in ids]
        kept = "closed" not in delivery
        assert pair.server.connections == (2 if kept else 4)


@pytest.mark.parametrize(
    "text",
    [
        "aGVsbG8+/w==",
        "x" * 65_536,
        "a &amp; b &lt;c&gt; &quot;&apos;",
        "&amp;amp; &#65;&#x1F600;",
        "😀 grüße \u2028\ufffd",
        "&#xD;\n\t ",
        "  \n ",
        "<![CDATA[<raw> & ]]>",
        "a<!-- by hand -->b",
    ],
    ids=lambda text: text[:12],
)
async def test_texts_are_read_alike(way: Way, text: str) -> None:
    body = listing(message(MessageText=text), message(MessageText="next"))

    async with pair_by_string(way, plays=playing([answer("200 OK", body)])) as pair:
        (_, after) = await received(pair)

    assert after[1] == "next"


async def test_peeked_messages_are_read_alike(way: Way) -> None:
    body = listing(message(PopReceipt=None, TimeNextVisible=None, DequeueCount="0"))

    async with pair_by_string(way, plays=playing([answer("200 OK", body)])) as pair:
        (our,) = map(seen_by_us, await PEEK.ours(pair.ours))
        (their,) = map(seen_by_the_sdk, await PEEK.theirs(pair.theirs))

    assert our[:3] == their[:3] == (FIELDS["MessageId"], "hi", 0)
    assert our[4:6] == their[4:6]
    # What a look does not give has a value of our type, and none by the SDK.
    assert (our[3], their[3]) == ("", None)
    assert (our[6], their[6]) == (our[4], None)


# What a message cannot do without, and what stands for the rest where it is not given.
STANDS_FOR = {"MessageText": "text", "PopReceipt": "pop_receipt", "TimeNextVisible": "next_visible"}


@pytest.mark.parametrize("lacking", FIELDS)
async def test_a_message_that_lacks_a_field_is_refused_or_has_a_value_where_the_sdk_says_none(
    way: Way, lacking: str
) -> None:
    body = listing(message(**{lacking: None}))
    async with pair_by_string(way, plays=playing([answer("200 OK", body)])) as pair:
        (their,) = map(seen_by_the_sdk, await RECEIVE.theirs(pair.theirs))
        assert None in their
        if lacking not in STANDS_FOR:
            with pytest.raises(QueueUnavailable, match=f"'{lacking}'.*is no queue service"):
                await RECEIVE.ours(pair.ours)
            return
        (our,) = await RECEIVE.ours(pair.ours)

    assert getattr(our, STANDS_FOR[lacking]) in ("", our.inserted)


# The ways in which an answer without a body can arrive.
BARE: Mapping[str, Callable[[bytes], bytes]] = {
    "nothing": lambda head: head + b"\r\n",
    "a length of none": lambda head: head + b"Content-Length: 0\r\n\r\n",
    "shouted": lambda head: b"\r\n".join(map(shouted, head.split(b"\r\n"))) + b"\r\n",
    "closed": lambda head: head + b"Connection: close\r\n\r\n",
}


def shouted(line: bytes) -> bytes:
    """A header whose name is in capitals."""
    name, colon, value = line.partition(b": ")
    return name.upper() + colon + value if colon else line


@pytest.mark.parametrize("bare", BARE)
async def test_receipts_are_read_alike_however_they_arrive(way: Way, bare: str) -> None:
    head = answer(
        "204 No Content",
        x_ms_popreceipt="AgB+/c==",
        x_ms_time_next_visible="Thu, 29 Feb 2024 23:59:59 GMT",
    )
    parts = [BARE[bare](head.removesuffix(b"\r\n"))]
    async with pair_by_string(way, plays=playing(parts)) as pair:
        for _ in range(2):
            our = await RENEW.ours(pair.ours)
            their = await RENEW.theirs(pair.theirs)

            assert our.pop_receipt == their.pop_receipt == "AgB+/c=="
            assert our.next_visible == their.next_visible_on
            assert our.next_visible == datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
            assert our.next_visible.tzinfo is UTC
            await DELETE.ours(pair.ours)
            await DELETE.theirs(pair.theirs)


@pytest.mark.parametrize("more", [b"0\r\n\r\n", b"left over"])
async def test_an_answer_with_more_behind_it_is_an_answer_to_neither(way: Way, more: bytes) -> None:
    parts = [answer("204 No Content", Content_Length="0") + more]
    async with pair_by_string(way, plays=playing(parts)) as pair:
        with pytest.raises(QueueUnavailable) as broken:
            await DELETE.ours(pair.ours)
        with pytest.raises(AzureError):
            await DELETE.theirs(pair.theirs)

    assert broken.value.code == "BrokenOff"


async def test_the_id_of_a_sent_message_and_the_count_of_a_queue_are_read_alike(way: Way) -> None:
    def plays(request: Recorded) -> Parts:
        if request.method == "POST":
            return [answer("201 Created", SENT)]
        return [answer("200 OK", x_ms_approximate_messages_count="1234567")]

    async with pair_by_string(way, plays=plays) as pair:
        sent = await SEND.theirs(pair.theirs)
        properties = await COUNT.theirs(pair.theirs)

        assert await SEND.ours(pair.ours) == sent.id == "m1"
        assert await COUNT.ours(pair.ours) == properties.approximate_message_count == 1_234_567

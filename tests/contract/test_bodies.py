"""What goes in comes out, byte for byte, within 64 KiB."""

from __future__ import annotations

import pytest

from qtrigger.errors import MessageTooLarge, QueueRejected
from qtrigger.queues.client import MAX_TEXT_BYTES, QueueClient
from qtrigger.queues.encoding import decode, encode

TEXTS = [
    "",
    "plain",
    " ",
    "   leading and trailing   ",
    "\t tab",
    "line\nline",
    "carriage\r\nreturn\rand more",
    "\r\n",
    "<&>\"'",
    "]]>",
    "&amp; &#65; <![CDATA[x]]>",
    "<MessageText>nested</MessageText>",
    '{"a": [1, "ü"]}',
    "grüße, 日本語, 😀👩‍👩‍👧",
    "\u00a0\u2028\ufffd",
    "a+b/c==?&x=1%20",
]


@pytest.mark.parametrize("text", TEXTS)
async def test_a_text_comes_back_as_it_was(queue: QueueClient, text: str) -> None:
    await queue.send(encode(text.encode(), "none"))

    (message,) = await queue.receive(1, 30)

    assert message.text == text
    assert decode(message.text, "none") == text.encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        bytes(range(256)),
        b"\x00\x01\x02",
        b"\xff\xfe",
        *[text.encode() for text in TEXTS],
    ],
)
async def test_any_bytes_come_back_in_base64(queue: QueueClient, body: bytes) -> None:
    await queue.send(encode(body, "base64"))

    (message,) = await queue.receive(1, 30)

    assert decode(message.text, "base64") == body


@pytest.mark.parametrize(
    "text",
    [
        "x" * MAX_TEXT_BYTES,
        "&" * MAX_TEXT_BYTES,
        # Not to the last byte: Azurite decodes a request chunk by chunk, and a character cut in
        # two at its 64 KiB becomes two others.
        "é" * (MAX_TEXT_BYTES // 2 - 512),
        "😀" * (MAX_TEXT_BYTES // 4 - 256),
    ],
    ids=["ascii", "escaped", "two bytes", "four bytes"],
)
async def test_64_kib_fit_counted_as_utf8_before_escaping(queue: QueueClient, text: str) -> None:
    await queue.send(text)

    (message,) = await queue.receive(1, 30)

    assert message.text == text


@pytest.mark.parametrize(
    "text",
    ["x" * (MAX_TEXT_BYTES + 1), "é" * (MAX_TEXT_BYTES // 2) + "x"],
    ids=["ascii", "two bytes"],
)
async def test_one_byte_more_is_refused_by_name(queue: QueueClient, text: str) -> None:
    with pytest.raises(MessageTooLarge, match="65,537"):
        await queue.send(text)

    assert list(await queue.receive(1, 30)) == []


async def test_an_update_holds_the_same_limit(queue: QueueClient) -> None:
    await queue.send("x")
    (message,) = await queue.receive(1, 30)

    with pytest.raises(MessageTooLarge):
        await queue.update(message.id, message.pop_receipt, 30, "x" * (MAX_TEXT_BYTES + 1))

    await queue.delete(message.id, message.pop_receipt)


@pytest.mark.parametrize("text", ["\x01", "a\x00b", "\x0b", "\ufffe", "\ud800"])
async def test_characters_that_xml_cannot_carry_are_refused(queue: QueueClient, text: str) -> None:
    with pytest.raises(QueueRejected, match="base64"):
        await queue.send(text)

    assert list(await queue.receive(1, 30)) == []

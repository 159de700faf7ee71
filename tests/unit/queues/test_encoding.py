"""Bodies and the texts that stand for them."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.errors import MessageTooLarge, QueueRejected
from qtrigger.queues.client import MAX_TEXT_BYTES
from qtrigger.queues.encoding import BodyUndecodable, check_text, decode, encode


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("", b""),
        ("QQ==", b"A"),
        ("QUI=", b"AB"),
        ("QUJD", b"ABC"),
        ("+/+/", b"\xfb\xff\xbf"),
        (" Q U\tJ\r\nD ", b"ABC"),
        ("QR==", b"A"),
        ("\n", b""),
    ],
)
def test_base64_is_read_as_dotnet_reads_it(text: str, body: bytes) -> None:
    assert decode(text, "base64") == body


@pytest.mark.parametrize(
    "text",
    [
        "QQ",
        "QQ=",
        "QUJD=",
        "QUJDR===",
        "====",
        "=",
        "AB=C",
        "QQ==QQ==",
        "QUJ-",
        "QUJ_",
        "QUJ\x0b",
        "QUJ\u00a0",
        "QÜ==",
        "{}",
        "hello world",
    ],
)
def test_what_dotnet_refuses_is_undecodable(text: str) -> None:
    with pytest.raises(BodyUndecodable, match="not valid base64"):
        decode(text, "base64")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"a": 1}', "plain JSON, which messageEncoding none would take"),
        ("[1, 2]", "plain JSON"),
        ("b'eyJkIjoxfQ=='", "printed Python bytes literal"),
        ('b"it\'s"', "printed Python bytes literal"),
        ("eyJkIjoxfQ", "padding cut off"),
        ("-_-_-_-_-_", "URL-safe"),
        ("hello, world", "messageEncoding none would take it as plain text"),
        ("[" * 60_000, "plain text"),
    ],
)
def test_the_error_says_what_the_text_looks_like(text: str, hint: str) -> None:
    with pytest.raises(BodyUndecodable, match=hint):
        decode(text, "base64")


def test_the_error_does_not_hold_the_text() -> None:
    with pytest.raises(BodyUndecodable) as error:
        decode("card 4111-1111", "base64")

    assert "4111" not in str(error.value)


def test_plain_text_is_its_utf8() -> None:
    assert decode("grüße", "none") == "grüße".encode()
    assert encode("grüße".encode(), "none") == "grüße"


@pytest.mark.parametrize(
    ("text", "body"), [("QUJD", b"ABC"), ('{"a":1}', b'{"a":1}'), ("ABC", b"ABC"), ("", b"")]
)
def test_auto_takes_base64_where_it_is_strict_and_else_the_text(text: str, body: bytes) -> None:
    assert decode(text, "auto") == body


@pytest.mark.parametrize("coder", [lambda: decode("", "utf8"), lambda: encode(b"", "utf8")])
def test_another_encoding_is_a_mistake_of_the_caller(coder: object) -> None:
    assert callable(coder)
    with pytest.raises(ValueError, match="utf8"):
        coder()


@given(st.binary(max_size=2_000))
def test_base64_round_trips(body: bytes) -> None:
    assert decode(encode(body, "base64"), "base64") == body
    assert encode(body, "auto") == base64.b64encode(body).decode()


def test_a_body_that_is_not_utf8_names_the_byte() -> None:
    with pytest.raises(QueueRejected, match="byte 0xC7 at position 2"):
        encode(b"ab\xc7\xc7", "none")


@pytest.mark.parametrize("char", ["\x00", "\x08", "\x0b", "\x1f", "\ufffe", "\uffff", "\ud800"])
def test_a_character_that_xml_cannot_carry_is_named(char: str) -> None:
    with pytest.raises(QueueRejected, match=rf"U\+{ord(char):04X} at position 3"):
        check_text(f"abc{char}")


@pytest.mark.parametrize("char", ["\t", "\n", "\r", " ", "\x7f", "\ud7ff", "\ue000", "😀"])
def test_what_xml_can_carry_passes(char: str) -> None:
    check_text(char)


@pytest.mark.parametrize("char", ["x", "é", "日", "😀"])
def test_the_limit_counts_bytes_of_utf8(char: str) -> None:
    width = len(char.encode())
    fitting = char * (MAX_TEXT_BYTES // width)
    check_text(fitting)

    with pytest.raises(MessageTooLarge):
        check_text(fitting + char)


def test_the_refusal_names_size_limit_and_encoding() -> None:
    encode(b"x" * 49_152, "base64")

    with pytest.raises(MessageTooLarge, match=r"65,540 bytes as base64; the service takes 65,536"):
        encode(b"x" * 49_153, "base64")

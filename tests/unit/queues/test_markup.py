"""Reading and writing the service's XML."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.queues.markup import (
    MarkupError,
    escape,
    read_error,
    read_fields,
    read_sent_id,
    read_time,
    write_message,
    write_time,
)
from qtrigger.queues.message_list import read_messages

MESSAGE = (
    "<QueueMessage><MessageId>m1</MessageId>"
    "<InsertionTime>Tue, 01 Dec 2026 03:29:55 GMT</InsertionTime>"
    "<ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>"
    "<PopReceipt>AgA+/==</PopReceipt>"
    "<TimeNextVisible>Tue, 01 Dec 2026 03:39:55 GMT</TimeNextVisible>"
    "<DequeueCount>3</DequeueCount>{text}</QueueMessage>"
)


def listing(*messages: str) -> bytes:
    body = "".join(messages)
    return (
        f'\ufeff<?xml version="1.0" encoding="utf-8"?><QueueMessagesList>{body}</QueueMessagesList>'
    ).encode()


def test_a_message_is_read_in_full() -> None:
    (message,) = read_messages(listing(MESSAGE.format(text="<MessageText>hi</MessageText>")))

    assert (message.id, message.text, message.dequeue_count) == ("m1", "hi", 3)
    assert message.pop_receipt == "AgA+/=="
    assert message.inserted == datetime(2026, 12, 1, 3, 29, 55, tzinfo=UTC)
    assert message.next_visible == datetime(2026, 12, 1, 3, 39, 55, tzinfo=UTC)
    assert message.expires == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("element", "text"),
    [
        ("<MessageText></MessageText>", ""),
        ("<MessageText/>", ""),
        ("", ""),
        ("<MessageText>a&#xD;\nb</MessageText>", "a\r\nb"),
        ("<MessageText>&#65;&lt;&amp;&gt;&quot;&apos;</MessageText>", "A<&>\"'"),
        ("<MessageText><![CDATA[<raw>]]></MessageText>", "<raw>"),
        ("<MessageText>  </MessageText>", "  "),
        ("<MessageText>\U0001f600</MessageText>", "\U0001f600"),
    ],
)
def test_texts_are_unescaped(element: str, text: str) -> None:
    (message,) = read_messages(listing(MESSAGE.format(text=element)))

    assert message.text == text


@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\ufffe\uffff")).filter(
            lambda text: all(c >= " " or c in "\t\n\r" for c in text)
        ),
        max_size=5,
    )
)
def test_a_list_reads_the_same_however_it_is_written(texts: list[str]) -> None:
    """The service's own way of writing is read by a shorter way than any other."""
    messages = [MESSAGE.format(text=f"<MessageText>{escape(each)}</MessageText>") for each in texts]
    apart = [message.replace("<MessageId>", "<!-- by hand --><MessageId>") for message in messages]
    quoted = [message.replace('"', "&quot;").replace("'", "&apos;") for message in messages]

    found = read_messages(listing(*messages))

    assert [message.text for message in found] == texts
    assert read_messages(listing(*apart)) == found
    assert read_messages(listing(*quoted)) == found


@pytest.mark.parametrize("text", ["&unknown;", "&lt", "a & b", "&#x1;", "\x01", "<b>"])
def test_a_text_that_is_no_xml_is_not_read_half(text: str) -> None:
    whole = MESSAGE.format(text="<MessageText>x</MessageText>")
    broken = MESSAGE.format(text=f"<MessageText>{text}</MessageText>")
    with pytest.raises(MarkupError):
        read_messages(listing(whole, broken))


def test_white_space_between_elements_is_nothing() -> None:
    pretty = MESSAGE.format(text="<MessageText>x</MessageText>").replace("><", ">\n  <")

    (message,) = read_messages(listing("\n", pretty, "\n"))

    assert (message.id, message.text) == ("m1", "x")


def test_an_empty_list_has_no_messages() -> None:
    assert read_messages(listing()) == []
    assert read_messages(b"<QueueMessagesList/>") == []


def test_a_peeked_message_lacks_receipt_and_next_visibility() -> None:
    peeked = MESSAGE.format(text="<MessageText>x</MessageText>")
    start, end = peeked.index("<PopReceipt>"), peeked.index("<DequeueCount>")

    (message,) = read_messages(listing(peeked[:start] + peeked[end:]))

    assert message.pop_receipt == ""
    assert message.next_visible == message.inserted


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no markup at all",
        b"<html><body>Sign in to the network</body></html>",
        b"<!DOCTYPE html><html></html>",
        b"<QueueMessagesList><QueueMessage>",
        b"<QueueMessagesList><QueueMessage/></QueueMessagesList>",
        b"<QueueMessagesList>&#x1;</QueueMessagesList>",
        b'{"error": "not found"}',
        b'<?xml version="1.0" encoding="gb2312"?><QueueMessagesList/>',
        b'<?xml version="1.0" encoding="base64"?><QueueMessagesList/>',
        b'<?xml version="1.0" encoding="unheard-of"?><QueueMessagesList/>',
        listing(MESSAGE.format(text="")).replace(b"<DequeueCount>3", b"<DequeueCount>many"),
        listing(MESSAGE.format(text="")).replace(b" GMT", b" CET"),
    ],
)
def test_anything_else_is_no_list_of_messages(body: bytes) -> None:
    with pytest.raises(MarkupError):
        read_messages(body)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE r SYSTEM "http://127.0.0.1/r.dtd">',
    ],
)
def test_a_document_that_declares_entities_is_refused(declaration: str) -> None:
    with pytest.raises(MarkupError, match="declares a type"):
        read_messages(f"{declaration}<QueueMessagesList/>".encode())


def test_the_answer_to_a_put_gives_the_id() -> None:
    assert read_sent_id(listing("<QueueMessage><MessageId>m9</MessageId></QueueMessage>")) == "m9"
    with pytest.raises(MarkupError):
        read_sent_id(listing())


def test_an_error_gives_code_and_first_line() -> None:
    body = b"<Error><Code>ServerBusy</Code><Message>Too busy.\nRequestId:1</Message></Error>"

    assert read_error(body) == ("ServerBusy", "Too busy.")
    assert read_error(b"") == ("", "")
    assert read_error(b"<html/>") == ("", "")
    assert read_error(b'<?xml version="1.0" encoding="gb2312"?><html/>') == ("", "")
    assert read_error(b'<?xml version="1.0" encoding="unheard-of"?><html/>') == ("", "")


def test_a_written_cr_survives_an_xml_reader() -> None:
    assert write_message("a\r\n<&>") == (
        b"<QueueMessage><MessageText>a&#xD;\n&lt;&amp;&gt;</MessageText></QueueMessage>"
    )


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")))
def test_written_texts_are_read_back(text: str) -> None:
    assert read_fields(write_message(text), "QueueMessage") == {"MessageText": text}


@pytest.mark.parametrize(
    "text",
    ["", "Tue, 01 Dec 2026 03:29:55", "2026-12-01T03:29:55Z", "Tue, 41 Dec 2026 03:29:55 GMT"],
)
def test_other_forms_of_time_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_time(text)


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis adds the zone
def test_times_round_trip_to_the_second(time: datetime) -> None:
    assert read_time(write_time(time)) == time.replace(microsecond=0)

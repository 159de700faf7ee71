"""The messages of an answer.

Owns the step from a `QueueMessagesList` to values: in one pass where the answer is written the way
the service writes it, and by a full reader of XML wherever it is not. Both give the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from qtrigger.queues.client import QueueMessage
from qtrigger.queues.markup import MarkupError, Record, read_records, read_time

_NAMES = (
    "MessageId",
    "InsertionTime",
    "ExpirationTime",
    "PopReceipt",
    "TimeNextVisible",
    "DequeueCount",
    "MessageText",
)
# What the short way leaves to the full reader: tags within a text, a bare ">" (which the service
# escapes, and which may be the end of a CDATA section), control characters, and a CR, which a
# reader of XML turns into a line feed.
_TEXT = r"[^<>\x00-\x08\x0b-\x1f\ufffe\uffff]*"
_BEGIN = re.compile(
    r'\ufeff?(?:<\?xml version="1\.0"(?: encoding="(?i:utf-8)")?(?: standalone="yes")?'
    r"[ \t\r\n]*\?>)?[ \t\r\n]*<QueueMessagesList>"
)
_MESSAGE = re.compile(
    "<QueueMessage>" + "".join(f"<{name}>({_TEXT})</{name}>" for name in _NAMES) + "</QueueMessage>"
)
_END = "</QueueMessagesList>"
_NAMED = re.compile("&(lt|gt|quot|apos|amp);")
_CHARACTERS: Mapping[str, str] = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}


def read_messages(body: bytes) -> list[QueueMessage]:
    """The messages of a `QueueMessagesList`. Raises MarkupError.

    A peeked message has neither receipt nor time of next visibility: "" and the time of its
    insertion stand for them.
    """
    times: dict[str, datetime] = {}

    def time_of(text: str) -> datetime:
        # The messages of one answer share most of their times.
        if (seen := times.get(text)) is None:
            seen = times[text] = read_time(text)
        return seen

    try:
        return [
            QueueMessage(
                id=message_id,
                text=text,
                dequeue_count=int(dequeue_count),
                inserted=time_of(inserted),
                expires=time_of(expires),
                next_visible=time_of(next_visible),
                pop_receipt=pop_receipt,
            )
            for (
                message_id,
                inserted,
                expires,
                pop_receipt,
                next_visible,
                dequeue_count,
                text,
            ) in _fields(body)
        ]
    except (KeyError, ValueError) as error:
        raise MarkupError(f"a message lacks or misspells {error}") from error


def _fields(body: bytes) -> Sequence[Sequence[str]]:
    """Each message's texts in the order of `_NAMES`. Raises KeyError or MarkupError."""
    found = _scanned(body)
    if found is None:
        found = [_of(record) for record in read_records(body, "QueueMessagesList")]
    return found


def _of(record: Record) -> Sequence[str]:
    known = {
        "PopReceipt": "",
        "TimeNextVisible": record["InsertionTime"],
        "MessageText": "",
        **record,
    }
    return [known[name] for name in _NAMES]


def _scanned(body: bytes) -> list[Sequence[str]] | None:
    """The same in one pass; None for an answer that is written in another way."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if (begin := _BEGIN.match(text)) is None:
        return None
    at = begin.end()
    found: list[Sequence[str]] = []
    while message := _MESSAGE.match(text, at):
        at = message.end()
        found.append(message.groups())
    if text[at:].rstrip(" \t\r\n") != _END:  # XML knows no other white space
        return None
    return found if "&" not in text else _unescaped(found)


def _unescaped(found: list[Sequence[str]]) -> list[Sequence[str]] | None:
    """With XML's own five names in place; None where there are others, or numbers."""
    plain: list[Sequence[str]] = []
    for fields in found:
        texts: list[str] = []
        for text in fields:
            replaced, count = _NAMED.subn(lambda name: _CHARACTERS[name[1]], text)
            if count != text.count("&"):
                return None
            texts.append(replaced)
        plain.append(texts)
    return plain

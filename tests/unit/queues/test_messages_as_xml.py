"""Lists of messages are read as any reader of XML reads them, and never otherwise.

The oracle is the standard library's tree. Read by the client, whatever reads for it: a short way
for the service's own way of writing must give the same for every other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from xml.etree import ElementTree as ET
from xml.parsers import expat
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qtrigger.errors import QueueUnavailable
from qtrigger.queues.account import emulator_account
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.rest import RestQueueService
from qtrigger.testing.clock import ManualClock
from tests.unit.queues.transports import ScriptedTransport, answer

NAMES: Final = (
    "MessageId",
    "InsertionTime",
    "ExpirationTime",
    "PopReceipt",
    "TimeNextVisible",
    "DequeueCount",
    "MessageText",
)
NOT_NEEDED: Final = ("PopReceipt", "TimeNextVisible", "MessageText")

# What XML 1.0 can carry; a CR as it is becomes a line feed, for every reader.
CHARACTERS = st.one_of(
    st.sampled_from("<>&\"';]=#x \t\n\r\u00a0\u2028\ufeff\ufffd😀"),
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff"),
)
TEXTS = st.text(CHARACTERS, max_size=40)
TIME: Final = "%a, %d %b %Y %H:%M:%S GMT"
TIMES = st.datetimes(datetime(1970, 1, 1)).map(  # noqa: DTZ001 - hypothesis takes bounds without
    lambda time: time.strftime(TIME)
)


def by_number(text: str) -> str:
    return "".join(f"&#x{ord(c):x};" if ord(c) % 2 else f"&#{ord(c)};" for c in text)


def in_cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


# The ways to write a text.
WRITERS: Mapping[str, Callable[[str], str]] = {
    "service": escape,
    "named": lambda text: escape(text, {'"': "&quot;", "'": "&apos;", "\r": "&#xD;"}),
    "by number": by_number,
    "in CDATA": in_cdata,
    "in two": lambda text: f"{escape(text[:3])}<!-- a - b --><?by hand?>{escape(text[3:])}",
}

DECLARATIONS = (
    "",
    '<?xml version="1.0" encoding="utf-8"?>',
    "<?xml version='1.0' encoding='UTF-8' ?>",
    '<?xml version="1.0"?>\n',
    '<?xml version="1.0" encoding="utf-8" standalone="yes"?><!-- written by hand -->',
    '\ufeff<?xml version="1.0" encoding="utf-8"?>',
    "\ufeff",
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a list is written."""

    declaration: str
    write: str
    gap: str
    attribute: str
    order: tuple[str, ...]
    encoding: str

    def list_of(self, messages: Sequence[Mapping[str, str]]) -> bytes:
        inner = self.gap.join(map(self._message, messages))
        tag = f"QueueMessagesList{self.attribute}"
        whole = f"<{tag}>{self.gap}{inner}{self.gap}</QueueMessagesList>{self.gap}"
        if self.encoding == "utf-16":
            return f'<?xml version="1.0" encoding="utf-16"?>{whole}'.encode("utf-16")
        return f"{self.declaration}{whole}".encode()

    def _message(self, fields: Mapping[str, str]) -> str:
        write = WRITERS[self.write]
        inner = [
            f"<{name}{self.attribute}>{write(fields[name])}</{name}>"
            for name in self.order
            if name in fields
        ]
        return f"<QueueMessage>{self.gap.join(['', *inner, ''])}</QueueMessage>"


OF_THE_SERVICE: Final = Style(DECLARATIONS[5], "service", "", "", NAMES, "utf-8")
STYLES = st.builds(
    Style,
    st.sampled_from(DECLARATIONS),
    st.sampled_from(list(WRITERS)),
    st.sampled_from(["", "\n", "\r\n  ", "<!-- by hand -->", "\t<?by hand?>"]),
    st.sampled_from(["", " ", ' a="b"', " a = '>' xml:space='preserve'"]),
    st.one_of(st.just(NAMES), st.permutations(NAMES).map(tuple)),
    st.sampled_from(["utf-8", "utf-8", "utf-16"]),
)


@st.composite
def fields_of_a_message(draw: st.DrawFn) -> dict[str, str]:
    fields = {name: draw(TEXTS) for name in ("MessageId", "PopReceipt", "MessageText")}
    fields |= {name: draw(TIMES) for name in NAMES if "Time" in name}
    fields["DequeueCount"] = str(draw(st.integers(0, 2**31)))
    for name in draw(st.sets(st.sampled_from(NOT_NEEDED))):
        del fields[name]
    return fields


LISTS = st.lists(fields_of_a_message(), max_size=3)


async def read(body: bytes) -> list[QueueMessage]:
    """What the client makes of an answer with that body."""
    transport = ScriptedTransport([answer(200, body)])
    service = RestQueueService(emulator_account(10001), ManualClock(), transport=transport)
    return list(await service.queue("orders").receive(32, 30))


def by_the_tree(body: bytes) -> list[dict[str, str]]:
    """The same by the standard library: each message's texts by tag.

    Raises ParseError for what is no XML, and Strange for XML that no service would write.
    """
    try:
        root = ET.fromstring(body)
    except ET.ParseError:
        if _is_well_formed(body):
            raise Strange from None  # but for a colon, which the rules of namespaces refuse
        raise
    if root.tag != "QueueMessagesList" or b"<!DOCTYPE" in body or (root.text or "").strip():
        raise Strange
    for each in root:
        tags = [field.tag for field in each]
        beside = [each.tail, each.text, *(field.tail for field in each)]
        if len(set(tags)) < len(tags) or any((text or "").strip() for text in beside):
            raise Strange
        if any(len(field) for field in each):
            raise Strange
    return [{field.tag: field.text or "" for field in each} for each in root]


def _is_well_formed(body: bytes) -> bool:
    try:
        expat.ParserCreate().Parse(body, True)
    except expat.ExpatError:
        return False
    return True


class Strange(Exception):
    """Well-formed, and still no list of messages: whether it is read is left open."""


def expected(fields: Mapping[str, str]) -> QueueMessage:
    def time(name: str) -> datetime:
        read = datetime.strptime(fields[name], TIME).replace(tzinfo=UTC)
        if read.strftime(TIME) != fields[name]:  # blanks, or another day of the week
            raise ValueError(name)
        return read

    return QueueMessage(
        id=fields["MessageId"],
        text=fields.get("MessageText", ""),
        dequeue_count=int(fields["DequeueCount"]),
        inserted=time("InsertionTime"),
        expires=time("ExpirationTime"),
        next_visible=time("TimeNextVisible" if "TimeNextVisible" in fields else "InsertionTime"),
        pop_receipt=fields.get("PopReceipt", ""),
    )


@given(LISTS, STYLES)
async def test_any_list_is_read_as_a_tree_of_xml_is(
    messages: list[dict[str, str]], style: Style
) -> None:
    body = style.list_of(messages)

    assert await read(body) == [expected(fields) for fields in by_the_tree(body)]


@given(LISTS)
async def test_a_list_of_the_service_gives_the_texts_that_went_in(
    messages: list[dict[str, str]],
) -> None:
    style = Style(OF_THE_SERVICE.declaration, "named", "", "", NAMES, "utf-8")

    assert await read(style.list_of(messages)) == [expected(fields) for fields in messages]


WHOLE: Final = OF_THE_SERVICE.list_of(
    [
        {
            "MessageId": "m1",
            "InsertionTime": "Tue, 01 Dec 2026 03:29:55 GMT",
            "ExpirationTime": "Tue, 08 Dec 2026 03:29:55 GMT",
            "PopReceipt": "AgA+/==",
            "TimeNextVisible": "Tue, 01 Dec 2026 03:39:55 GMT",
            "DequeueCount": "3",
            "MessageText": text,
        }
        for text in ("a & b", "aGk=")
    ]
).decode()
AT_TEXT: Final = WHOLE.index("a &amp; b")
FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            *("<", ">", "&", ";", "]]>", "&#0;", "&#x1;", "&#xD;", "&nope;", "&lt", "&#xD800;"),
            *(
                "<b/>",
                "</b>",
                "<!-- x -->",
                "<!--",
                "<![CDATA[",
                "<?x?>",
                "<?xml?>",
                "\x00",
                "\x01",
            ),
            *("\x0b", "\x85", "\u00a0", "\ufeff", "\ufffe", "\uffff", "\r", " ", "\n", '"', "/"),
            *(
                "<QueueMessage>",
                "</QueueMessage>",
                "</MessageText>",
                "<MessageText>",
                "<!DOCTYPE a>",
            ),
        ]
    ),
    st.text(max_size=3).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
)


# Most of what can go wrong goes wrong where a text or a tag begins or ends.
EDGES: Final = [at for at in range(len(WHOLE)) if WHOLE[at] in "<&" or WHOLE[at - 1 : at] in "> ;"]
PLACES = st.one_of(st.integers(0, len(WHOLE)), st.sampled_from(EDGES))


@example(at=AT_TEXT, cut=0, fragment="]]>")
@example(at=WHOLE.index("xml"), cut=0, fragment=":")
@example(at=WHOLE.index('"1.0"'), cut=1, fragment="'")
@example(at=len(WHOLE), cut=0, fragment="\u00a0")
@example(at=len(WHOLE), cut=0, fragment="<QueueMessagesList/>")
@example(at=0, cut=0, fragment=" ")
@example(at=WHOLE.index("<QueueMessagesList>"), cut=0, fragment="\u2003")
@example(at=WHOLE.index("<QueueMessagesList>"), cut=0, fragment="text")
@settings(max_examples=300)
@given(PLACES, st.integers(0, 4), FRAGMENTS)
async def test_a_list_that_was_damaged_is_refused_or_read_as_a_tree_of_xml_is(
    at: int, cut: int, fragment: str
) -> None:
    body = (WHOLE[:at] + fragment + WHOLE[at + cut :]).encode()
    try:
        tree = by_the_tree(body)
    except Strange:
        return
    except (ET.ParseError, LookupError, ValueError):  # the last two: an encoding that it has not
        with pytest.raises(QueueUnavailable):
            await read(body)
        return
    try:
        wanted = [expected(fields) for fields in tree]
    except (KeyError, ValueError):  # a field is missing, a time or a count is none
        return
    assert await read(body) == wanted

"""The XML of the queue service's bodies, and its way to write times.

Owns reading and writing; knows no status and no header. Reads with expat alone: the bodies are
shallow lists, and a document with a type declaration (the door to entity tricks) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from xml.parsers import expat

Record = dict[str, str]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# A bare CR would come back as LF: XML readers must turn it into one.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})


class MarkupError(Exception):
    """The body is not the XML it should be."""


def read_sent_id(body: bytes) -> str:
    """The id in the answer to a put. Raises MarkupError."""
    match read_records(body, "QueueMessagesList"):
        case [{"MessageId": message_id}]:
            return message_id
        case _:
            raise MarkupError("no single MessageId")


def read_error(body: bytes) -> tuple[str, str]:
    """Code and message (its first line) of an error's body; both empty when it is none."""
    try:
        fields = read_fields(body, "Error")
    except MarkupError:
        return "", ""
    return fields.get("Code", ""), fields.get("Message", "").partition("\n")[0].strip()


def read_fields(body: bytes, root: str) -> Record:
    """The texts of `root`'s children by tag. Raises MarkupError."""
    fields: Record = {}

    def closed(depth: int, tag: str, text: str) -> None:
        if depth == 2:
            fields[tag] = text

    _walk(body, root, closed)
    return fields


def read_records(body: bytes, root: str) -> list[Record]:
    """The children of `root`, each as the texts of its own children by tag. Raises MarkupError."""
    records: list[Record] = []
    record: Record = {}

    def closed(depth: int, tag: str, text: str) -> None:
        nonlocal record
        if depth == 3:
            record[tag] = text
        elif depth == 2:
            records.append(record)
            record = {}

    _walk(body, root, closed)
    return records


def _walk(body: bytes, root: str, closed: Callable[[int, str, str], None]) -> None:
    """Tell `closed` the depth (the root's is 1), tag and text of each element as it ends."""
    open_tags: list[str] = []
    text: list[str] = []

    def start(tag: str, _attributes: dict[str, str]) -> None:
        if not open_tags and tag != root:
            raise MarkupError(f"the document is <{tag}> where <{root}> belongs")
        open_tags.append(tag)
        text.clear()

    def end(tag: str) -> None:
        closed(len(open_tags), tag, "".join(text))
        open_tags.pop()
        text.clear()

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = _refuse_type_declaration
    try:
        parser.Parse(body, True)  # noqa: FBT003 - expat takes no keywords
    # The other two are what Python says to an encoding that it has not, as a proxy's page may name.
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise MarkupError(f"not well-formed: {error}") from error


def _refuse_type_declaration(*_declaration: object) -> None:
    raise MarkupError("the document declares a type of its own")


def write_message(text: str) -> bytes:
    """The body of a put or an update."""
    return (f"<QueueMessage><MessageText>{escape(text)}</MessageText></QueueMessage>").encode()


def escape(text: str) -> str:
    """`text` as an element's content; what XML cannot hold is the caller's to refuse."""
    return text.translate(_ESCAPES)


def read_time(text: str) -> datetime:
    """A time such as `Tue, 01 Dec 2026 03:29:55 GMT`, with zone UTC. Raises ValueError."""
    if len(text) != 29 or text[25:] != " GMT":
        raise ValueError(f"{text!r} is no time of the service's form")
    return datetime(
        int(text[12:16]),
        _MONTHS.index(text[8:11]) + 1,
        int(text[5:7]),
        int(text[17:19]),
        int(text[20:22]),
        int(text[23:25]),
        tzinfo=UTC,
    )


def write_time(time: datetime) -> str:
    """The same, the other way; the time must have zone UTC."""
    return format_datetime(time, usegmt=True)

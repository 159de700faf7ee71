"""The requests of the queue service's REST interface.

Owns paths, queries and the version, and what each operation needs by way of rights. Knows no
signature, no transport and no answer.
"""

from __future__ import annotations

import string
from urllib.parse import quote

from qtrigger.queues.markup import write_message
from qtrigger.values import value

# Has all that a queue needs, and every Azurite takes it without a flag.
API_VERSION = "2021-12-02"

CONTENT_TYPE = "application/xml"

# What base64 is made of, and what no escaping touches.
_PLAIN = (string.ascii_letters + string.digits + "_.~+/=-").encode()


@value(frozen=True, slots=True, kw_only=True)
class Operation:
    """What a request does, in words; the least role and the SAS permission that allow it.

    `name` is a short stable word, for counts.
    """

    name: str
    words: str
    role: str
    permission: str


GET_MESSAGES = Operation(
    name="get_messages",
    words="get messages",
    role="Storage Queue Data Message Processor",
    permission="p (process)",
)
UPDATE_MESSAGE = Operation(
    name="update_message",
    words="update a message (renew or release its lease)",
    role="Storage Queue Data Contributor",
    permission="u (update)",
)
DELETE_MESSAGE = Operation(
    name="delete_message",
    words="delete a message",
    role="Storage Queue Data Message Processor",
    permission="p (process)",
)
PUT_MESSAGE = Operation(
    name="put_message",
    words="put a message",
    role="Storage Queue Data Message Sender",
    permission="a (add)",
)
PEEK_MESSAGES = Operation(
    name="peek_messages",
    words="peek at messages",
    role="Storage Queue Data Reader",
    permission="r (read)",
)
GET_PROPERTIES = Operation(
    name="get_properties",
    words="read the queue's properties",
    role="Storage Queue Data Reader",
    permission="r (read)",
)
CREATE_QUEUE = Operation(
    name="create_queue",
    words="create the queue",
    role="Storage Queue Data Contributor",
    permission="c (create) of an account SAS",
)
CLEAR_MESSAGES = Operation(
    name="clear_messages",
    words="clear the queue",
    role="Storage Queue Data Contributor",
    permission="d (delete) of an account SAS",
)
LIST_QUEUES = Operation(
    name="list_queues",
    words="list the queues",
    role="Storage Queue Data Reader",
    permission="l (list) of an account SAS",
)


@value(frozen=True, slots=True, kw_only=True)
class Request:
    """A request before it is signed.

    `path` is escaped and begins with a slash; `query` holds plain values, sorted by name as
    signing wants them.
    """

    operation: Operation
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    @property
    def target(self) -> str:
        """Path and query as they go over the wire."""
        if not self.query:
            return self.path
        pairs = "&".join([f"{name}={escaped(value)}" for name, value in self.query])
        return f"{self.path}?{pairs}"


def escaped(value: str) -> str:
    """`value` as a part of a path or a query; ids and receipts, which are base64, the short way."""
    if value.isascii() and not value.encode().translate(None, _PLAIN):
        return value.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    return quote(value, safe="")


def get_messages(queue_path: str, count: int, visibility_timeout_s: float) -> Request:
    """Get Messages."""
    return Request(
        operation=GET_MESSAGES,
        method="GET",
        path=f"{queue_path}/messages",
        query=(
            ("numofmessages", str(count)),
            ("visibilitytimeout", str(int(visibility_timeout_s))),
        ),
    )


def update_message(
    queue_path: str,
    message_id: str,
    pop_receipt: str,
    visibility_timeout_s: float,
    text: str | None,
) -> Request:
    """Update Message; without a text it sends no body, and the service keeps the old one."""
    return Request(
        operation=UPDATE_MESSAGE,
        method="PUT",
        path=f"{queue_path}/messages/{escaped(message_id)}",
        query=(
            ("popreceipt", pop_receipt),
            ("visibilitytimeout", str(int(visibility_timeout_s))),
        ),
        body=b"" if text is None else write_message(text),
    )


def delete_message(queue_path: str, message_id: str, pop_receipt: str) -> Request:
    """Delete Message."""
    return Request(
        operation=DELETE_MESSAGE,
        method="DELETE",
        path=f"{queue_path}/messages/{escaped(message_id)}",
        query=(("popreceipt", pop_receipt),),
    )


def put_message(queue_path: str, text: str, delay_s: float | None, ttl_s: float | None) -> Request:
    """Put Message; what is None is left to the service."""
    query: list[tuple[str, str]] = []
    if ttl_s is not None:
        query.append(("messagettl", str(int(ttl_s))))
    if delay_s is not None:
        query.append(("visibilitytimeout", str(int(delay_s))))
    return Request(
        operation=PUT_MESSAGE,
        method="POST",
        path=f"{queue_path}/messages",
        query=tuple(query),
        body=write_message(text),
    )


def peek_messages(queue_path: str, count: int) -> Request:
    """Peek Messages."""
    return Request(
        operation=PEEK_MESSAGES,
        method="GET",
        path=f"{queue_path}/messages",
        query=(("numofmessages", str(count)), ("peekonly", "true")),
    )


def get_properties(queue_path: str) -> Request:
    """Get Queue Metadata."""
    return Request(
        operation=GET_PROPERTIES, method="GET", path=queue_path, query=(("comp", "metadata"),)
    )


def clear_messages(queue_path: str) -> Request:
    """Clear Messages."""
    return Request(operation=CLEAR_MESSAGES, method="DELETE", path=f"{queue_path}/messages")


def create_queue(queue_path: str) -> Request:
    """Create Queue."""
    return Request(operation=CREATE_QUEUE, method="PUT", path=queue_path)

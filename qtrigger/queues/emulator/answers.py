"""What the built-in emulator answers: statuses, headers and XML as the service writes them.

Owns the form only; knows no queue and no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiohttp import web

from qtrigger import __version__
from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    MessageTooLarge,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.ids import new_id
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.markup import escape, write_time
from qtrigger.queues.wire import API_VERSION

SERVER = f"qtrigger-emulator/{__version__}"

_INTERNAL = (500, "InternalError")
_USUAL: Mapping[type[QueueError], tuple[int, str]] = {
    QueueUnavailable: (503, "ServerBusy"),
    QueueMissing: (404, "QueueNotFound"),
    LeaseLostError: (404, "MessageNotFound"),
    AccessDenied: (403, "AuthorizationPermissionMismatch"),
    MessageTooLarge: (413, "RequestBodyTooLarge"),
    QueueRejected: (400, "InvalidInput"),
}

_PROLOG = '<?xml version="1.0" encoding="utf-8"?>'


def plain(status: int, **headers: str) -> web.Response:
    """An answer without a body; an underscore in a header's name stands for a hyphen."""
    return _answer(status, {name.replace("_", "-"): value for name, value in headers.items()})


def with_metadata(metadata: Mapping[str, str], count: int) -> web.Response:
    """A queue's metadata and its approximate count."""
    headers = {f"x-ms-meta-{name}": value for name, value in metadata.items()}
    return _answer(200, {**headers, "x-ms-approximate-messages-count": str(count)})


def received(messages: Iterable[QueueMessage]) -> web.Response:
    """The answer to a get."""
    return _messages(200, [_received(message) for message in messages])


def peeked(messages: Iterable[QueueMessage]) -> web.Response:
    """The answer to a peek: no receipts."""
    return _messages(200, [_identity(message) + _content(message) for message in messages])


def put(message: QueueMessage) -> web.Response:
    """The answer to a put."""
    return _messages(201, [_identity(message) + _right(message)])


def queues(
    names: Iterable[str], *, prefix: str, metadata: Mapping[str, Mapping[str, str]], next_: str
) -> web.Response:
    """A page of the list of queues; `next_` is the marker of the page after it, "" at the end."""
    entries = "".join(
        f"<Queue>{_field('Name', name)}{_metadata(metadata.get(name, {}))}</Queue>"
        for name in names
    )
    return _xml(
        200,
        f"<EnumerationResults>{_field('Prefix', prefix)}<Queues>{entries}</Queues>"
        f"{_field('NextMarker', next_)}</EnumerationResults>",
    )


def acl() -> web.Response:
    """A queue without stored access policies."""
    return _xml(200, "<SignedIdentifiers></SignedIdentifiers>")


def error(failure: QueueError) -> web.Response:
    """The service's form of `failure`, in its own status and code where it has none."""
    usual = next((value for kind, value in _USUAL.items() if isinstance(failure, kind)), _INTERNAL)
    status, code = (failure.status, failure.code) if failure.status else usual
    answer = _xml(status, f"<Error>{_field('Code', code)}{_field('Message', str(failure))}</Error>")
    if code:
        answer.headers["x-ms-error-code"] = code
    if isinstance(failure, QueueUnavailable) and failure.retry_after_s is not None:
        answer.headers["Retry-After"] = str(int(failure.retry_after_s))
    return answer


def _messages(status: int, messages: list[str]) -> web.Response:
    entries = "".join(f"<QueueMessage>{message}</QueueMessage>" for message in messages)
    return _xml(status, f"<QueueMessagesList>{entries}</QueueMessagesList>")


def _received(message: QueueMessage) -> str:
    return _identity(message) + _right(message) + _content(message)


def _identity(message: QueueMessage) -> str:
    return (
        _field("MessageId", message.id)
        + _field("InsertionTime", write_time(message.inserted))
        + _field("ExpirationTime", write_time(message.expires))
    )


def _right(message: QueueMessage) -> str:
    return _field("PopReceipt", message.pop_receipt) + _field(
        "TimeNextVisible", write_time(message.next_visible)
    )


def _content(message: QueueMessage) -> str:
    return _field("DequeueCount", str(message.dequeue_count)) + _field("MessageText", message.text)


def _metadata(metadata: Mapping[str, str]) -> str:
    if not metadata:
        return ""
    return (
        f"<Metadata>{''.join(_field(name, value) for name, value in metadata.items())}</Metadata>"
    )


def _field(name: str, value: str) -> str:
    return f"<{name}>{escape(value)}</{name}>"


def _xml(status: int, body: str) -> web.Response:
    answer = _answer(status, {})
    answer.content_type = "application/xml"
    answer.body = (_PROLOG + body).encode()
    return answer


def _answer(status: int, headers: Mapping[str, str]) -> web.Response:
    return web.Response(
        status=status,
        headers={
            "Server": SERVER,
            "x-ms-request-id": new_id(),
            "x-ms-version": API_VERSION,
            **headers,
        },
    )

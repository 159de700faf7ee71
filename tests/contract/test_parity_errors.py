"""A refusal is, in our family of errors, what it is in the SDK's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)

from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    MessageTooLarge,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from tests.contract.pairs import (
    CLEAR,
    COUNT,
    CREATE,
    DELETE,
    PEEK,
    RECEIVE,
    RENEW,
    SEND,
    Verb,
    pair_by_string,
)
from tests.contract.recording import answer
from tests.contract.sockets import Way

VERBS: Mapping[str, Verb] = {
    "receive": RECEIVE,
    "peek": PEEK,
    "renew": RENEW,
    "delete": DELETE,
    "send": SEND,
    "count": COUNT,
    "create": CREATE,
    "clear": CLEAR,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status and a code, and what each client calls them."""

    status: str
    code: str
    ours: type[QueueError]
    theirs: type[HttpResponseError]

    def __str__(self) -> str:
        return f"{self.status[:3]} {self.code}".strip()


REFUSALS = [
    Refusal("404 Not Found", "QueueNotFound", QueueMissing, ResourceNotFoundError),
    Refusal("404 Not Found", "", QueueMissing, ResourceNotFoundError),
    Refusal("404 Not Found", "MessageNotFound", LeaseLostError, ResourceNotFoundError),
    Refusal("404 Not Found", "ResourceNotFound", QueueRejected, ResourceNotFoundError),
    Refusal("400 Bad Request", "PopReceiptMismatch", LeaseLostError, HttpResponseError),
    Refusal("400 Bad Request", "OutOfRangeQueryParameterValue", QueueRejected, HttpResponseError),
    Refusal("400 Bad Request", "InvalidHeaderValue", QueueRejected, HttpResponseError),
    Refusal("400 Bad Request", "", QueueRejected, HttpResponseError),
    Refusal("409 Conflict", "QueueBeingDeleted", QueueMissing, ResourceExistsError),
    Refusal("409 Conflict", "QueueDisabled", QueueRejected, ResourceExistsError),
    Refusal("409 Conflict", "", QueueRejected, ResourceExistsError),
    Refusal("413 Too Large", "RequestBodyTooLarge", MessageTooLarge, HttpResponseError),
    Refusal(
        "401 Unauthorized", "NoAuthenticationInformation", AccessDenied, ClientAuthenticationError
    ),
    Refusal(
        "401 Unauthorized", "InvalidAuthenticationInfo", AccessDenied, ClientAuthenticationError
    ),
    Refusal("403 Forbidden", "AuthenticationFailed", AccessDenied, ClientAuthenticationError),
    Refusal("403 Forbidden", "AuthorizationFailure", AccessDenied, HttpResponseError),
    Refusal("403 Forbidden", "AuthorizationPermissionMismatch", AccessDenied, HttpResponseError),
    Refusal("403 Forbidden", "", AccessDenied, HttpResponseError),
    Refusal("408 Request Timeout", "", QueueUnavailable, HttpResponseError),
    Refusal("429 Too Many Requests", "", QueueUnavailable, HttpResponseError),
    Refusal("500 Internal Server Error", "OperationTimedOut", QueueUnavailable, HttpResponseError),
    Refusal("500 Internal Server Error", "InternalError", QueueUnavailable, HttpResponseError),
    Refusal("500 Internal Server Error", "", QueueUnavailable, HttpResponseError),
    Refusal("503 Service Unavailable", "ServerBusy", QueueUnavailable, HttpResponseError),
    Refusal("503 Service Unavailable", "", QueueUnavailable, HttpResponseError),
    Refusal("504 Gateway Timeout", "", QueueUnavailable, HttpResponseError),
]


def in_body(code: str) -> bytes:
    return (
        f'\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code>'
        "<Message>It is so.\nRequestId:1\nTime:2026-12-01T00:00:00Z</Message></Error>"
    ).encode()


# Where the service says its code: mostly in both places.
PLACES: Mapping[str, Callable[[Refusal], bytes]] = {
    "both": lambda each: answer(each.status, in_body(each.code), x_ms_error_code=each.code),
    "header": lambda each: answer(each.status, x_ms_error_code=each.code),
    "body": lambda each: answer(each.status, in_body(each.code)),
}


def places(refusal: Refusal) -> list[bytes]:
    if not refusal.code:
        return [answer(refusal.status)]
    return [write(refusal) for write in PLACES.values()]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
async def test_a_refusal_of_any_verb_is_the_sdks_by_class_code_and_status(
    way: Way, refusal: Refusal
) -> None:
    said: list[bytes] = []

    async with pair_by_string(way, plays=lambda _: said) as pair:
        for said[:] in ([each] for each in places(refusal)):
            for name, verb in VERBS.items():
                pair.server.seen.clear()
                with pytest.raises(QueueError) as ours:
                    await verb.ours(pair.ours)
                with pytest.raises(HttpResponseError) as theirs:
                    await verb.theirs(pair.theirs)

                assert type(ours.value) is refusal.ours, name
                assert isinstance(theirs.value, refusal.theirs), name
                assert ours.value.status == theirs.value.status_code == int(refusal.status[:3])
                their_code = getattr(theirs.value, "error_code", None) or ""
                assert ours.value.code == refusal.code == their_code
                assert len(pair.server.seen) == 2, "tried twice"


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [("7", 7.0), ("0", 0.0), ("86400", 60.0), ("Tue, 01 Dec 2020 12:00:00 GMT", 0.0), (None, None)],
)
async def test_the_wish_for_a_pause_is_the_one_that_the_sdk_was_told(
    way: Way, wish: str | None, seconds: float | None
) -> None:
    headers = {} if wish is None else {"Retry_After": wish}
    said = answer("503 Busy", in_body("ServerBusy"), x_ms_error_code="ServerBusy", **headers)

    async with pair_by_string(way, plays=lambda _: [said]) as pair:
        for verb in VERBS.values():
            with pytest.raises(QueueUnavailable) as ours:
                await verb.ours(pair.ours)
            with pytest.raises(HttpResponseError) as theirs:
                await verb.theirs(pair.theirs)

            told: Any = theirs.value.response
            assert told.headers.get("Retry-After") == wish
            assert (ours.value.retry_after_s, ours.value.busy) == (seconds, True)


PAGES = {
    "html": b"<html><body>Sign in to the network</body></html>",
    "xhtml": b'<?xml version="1.0" encoding="gb2312"?><html><body>\xb5\xc7\xc2\xbc</body></html>',
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 407, 409, 502, 503])
async def test_a_page_of_a_proxy_is_an_outage_whatever_its_status(
    way: Way, status: int, page: bytes
) -> None:
    """The SDK goes by the status alone: a page of 404 would be a queue that is missing."""
    head = (
        f"HTTP/1.1 {status} Said\r\nServer: nginx\r\nContent-Type: text/html\r\n"
        f"Location: http://127.0.0.1:1/\r\nContent-Length: {len(page)}\r\n\r\n"
    )

    async with pair_by_string(way, plays=lambda _: [head.encode() + page]) as pair:
        for verb in VERBS.values():
            with pytest.raises(QueueUnavailable) as ours:
                await verb.ours(pair.ours)
            assert (ours.value.status, ours.value.code) == (status, "")
            if status >= 400 and page is PAGES["html"]:  # the SDK's own reader fails on the other
                with pytest.raises(HttpResponseError) as theirs:
                    await verb.theirs(pair.theirs)
                assert theirs.value.status_code == status


async def test_a_queue_that_is_there_already_is_made_and_one_that_is_missing_does_not_exist(
    way: Way,
) -> None:
    said: list[bytes] = []

    async with pair_by_string(way, plays=lambda _: said) as pair:
        for status, code in [("409 Conflict", "QueueAlreadyExists"), ("204 No Content", "")]:
            said[:] = [answer(status, x_ms_error_code=code) if code else answer(status)]
            await CREATE.ours(pair.ours)
            with pytest.raises(ResourceExistsError):
                await CREATE.theirs(pair.theirs)

        said[:] = [answer("404 Not Found", in_body("QueueNotFound"))]
        assert not await pair.ours.exists()
        said[:] = [answer("403 Forbidden", in_body("AuthorizationFailure"))]
        with pytest.raises(AccessDenied):
            await pair.ours.exists()

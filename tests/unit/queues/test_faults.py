"""What failed requests mean, and what their errors say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    MessageTooLarge,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.queues import wire
from qtrigger.queues.account import Account, Credential, Identity, Sas, SharedKey, emulator_account
from qtrigger.queues.faults import Attempt, from_response, from_silence
from qtrigger.queues.transport import NoAnswer, Response, Silence

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
ADDRESS = "https://acme.queue.core.windows.net/orders"
KEY = SharedKey(account="acme", key="c2VjcmV0")


def attempt(operation: wire.Operation = wire.GET_MESSAGES, credential: Credential = KEY) -> Attempt:
    account = Account(
        name="acme", endpoint="https://acme.queue.core.windows.net", credential=credential
    )
    return Attempt(operation=operation, address=ADDRESS, account=account)


def answer(status: int, code: str = "", body: bytes = b"", **headers: str) -> Response:
    """An answer of the real service."""
    own = {"Server": "Windows-Azure-Queue/1.0", "x-ms-version": wire.API_VERSION}
    if code:
        own["x-ms-error-code"] = code
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, headers={**own, **named}, body=body)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "QueueNotFound", QueueMissing),
        (409, "QueueBeingDeleted", QueueMissing),
        (404, "", QueueMissing),
        (404, "MessageNotFound", LeaseLostError),
        (400, "PopReceiptMismatch", LeaseLostError),
        (409, "QueueDisabled", QueueRejected),
        (409, "QueueAlreadyExists", QueueRejected),
        (404, "ResourceNotFound", QueueRejected),
        (400, "InvalidHeaderValue", QueueRejected),
        (400, "", QueueRejected),
        (413, "RequestBodyTooLarge", MessageTooLarge),
        (400, "MessageTooLarge", MessageTooLarge),
        (413, "", MessageTooLarge),
        (401, "InvalidAuthenticationInfo", AccessDenied),
        (403, "AuthenticationFailed", AccessDenied),
        (403, "AuthorizationPermissionMismatch", AccessDenied),
        (403, "", AccessDenied),
        (408, "", QueueUnavailable),
        (429, "TooManyRequests", QueueUnavailable),
        (500, "InternalError", QueueUnavailable),
        (500, "OperationTimedOut", QueueUnavailable),
        (500, "", QueueUnavailable),
        (503, "ServerBusy", QueueUnavailable),
    ],
)
def test_statuses_and_codes_are_classified(status: int, code: str, kind: type[QueueError]) -> None:
    error = from_response(attempt(), answer(status, code), NOW)

    assert type(error) is kind
    assert (error.status, error.code) == (status, code)
    assert ADDRESS in str(error)


def test_a_disabled_queue_refuses_a_delete_in_words() -> None:
    error = from_response(attempt(wire.DELETE_MESSAGE), answer(409, "QueueDisabled"), NOW)

    assert isinstance(error, QueueRejected)
    assert "refused to delete a message: 409 QueueDisabled" in str(error)


def test_the_code_is_read_from_the_body_where_no_header_has_it() -> None:
    body = b"<Error><Code>PopReceiptMismatch</Code><Message>No.</Message></Error>"

    error = from_response(attempt(), answer(400, body=body), NOW)

    assert isinstance(error, LeaseLostError)
    assert error.code == "PopReceiptMismatch"


@pytest.mark.parametrize("status", [200, 204, 302, 400, 401, 403, 404, 418])
def test_a_stranger_is_not_taken_for_the_service(status: int) -> None:
    page = Response(
        status=status,
        headers={"Server": "nginx", "Content-Type": "text/html; charset=utf-8"},
        body=b"<html/>",
    )

    error = from_response(attempt(), page, NOW)

    assert isinstance(error, QueueUnavailable)
    assert "text/html), but is no queue service" in str(error)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Tue, 01 Dec 2026 12:00:30 GMT", 30.0),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0.0),
        ("60", 60.0),
        ("86400", 60.0),
        ("9" * 400, 60.0),
        ("Wed, 02 Dec 2026 12:00:00 GMT", 60.0),
        ("Tue, 01 Dec 9999 12:00:00 GMT", 60.0),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("", None),
    ],
)
def test_the_service_may_ask_for_a_pause_of_a_minute_at_most(
    value: str, seconds: float | None
) -> None:
    error = from_response(attempt(), answer(503, "ServerBusy", Retry_After=value), NOW)

    assert isinstance(error, QueueUnavailable)
    assert error.retry_after_s == seconds


@pytest.mark.parametrize(
    ("operation", "role", "permission"),
    [
        (wire.GET_MESSAGES, "Storage Queue Data Message Processor", "p (process)"),
        (wire.DELETE_MESSAGE, "Storage Queue Data Message Processor", "p (process)"),
        (wire.UPDATE_MESSAGE, "Storage Queue Data Contributor", "u (update)"),
        (wire.PUT_MESSAGE, "Storage Queue Data Message Sender", "a (add)"),
        (wire.PEEK_MESSAGES, "Storage Queue Data Reader", "r (read)"),
        (wire.GET_PROPERTIES, "Storage Queue Data Reader", "r (read)"),
        (wire.CREATE_QUEUE, "Storage Queue Data Contributor", "c (create)"),
        (wire.LIST_QUEUES, "Storage Queue Data Reader", "l (list)"),
    ],
)
def test_a_missing_right_is_named_with_its_operation(
    operation: wire.Operation, role: str, permission: str
) -> None:
    refused = answer(403, "AuthorizationPermissionMismatch")

    by_identity = str(from_response(attempt(operation, Identity(kind="default")), refused, NOW))
    by_sas = str(from_response(attempt(operation, Sas(token="sig=s3cret")), refused, NOW))

    assert f"refused to {operation.words}" in by_identity
    assert f"needs the role {role!r}" in by_identity
    assert f"lacks the permission {permission}" in by_sas
    assert "s3cret" not in by_sas


def test_a_refusal_that_may_come_from_network_rules_says_both() -> None:
    identity = attempt(wire.PUT_MESSAGE, Identity(kind="default"))

    text = str(from_response(identity, answer(403, "AuthorizationFailure"), NOW))

    assert "needs the role 'Storage Queue Data Message Sender'" in text
    assert "network rules" in text


@pytest.mark.parametrize(
    ("credential", "hint"),
    [
        (KEY, "key is not one of account 'acme'"),
        (Sas(token="sig=s3cret"), "expired"),
        (Identity(kind="managedidentity"), "token of the identity (managedidentity)"),
    ],
)
def test_an_unaccepted_credential_is_named_by_its_kind(credential: Credential, hint: str) -> None:
    error = from_response(attempt(credential=credential), answer(403, "AuthenticationFailed"), NOW)

    assert hint in str(error)


@pytest.mark.parametrize(
    ("offset", "hint"),
    [
        (timedelta(minutes=20), "clock is 20 min behind the service's"),
        (timedelta(minutes=-20), "clock is 20 min ahead of the service's"),
        (timedelta(minutes=9), None),
    ],
)
def test_a_clock_that_is_off_is_named(offset: timedelta, hint: str | None) -> None:
    date = (NOW + offset).strftime("%a, %d %b %Y %H:%M:%S GMT")

    text = str(from_response(attempt(), answer(403, "AuthenticationFailed", Date=date), NOW))

    assert (hint in text) if hint else ("clock" not in text)


@pytest.mark.parametrize(
    ("reason", "code", "says"),
    [
        (Silence.NOT_CONNECTED, "CannotConnect", "cannot connect"),
        (Silence.UNKNOWN_HOST, "NameNotKnown", "name is not known"),
        (Silence.UNTRUSTED, "CertificateNotTrusted", "SSL_CERT_FILE"),
        (Silence.NO_TLS, "NoTls", "does not speak TLS"),
        (Silence.PROXY, "ProxyFailed", "by the proxy"),
        (Silence.TIMED_OUT, "TimedOut", "did not answer within"),
        (Silence.BROKEN_OFF, "BrokenOff", "broke off"),
        (Silence.TOO_LONG, "AnswerTooLong", "is no queue service"),
        (Silence.CLOSED, "Closed", "has been closed"),
    ],
)
def test_every_silence_is_unavailable_and_says_why(reason: Silence, code: str, says: str) -> None:
    error = from_silence(attempt(), NoAnswer(reason, "detail"))

    assert says in str(error)
    assert ADDRESS in str(error)
    assert "tried to get messages" in str(error)
    assert (error.status, error.code) == (0, code)


def test_each_silence_has_a_code_of_its_own() -> None:
    assert len({from_silence(attempt(), NoAnswer(reason)).code for reason in Silence}) == len(
        Silence
    )


def test_a_refused_connection_to_an_emulator_asks_for_the_emulator() -> None:
    local = Attempt(
        operation=wire.GET_MESSAGES,
        address="http://127.0.0.1:10001/devstoreaccount1/q",
        account=emulator_account(),
    )

    refused = NoAnswer(Silence.NOT_CONNECTED, "Connection refused")

    assert "is the emulator running?" in str(from_silence(local, refused))
    assert "emulator" not in str(from_silence(attempt(), refused))

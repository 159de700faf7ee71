"""What a failed request means: the one place where statuses and codes become `QueueError`s.

Owns the classification and its wording: what was tried, where, why it failed, what to do. Holds
no secret and lets none through: of a response it quotes code and reason, never a header's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    MessageTooLarge,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.queues.account import Account, Identity, Sas, SharedKey
from qtrigger.queues.client import MAX_TEXT_BYTES
from qtrigger.queues.markup import read_error, read_time
from qtrigger.queues.transport import NoAnswer, Response, Silence
from qtrigger.queues.wire import GET_MESSAGES, PEEK_MESSAGES, Operation

# The service refuses signatures dated more than fifteen minutes off; name the cause before that.
SKEW = timedelta(minutes=10)

# The service asks for seconds. A gateway's day, or a time by a clock that is off, would keep a
# lease from being renewed and a queue from being polled; one try a minute harms nobody.
MAX_RETRY_AFTER_S = 60.0

_SERVERS = ("Windows-Azure-Queue", "Azurite-Queue", "qtrigger-emulator")

_MISSING = (QueueMissing, "there is no queue {where}")
_TOO_LARGE = (
    MessageTooLarge,
    f"{{where}} takes messages of {MAX_TEXT_BYTES:,} bytes at most, as encoded",
)
# QueueDisabled (409) is not here and so is a QueueRejected that is told, also after a delete: the
# message is not gone, and somebody has to enable the queue. The references do not agree on it;
# the code that they describe passes over QueueBeingDeleted alone.
_BY_CODE: Mapping[str, tuple[type[QueueError], str]] = {
    "QueueNotFound": _MISSING,
    "QueueBeingDeleted": (
        QueueMissing,
        "{where} is being deleted; its name is free again in half a minute",
    ),
    "PopReceiptMismatch": (
        LeaseLostError,
        "the message in {where} was received or updated by someone else",
    ),
    "MessageNotFound": (LeaseLostError, "the message is no longer in {where}"),
    "RequestBodyTooLarge": _TOO_LARGE,
    "MessageTooLarge": _TOO_LARGE,
}
# For an answer without a code, which some refusals of the service are.
_BY_STATUS: Mapping[int, tuple[type[QueueError], str]] = {404: _MISSING, 413: _TOO_LARGE}

_WHY_DENIED = {
    "AuthorizationFailure": "{right}, or the account's network rules keep this machine out",
    "AuthorizationSourceIPMismatch": "the SAS is not for this machine's address",
    "AuthorizationProtocolMismatch": "the SAS is for https only",
    "AuthorizationServiceMismatch": "the SAS is not for the queue service (ss=q)",
    "AuthorizationResourceTypeMismatch": "the SAS is not for this type of resource (srt=sco)",
    "KeyBasedAuthenticationNotPermitted": "the account takes no keys; use an identity",
    "AccountIsDisabled": "the account is disabled",
    "AuthorizationPermissionMismatch": "{right}",
    "InsufficientAccountPermissions": "{right}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request that failed: what it was for, on which address, of which account."""

    operation: Operation
    address: str
    account: Account


def from_response(attempt: Attempt, response: Response, now: datetime) -> QueueError:
    """The error that an answer means which is not the one hoped for; `now` is wall time."""
    status = response.status
    code, reason = _code_and_reason(response)
    if known := _BY_CODE.get(code):
        kind, text = known
        return kind(text.format(where=attempt.address), status=status, code=code)
    genuine = bool(code) or _is_queue_service(response)
    if status in (401, 403) and genuine:
        return AccessDenied(_denied(attempt, response, code, now), status=status, code=code)
    if status in (408, 429) or status >= 500:
        return _unavailable(attempt, response, code, now)
    if not genuine:
        return not_a_queue_service(attempt, response, f"status {status}")
    if not code and (known := _BY_STATUS.get(status)):
        kind, text = known
        return kind(text.format(where=attempt.address), status=status)
    said = " ".join(part for part in (str(status), code, reason) if part)
    return QueueRejected(
        f"{attempt.address} refused to {attempt.operation.words}: {said}", status=status, code=code
    )


def from_silence(attempt: Attempt, failure: NoAnswer) -> QueueUnavailable:
    """The error for a request without an answer; its code says which kind of silence it was."""
    where, detail = attempt.address, failure.detail
    match failure.reason:
        case Silence.NOT_CONNECTED:
            text = f"cannot connect to {where}: {detail}{_emulator_hint(attempt.account)}"
        case Silence.UNKNOWN_HOST:
            text = f"cannot connect to {where}: the host's name is not known; is it spelt right?"
        case Silence.UNTRUSTED:
            text = (
                f"{where} shows a certificate that is not trusted ({detail}); to trust its "
                "authority, set SSL_CERT_FILE to a file with the authority's certificate"
            )
        case Silence.NO_TLS:
            text = f"{where} does not speak TLS ({detail}); is https meant?"
        case Silence.PROXY:
            text = f"cannot reach {where} by the proxy {detail}"
        case Silence.TIMED_OUT:
            text = f"{where} did not answer within {detail}"
        case Silence.BROKEN_OFF:
            text = f"{where} broke off the connection ({detail}){_emulator_hint(attempt.account)}"
        case Silence.TOO_LONG:
            text = f"{where} answers with more than {detail}, but is no queue service"
        case Silence.CLOSED:
            text = f"the connection to {where} has been closed"
    return QueueUnavailable(
        f"{text} (tried to {attempt.operation.words})", code=failure.reason.value
    )


def not_a_queue_service(attempt: Attempt, response: Response, what: str) -> QueueUnavailable:
    """The error for an answer that no queue service gives; `what` says what it was."""
    kind = response.headers.get("Content-Type", "").partition(";")[0] or "no content type"
    return QueueUnavailable(
        f"{attempt.address} answers ({what}, {kind}), but is no queue service "
        f"(tried to {attempt.operation.words})",
        status=response.status,
    )


def _code_and_reason(response: Response) -> tuple[str, str]:
    code, reason = read_error(response.body)
    return response.headers.get("x-ms-error-code") or code, reason


def _is_queue_service(response: Response) -> bool:
    headers = response.headers
    return "x-ms-version" in headers or headers.get("Server", "").startswith(_SERVERS)


def _unavailable(
    attempt: Attempt, response: Response, code: str, now: datetime
) -> QueueUnavailable:
    wish = _retry_after_s(response.headers.get("Retry-After"), now)
    said = f"{response.status} {code}".strip()
    return QueueUnavailable(
        f"{attempt.address} cannot {attempt.operation.words} just now: {said}"
        f"{_unreadable_hint(attempt, response, code)}",
        status=response.status,
        code=code,
        retry_after_s=wish,
    )


def _unreadable_hint(attempt: Attempt, response: Response, code: str) -> str:
    """Name the message that blocks an Azurite: it takes characters that it cannot give out."""
    ours = attempt.operation in (GET_MESSAGES, PEEK_MESSAGES)
    azurite = response.headers.get("Server", "").startswith("Azurite")
    if not (ours and azurite and response.status == 500 and not code and not response.body):
        return ""
    return (
        "; an Azurite answers so when a message there holds a character that XML cannot carry: "
        "clear the queue, and let the sender use base64"
    )


def _retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds from now; the header gives whole seconds or a time, and anything else is no wish."""
    if value is None:
        return None
    if value.strip().isdecimal():
        wish = float(value)
    else:
        try:
            wish = (read_time(value) - now).total_seconds()
        except ValueError:
            return None
    return min(max(wish, 0.0), MAX_RETRY_AFTER_S)


def _denied(attempt: Attempt, response: Response, code: str, now: datetime) -> str:
    text = f"{attempt.address} refused to {attempt.operation.words} ({code or response.status})"
    why = _WHY_DENIED.get(code)
    if why is None:
        return f"{text}: {_unaccepted(attempt.account)}{_skew_hint(response, now)}"
    return f"{text}: {why.format(right=_missing_right(attempt))}"


def _unaccepted(account: Account) -> str:
    match account.credential:
        case SharedKey():
            return f"the key is not one of account {account.name!r}; was it renewed?"
        case Sas():
            return "the SAS is not valid: expired, not valid yet, or its key was renewed"
        case Identity(kind=kind):
            return f"the token of the identity ({kind}) is not accepted; is it of this tenant?"


def _missing_right(attempt: Attempt) -> str:
    match attempt.account.credential:
        case Sas():
            return f"the SAS lacks the permission {attempt.operation.permission}"
        case Identity():
            return f"the identity needs the role {attempt.operation.role!r} on the queue or account"
        case SharedKey():
            return "the account does not allow it"


def _skew_hint(response: Response, now: datetime) -> str:
    try:
        theirs = read_time(response.headers.get("Date", ""))
    except ValueError:
        return ""
    off = now - theirs
    if abs(off) <= SKEW:
        return ""
    minutes = round(abs(off).total_seconds() / 60)
    direction = "ahead of" if off > timedelta() else "behind"
    return f"; or it is the time: this machine's clock is {minutes} min {direction} the service's"


def _emulator_hint(account: Account) -> str:
    local = urlsplit(account.endpoint).hostname in ("127.0.0.1", "localhost", "::1")
    return "; is the emulator running?" if account.emulator or local else ""

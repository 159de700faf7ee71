"""What a failure to get a token means: a hiccup, or something that only a person can mend."""

from __future__ import annotations

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
    ServiceRequestTimeoutError,
    ServiceResponseError,
)
from azure.identity import CredentialUnavailableError

from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.queues.account import Identity
from qtrigger.queues.token_faults import from_failure

IDENTITY = Identity(kind="managedidentity")


def with_status(error: HttpResponseError, status: int) -> HttpResponseError:
    error.status_code = status
    return error


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        ServiceRequestError("cannot connect"),
        ServiceRequestTimeoutError("too slow"),
        ServiceResponseError("broken off"),
        ConnectionResetError("reset"),
        TimeoutError("too slow"),
        RuntimeError("something new"),
        with_status(ClientAuthenticationError("busy"), 500),
        with_status(ClientAuthenticationError("busy"), 503),
        with_status(ClientAuthenticationError("too many"), 429),
        with_status(ClientAuthenticationError("being updated"), 404),
        with_status(ClientAuthenticationError("being updated"), 410),
        with_status(ClientAuthenticationError("a portal's page"), 200),
        with_status(HttpResponseError("gateway"), 502),
        caused(CredentialUnavailableError("no response"), ServiceRequestError("cannot connect")),
        caused(CredentialUnavailableError("Timed out waiting for Azure CLI"), TimeoutError()),
    ],
)
def test_a_hiccup_is_unavailable(error: Exception) -> None:
    got = from_failure(IDENTITY, error)

    assert isinstance(got, QueueUnavailable)
    assert got.code == "NoToken"
    assert "no token for the identity (managedidentity)" in str(got)


@pytest.mark.parametrize(
    "error",
    [
        with_status(ClientAuthenticationError("invalid_client"), 401),
        with_status(ClientAuthenticationError("invalid_request"), 400),
        with_status(HttpResponseError("forbidden"), 403),
        CredentialUnavailableError("Please run az login"),
        ClientAuthenticationError("none of the chain"),
        caused(
            CredentialUnavailableError("no identity has been assigned"),
            with_status(HttpResponseError("bad request"), 400),
        ),
        ValueError("client_id should be the id of an application"),
        FileNotFoundError("no such certificate"),
        PermissionError("not for you"),
        ImportError("no cryptography"),
    ],
)
def test_what_only_a_person_can_mend_is_denied(error: Exception) -> None:
    got = from_failure(IDENTITY, error)

    assert type(got) is AccessDenied


def test_a_failure_on_the_way_to_another_does_not_hide_the_answer() -> None:
    refusal = with_status(ClientAuthenticationError("invalid_client"), 401)

    got = from_failure(IDENTITY, caused(refusal, ServiceRequestError("an earlier try")))

    assert isinstance(got, AccessDenied)


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("default", "az login"),
        ("managedidentity", "assigned"),
        ("managedidentityasfederatedidentity", "federated credential"),
        ("workloadidentity", "token file"),
        ("clientsecret", "expired"),
        ("clientcertificate", "registered"),
    ],
)
def test_a_refusal_says_what_to_look_at(kind: str, hint: str) -> None:
    assert hint in str(from_failure(Identity(kind=kind), CredentialUnavailableError("no")))


@pytest.mark.parametrize("error", [ValueError, OSError])
def test_a_failure_is_one_line_without_the_secrets(error: type[Exception]) -> None:
    identity = Identity(
        kind="clientsecret", client_secret="s3cret", certificate_password="pa55word"
    )

    text = str(from_failure(identity, error("\ns3cret or pa55word is wrong\nand a long story")))

    assert "*** or *** is wrong" in text
    assert "\n" not in text
    assert "story" not in text


def test_a_failure_without_words_is_named_by_its_kind() -> None:
    assert "TimeoutError" in str(from_failure(IDENTITY, TimeoutError()))

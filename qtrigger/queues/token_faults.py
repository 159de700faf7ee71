"""What a failure to get a token means.

Owns the line between a hiccup, which passes, and what only a person can mend. It matters: after
a hiccup a delete is tried again and the lease kept; after a refusal it is given up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qtrigger.errors import AccessDenied, QueueError, QueueUnavailable
from qtrigger.queues.account import Identity

NO_TOKEN = "NoToken"  # noqa: S105 - a code, no secret

# The SDK's tree is recognised by name: importing it here would hold up every start.
_REFUSAL = "ClientAuthenticationError"
_NETWORK = frozenset({"ServiceRequestError", "ServiceResponseError"})

# Statuses below 500 that pass: time-out, too many, and 404 and 410, by which a machine's identity
# endpoint says that it is being updated.
_PASSING = frozenset({404, 408, 410, 429})

# Raised while a credential is made or reads its files.
_SETTINGS = (
    ValueError,
    TypeError,
    ImportError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)

_HINTS: Mapping[str, str] = {
    "default": "sign in (az login), or set the connection's credential",
    "managedidentity": (
        "is an identity assigned to this machine, and is clientId one of its own? Elsewhere leave "
        "credential away to sign in as yourself (az login)"
    ),
    "managedidentityasfederatedidentity": (
        "does the app registration have a federated credential for this machine's identity?"
    ),
    "workloadidentity": "are tenantId, clientId and the token file there and right?",
    "clientsecret": "are tenantId, clientId and clientSecret right, and is the secret expired?",
    "clientcertificate": "is the certificate registered with clientId, and not expired?",
}


def from_failure(identity: Identity, error: Exception) -> QueueError:
    """The error that `error`, raised by the identity's credential, means for a request."""
    text = f"no token for the identity ({identity.kind}): {_first_line(identity, error)}"
    if not _is_refusal(error):
        return QueueUnavailable(text, code=NO_TOKEN)
    hint = _HINTS.get(identity.kind)
    return AccessDenied(f"{text}; {hint}" if hint else text)


def from_silence(identity: Identity, after_s: float) -> QueueError:
    """The error for an issuer of tokens that does not answer for so many seconds."""
    text = (
        f"no token for the identity ({identity.kind}) within {after_s:g} s: its issuer does not "
        "answer"
    )
    # Only Azure's own machines have the endpoint that gives out managed identities.
    hint = _HINTS[identity.kind] if identity.kind == "managedidentity" else ""
    return QueueUnavailable(f"{text}; {hint}" if hint else text, code=NO_TOKEN)


def _is_refusal(error: Exception) -> bool:
    """Whether it is one for certain. The nearest cause that tells decides."""
    for cause in _chain(error):
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            return 400 <= status < 500 and status not in _PASSING
        if isinstance(cause, TimeoutError | ConnectionError) or _NETWORK & _names(cause):
            return False
    return isinstance(error, _SETTINGS) or _REFUSAL in _names(error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _first_line(identity: Identity, error: Exception) -> str:
    line = next((line for line in str(error).splitlines() if line.strip()), "")
    for secret in (identity.client_secret, identity.certificate_password):
        if secret:
            line = line.replace(secret, "***")
    return line.strip() or type(error).__name__

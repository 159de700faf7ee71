"""A storage account's address and the credential for it: values without behaviour.

Secrets are kept out of every `repr`, so that no log line or error can show one by accident.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EMULATOR_ACCOUNT = "devstoreaccount1"
EMULATOR_PORT = 10001
# The emulator's published key: the same on every machine, no secret.
EMULATOR_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedKey:
    """The account's key, base64 as in a connection string."""

    account: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sas:
    """A shared access signature: query parameters without the leading question mark."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A Microsoft Entra identity, as the connection's settings describe it.

    `kind` is one of `default`, `managedidentity`, `workloadidentity`,
    `managedidentityasfederatedidentity`, `clientsecret`, `clientcertificate`.
    """

    kind: str
    tenant_id: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    certificate_path: str | None = None
    certificate_password: str | None = field(default=None, repr=False)
    token_file: str | None = None
    additionally_allowed_tenants: tuple[str, ...] = ()
    azure_cloud: str | None = None
    managed_identity_client_id: str | None = None
    managed_identity_object_id: str | None = None
    managed_identity_resource_id: str | None = None


Credential = SharedKey | Sas | Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where a storage account's queue service is, and how to sign in.

    `endpoint` has a scheme and no final slash (`https://acme.queue.core.windows.net`, or
    `http://127.0.0.1:10001/devstoreaccount1`). `name` is the account's name for people.
    `emulator` is true when a local emulator may be started to answer for it.
    """

    name: str
    endpoint: str
    credential: Credential
    emulator: bool = False

    @property
    def authentication(self) -> str:
        """The kind of authentication in words, without any secret."""
        match self.credential:
            case SharedKey():
                return "account key"
            case Sas():
                return "SAS"
            case Identity(kind=kind):
                return f"identity ({kind})"


def emulator_account(port: int = EMULATOR_PORT) -> Account:
    """The account of a local emulator on `port`."""
    return Account(
        name=EMULATOR_ACCOUNT,
        endpoint=f"http://127.0.0.1:{port}/{EMULATOR_ACCOUNT}",
        credential=SharedKey(account=EMULATOR_ACCOUNT, key=EMULATOR_KEY),
        emulator=True,
    )

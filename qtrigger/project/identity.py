"""The identity that a connection's settings describe.

Owns which keys make which credential, in the order in which Azure's own configuration reads them.
Gets no token and asks no identity service.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qtrigger.project.findings import suggest
from qtrigger.project.settings import Setting, Settings
from qtrigger.queues.account import Identity

_CLOUDS: Final = ("public", "usgov", "china")
_MANAGED_IDS: Final = ("managedIdentityObjectId", "managedIdentityClientId", "clientId")


class IdentityError(Exception):
    """The keys do not make an identity; `hint` says what to do. No value stands in either."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class IdentityKeys:
    """The keys of one connection's section, blank ones left out, by name in any case."""

    def __init__(self, section: str, children: dict[str, Setting]) -> None:
        self.section = section
        self._children = children

    def get(self, key: str) -> str | None:
        """The value of a key, None when it is missing or blank."""
        found = self._children.get(key.casefold())
        return (found.value.strip() or None) if found else None

    @property
    def present(self) -> list[str]:
        """The keys that are given, as the settings spell them."""
        start = len(self.section.replace("__", ":")) + 1
        return [found.key[start:].replace(":", "__") for found in self._children.values()]

    def name(self, key: str) -> str:
        """The full name of the setting for a key."""
        return f"{self.section}__{key}"

    def missing(self, *keys: str) -> str:
        """The full names of those of the keys that are not given, "" when all are."""
        return ", ".join(self.name(key) for key in keys if self.get(key) is None)


def identity(keys: IdentityKeys, settings: Settings, warn: Callable[[str, str], None]) -> Identity:
    """The identity of a section. Raises IdentityError; `warn` takes a message and a hint."""
    if keys.get("managedIdentityResourceId"):
        raise IdentityError(
            f"{keys.name('managedIdentityResourceId')} is not taken by Azure Functions either",
            f"name the identity by {keys.name('clientId')}",
        )
    kind = (keys.get("credential") or "").casefold()
    special = {
        "managedidentity": _managed,
        "workloadidentity": lambda keys: _workload(keys, settings),
        "managedidentityasfederatedidentity": _federated,
        "azurepipelines": _pipelines,
    }
    if kind in special:
        return special[kind](keys)
    if kind:
        warn(
            f"{keys.name('credential')} has a value that is not known, and is ignored",
            suggest(kind, special) or f"known are {', '.join(special)}",
        )
    return _by_keys(keys, warn)


def _managed(keys: IdentityKeys) -> Identity:
    given = [key for key in _MANAGED_IDS if keys.get(key)]
    if len(given) > 1:
        raise IdentityError(
            f"{' and '.join(keys.name(key) for key in given)} name the identity more than once",
            "keep one of them",
        )
    return Identity(
        kind="managedidentity",
        client_id=keys.get("clientId") or keys.get("managedIdentityClientId"),
        managed_identity_client_id=keys.get("managedIdentityClientId"),
        managed_identity_object_id=keys.get("managedIdentityObjectId"),
    )


def _workload(keys: IdentityKeys, settings: Settings) -> Identity:
    fallbacks = {
        "tenantId": "AZURE_TENANT_ID",
        "clientId": "AZURE_CLIENT_ID",
        "tokenFilePath": "AZURE_FEDERATED_TOKEN_FILE",
    }
    found = {key: keys.get(key) or settings.get(other) for key, other in fallbacks.items()}
    missing = [
        f"{keys.name(key)} (or {fallbacks[key]})" for key, value in found.items() if not value
    ]
    if missing:
        raise IdentityError(f"workloadidentity needs {' and '.join(missing)}")
    return Identity(
        kind="workloadidentity",
        tenant_id=found["tenantId"],
        client_id=found["clientId"],
        token_file=found["tokenFilePath"],
        additionally_allowed_tenants=_tenants(keys),
    )


def _federated(keys: IdentityKeys) -> Identity:
    if missing := keys.missing("tenantId", "clientId", "azureCloud"):
        raise IdentityError(f"managedidentityasfederatedidentity needs {missing}")
    cloud = (keys.get("azureCloud") or "").casefold()
    if cloud not in _CLOUDS:
        raise IdentityError(f"{keys.name('azureCloud')} must be one of {', '.join(_CLOUDS)}")
    ids = ("managedIdentityClientId", "managedIdentityObjectId")
    if sum(keys.get(key) is not None for key in ids) != 1:
        raise IdentityError(
            f"managedidentityasfederatedidentity needs one of {' and '.join(map(keys.name, ids))}"
        )
    return Identity(
        kind="managedidentityasfederatedidentity",
        tenant_id=keys.get("tenantId"),
        client_id=keys.get("clientId"),
        azure_cloud=cloud,
        managed_identity_client_id=keys.get(ids[0]),
        managed_identity_object_id=keys.get(ids[1]),
        additionally_allowed_tenants=_tenants(keys),
    )


def _pipelines(keys: IdentityKeys) -> Identity:
    raise IdentityError(
        f"{keys.name('credential')} is azurepipelines, which is not supported here",
        "leave it away to use the default credential",
    )


def _by_keys(keys: IdentityKeys, warn: Callable[[str, str], None]) -> Identity:
    if keys.get("managedIdentityObjectId"):
        raise IdentityError(
            f"{keys.name('managedIdentityObjectId')} counts only with managed identity",
            f"set {keys.name('credential')} to managedidentity",
        )
    kind, needs = "default", ""
    if keys.get("clientSecret"):
        kind, needs = "clientsecret", keys.missing("tenantId", "clientId")
    elif keys.get("clientCertificatePath"):
        kind, needs = "clientcertificate", keys.missing("tenantId", "clientId")
    elif keys.get("clientCertificate"):
        raise IdentityError(
            f"{keys.name('clientCertificate')} names a certificate in a Windows store",
            f"name a PEM or PKCS12 file by {keys.name('clientCertificatePath')}",
        )
    if needs:
        warn(f"{keys.section}: {kind} needs {needs} too; the default credential is used", "")
        kind = "default"
    return Identity(
        kind=kind,
        tenant_id=keys.get("tenantId"),
        client_id=keys.get("clientId"),
        client_secret=keys.get("clientSecret") if kind == "clientsecret" else None,
        certificate_path=keys.get("clientCertificatePath") if kind == "clientcertificate" else None,
        certificate_password=keys.get("clientCertificatePassword"),
        managed_identity_client_id=keys.get("managedIdentityClientId"),
        additionally_allowed_tenants=_tenants(keys),
    )


def _tenants(keys: IdentityKeys) -> tuple[str, ...]:
    given = keys.get("additionallyAllowedTenants") or ""
    return tuple(tenant.strip() for tenant in given.split(";") if tenant.strip())

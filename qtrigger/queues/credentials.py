"""Which of azure-identity's credentials stands for an `Identity`.

The only place that builds them; importing azure-identity takes a sixth of a second, so callers
import through a thread and only when an identity is really used.
"""

from __future__ import annotations

import os
from typing import Any, Protocol

from qtrigger.queues.account import Identity

_AUTHORITIES = {
    "public": "login.microsoftonline.com",
    "usgov": "login.microsoftonline.us",
    "china": "login.chinacloudapi.cn",
}
_EXCHANGE_SCOPES = {
    "public": "api://AzureADTokenExchange/.default",
    "usgov": "api://AzureADTokenExchangeUSGov/.default",
    "china": "api://AzureADTokenExchangeChina/.default",
}


class Token(Protocol):
    """An access token; `expires_on` counts seconds since 1970."""

    @property
    def token(self) -> str:
        """The secret itself."""

    @property
    def expires_on(self) -> int:
        """When it ends."""


class TokenCredential(Protocol):
    """What azure-identity's async credentials have in common."""

    async def get_token(self, *scopes: str) -> Token:
        """Fetch a token."""

    async def close(self) -> None:
        """End its connections."""


def build_credential(identity: Identity) -> TokenCredential:
    """The credential for `identity`. Raises ValueError for settings that do not fit together."""
    from azure.identity import aio  # noqa: PLC0415 - see the module's docstring

    authority = _AUTHORITIES.get(identity.azure_cloud or "")
    # The library would ask a public authority whether it knows this one.
    private = authority is None and _is_private(os.environ.get("AZURE_AUTHORITY_HOST", ""))
    common = _given(authority=authority, disable_instance_discovery=private)
    tenants = _given(additionally_allowed_tenants=list(identity.additionally_allowed_tenants))
    tenant_id, client_id = identity.tenant_id or "", identity.client_id or ""
    match identity.kind:
        case "managedidentity":
            return aio.ManagedIdentityCredential(**_managed(identity, identity.client_id))
        case "managedidentityasfederatedidentity":
            return FederatedCredential(identity)
        case "workloadidentity":
            return aio.WorkloadIdentityCredential(
                tenant_id=identity.tenant_id,
                client_id=identity.client_id,
                token_file_path=identity.token_file,
                **common,
                **tenants,
            )
        case "clientsecret":
            secret = identity.client_secret or ""
            return aio.ClientSecretCredential(tenant_id, client_id, secret, **common, **tenants)
        case "clientcertificate":
            return aio.CertificateCredential(
                tenant_id,
                client_id,
                identity.certificate_path,
                **_given(password=identity.certificate_password),
                **common,
                **tenants,
            )
        case "default":
            chosen = identity.managed_identity_client_id or identity.client_id
            return aio.DefaultAzureCredential(
                **_given(managed_identity_client_id=chosen, workload_identity_tenant_id=tenant_id),
                **common,
                **tenants,
            )
        case kind:
            raise ValueError(f"there is no kind of identity {kind!r}")


class FederatedCredential:
    """A managed identity's token, exchanged for one of an app registration."""

    def __init__(self, identity: Identity) -> None:
        from azure.identity import aio  # noqa: PLC0415 - see the module's docstring

        cloud = identity.azure_cloud or "public"
        if cloud not in _EXCHANGE_SCOPES:
            raise ValueError(f"azureCloud is {cloud!r}; it can be {', '.join(_EXCHANGE_SCOPES)}")
        self._scope = _EXCHANGE_SCOPES[cloud]
        self._managed = aio.ManagedIdentityCredential(**_managed(identity, None))
        self._assertion = ""
        self._exchange = aio.ClientAssertionCredential(
            identity.tenant_id or "",
            identity.client_id or "",
            lambda: self._assertion,
            authority=_AUTHORITIES[cloud],
            additionally_allowed_tenants=list(identity.additionally_allowed_tenants),
        )

    async def get_token(self, *scopes: str) -> Token:
        """See `TokenCredential`."""
        # The exchange asks for the assertion in a plain call, where nothing can be awaited.
        self._assertion = (await self._managed.get_token(self._scope)).token
        return await self._exchange.get_token(*scopes)

    async def close(self) -> None:
        """See `TokenCredential`."""
        try:
            await self._exchange.close()
        finally:
            await self._managed.close()


def _is_private(authority: str) -> bool:
    """Whether an authority is nobody's public cloud, as on Azure Stack."""
    host = authority.partition("://")[2] or authority
    return bool(host) and host.rstrip("/").casefold() not in _AUTHORITIES.values()


def _managed(identity: Identity, client_id: str | None) -> dict[str, Any]:
    by_id = _given(
        object_id=identity.managed_identity_object_id,
        resource_id=identity.managed_identity_resource_id,
    )
    return _given(client_id=identity.managed_identity_client_id or client_id, identity_config=by_id)


def _given(**values: object) -> dict[str, Any]:
    """The values that are there: the library tells an absent one from an empty one."""
    return {name: value for name, value in values.items() if value}

"""A storage connection string: what it says, as an account.

Owns the syntax, the service's address in it, and error texts that never show a part of it beyond
the names that every connection string has. Kinder than the SDKs: blanks, line ends, quotes around
the whole and a final semicolon do no harm.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from qtrigger.project.endpoints import EndpointError, account_endpoint, endpoint, is_local, name_of
from qtrigger.project.findings import nearest
from qtrigger.queues.account import (
    EMULATOR_ACCOUNT,
    EMULATOR_KEY,
    EMULATOR_PORT,
    Account,
    Credential,
    Sas,
    SharedKey,
)

_KEYS: Final = (
    "DefaultEndpointsProtocol",
    "AccountName",
    "AccountKey",
    "EndpointSuffix",
    "QueueEndpoint",
    "SharedAccessSignature",
    "UseDevelopmentStorage",
    "DevelopmentStorageProxyUri",
    "BlobEndpoint",
    "TableEndpoint",
    "FileEndpoint",
    "QueueSecondaryEndpoint",
    "BlobSecondaryEndpoint",
    "TableSecondaryEndpoint",
    "FileSecondaryEndpoint",
)
_SUFFIX: Final = "core.windows.net"


class ConnectionStringError(Exception):
    """The text is no storage connection string. Neither message nor hint holds a secret."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def parse(text: str) -> tuple[Account, str]:
    """The account that the text speaks of, and a warning or "". Raises ConnectionStringError."""
    text, warning = _unquoted(text)
    parts = _parts(text)
    if parts.get("usedevelopmentstorage", "").casefold() == "true":
        return _emulator(parts.get("developmentstorageproxyuri", "")), warning
    if "usedevelopmentstorage" in parts:
        raise ConnectionStringError("UseDevelopmentStorage can only be true")
    try:
        address = _address(parts)
    except EndpointError as error:
        raise ConnectionStringError(str(error), error.hint) from None
    name = parts.get("accountname") or name_of(address)
    account = Account(
        name=name,
        endpoint=address,
        credential=_credential(parts, name),
        emulator=name == EMULATOR_ACCOUNT and is_local(address),
    )
    return account, warning


def _unquoted(text: str) -> tuple[str, str]:
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1].strip(), "the value stands in quotes, which are taken off"
    return bare, ""


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for number, part in enumerate(text.split(";"), start=1):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        if not equals or not key:
            raise ConnectionStringError(*_not_one(text, number))
        folded = key.casefold()
        if parts.get(folded, value) != value:
            raise ConnectionStringError("one name stands in it twice, with two values")
        parts[folded] = value
    _refuse_strangers(parts)
    return parts


def _not_one(text: str, number: int) -> tuple[str, str]:
    if "://" in text.partition("=")[0]:
        return (
            "holds an address, not a connection string",
            "set <name>__queueServiceUri, or write QueueEndpoint=<address>;SharedAccessSignature=…",
        )
    return f"part {number} has no NAME=VALUE form", "copy the whole string from the portal again"


def _refuse_strangers(parts: dict[str, str]) -> None:
    known = {key.casefold() for key in _KEYS}
    if known & parts.keys():
        return
    if "endpoint" in parts or "sharedaccesskeyname" in parts:
        raise ConnectionStringError(
            "is the connection string of another service (Service Bus or Event Hubs)",
            "a queue trigger needs a storage account's",
        )
    if any("://" in key for key in parts):
        raise ConnectionStringError(*_not_one("://", 1))
    raise ConnectionStringError(
        "holds none of the names that a storage connection string has",
        "it begins like DefaultEndpointsProtocol=https;AccountName=…",
    )


def _emulator(proxy: str) -> Account:
    address = f"http://127.0.0.1:{EMULATOR_PORT}/{EMULATOR_ACCOUNT}"
    if proxy:
        try:
            scheme, _, rest = endpoint(proxy).partition("://")
        except EndpointError as error:
            raise ConnectionStringError(f"DevelopmentStorageProxyUri: {error}") from None
        # Only the proxy's host counts, as in the SDKs: the emulator's ports are fixed.
        authority = rest.partition("/")[0]
        host = authority if authority.endswith("]") else authority.rpartition(":")[0] or authority
        address = f"{scheme}://{host}:{EMULATOR_PORT}/{EMULATOR_ACCOUNT}"
    return Account(
        name=EMULATOR_ACCOUNT,
        endpoint=address,
        credential=SharedKey(account=EMULATOR_ACCOUNT, key=EMULATOR_KEY),
        emulator=is_local(address),
    )


def _address(parts: dict[str, str]) -> str:
    if given := parts.get("queueendpoint"):
        return endpoint(given, name="QueueEndpoint")
    name = parts.get("accountname", "")
    if not name:
        raise ConnectionStringError(*_missing("AccountName or QueueEndpoint", parts, "AccountName"))
    protocol = parts.get("defaultendpointsprotocol", "https").casefold()
    if protocol not in {"http", "https"}:
        raise ConnectionStringError("DefaultEndpointsProtocol must be https or http")
    suffix = parts.get("endpointsuffix", "").strip(".") or _SUFFIX
    return account_endpoint(name, suffix=suffix, scheme=protocol)


def _credential(parts: dict[str, str], name: str) -> Credential:
    if key := parts.get("accountkey"):
        if not _is_base64(key):
            raise ConnectionStringError(
                "AccountKey is no base64 text, so a part of the key is missing or wrong",
                "copy the key from the portal again; it ends in ==",
            )
        if "accountname" not in parts and name != EMULATOR_ACCOUNT:
            raise ConnectionStringError(*_missing("AccountName", parts, "AccountName"))
        return SharedKey(account=name, key=key)
    if token := parts.get("sharedaccesssignature", "").lstrip("?"):
        if "sig=" not in token.casefold():
            raise ConnectionStringError("SharedAccessSignature has no sig= in it")
        if not all("!" <= character <= "~" for character in token.strip()):
            raise ConnectionStringError(
                "SharedAccessSignature holds a character that no address can have",
                "copy it again, in one line and without spaces",
            )
        return Sas(token=token)
    raise ConnectionStringError(
        *_missing("AccountKey or SharedAccessSignature", parts, "AccountKey")
    )


def _missing(what: str, parts: dict[str, str], wanted: str) -> tuple[str, str]:
    known = {key.casefold(): key for key in _KEYS}
    present = [known[key] for key in parts if key in known and parts[key]]
    message = f"has no {what}"
    if present:
        message += f"; it has {', '.join(present)}"
    # A stranger's name is shown only when it is plainly a known one misspelt: it may be a secret.
    strangers = [key for key in parts if key not in known and nearest(key, [wanted])]
    return message, f'"{strangers[0]}" is spelt {wanted}' if strangers else ""


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False

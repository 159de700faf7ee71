"""A connection's name, as a storage account.

Owns which settings are looked for, in which order, and what a section of settings means. Says in
full what was looked for and where when nothing is found. Opens no connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from qtrigger.project import connection_string
from qtrigger.project.connection_string import ConnectionStringError
from qtrigger.project.endpoints import EndpointError, account_endpoint, endpoint, is_local, name_of
from qtrigger.project.findings import Findings, Place, looks_secret, nearest
from qtrigger.project.identity import IdentityError, IdentityKeys, identity
from qtrigger.project.model import Problem
from qtrigger.project.settings import Setting, Settings
from qtrigger.queues.account import EMULATOR_ACCOUNT, Account, Sas, SharedKey

DEFAULT: Final = "Storage"
_PREFIX: Final = "AzureWebJobs"
_SECTIONS: Final = "ConnectionStrings:"
_URI_KEYS: Final = ("queueServiceUri", "serviceUri", "endpoint")


class ConnectionUnusable(Exception):
    """No account can be made of the settings; the message says why, `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A resolved connection: the setting that it is, and warnings about it."""

    setting: str
    account: Account
    warnings: tuple[Problem, ...] = field(default=())


def resolve(name: str, settings: Settings) -> Connection:
    """The account that a connection's name stands for; a blank name means `Storage`.

    Raises ConnectionUnusable.
    """
    name = name.strip() or DEFAULT
    check_name(name)
    warnings = Findings()
    empty: list[Setting] = []
    for section in _candidates(name):
        own = settings.find(section)
        children = settings.children(section)
        if own is not None and own.value.strip():
            account = _from_string(own, warnings)
        elif children:
            account = _from_keys(section, children, settings, warnings)
        else:
            empty += [own] if own else []
            continue
        return Connection(setting=section, account=account, warnings=warnings.problems)
    raise ConnectionUnusable(*_not_found(name, settings, empty))


def check_name(name: str) -> None:
    """Raise ConnectionUnusable when a connection string stands where its name belongs."""
    if looks_secret(name) or ";" in name or "=" in name:
        raise ConnectionUnusable(
            "connection must be the name of a setting, and not what belongs into it",
            "put the connection string into an app setting, and the setting's name here",
        )


def _candidates(name: str) -> Iterator[str]:
    for section in (f"{_PREFIX}{name}", name):
        yield f"{_SECTIONS}{section}"
        yield section


def _from_string(setting: Setting, warnings: Findings) -> Account:
    value = setting.value.strip()
    if value.startswith("@Microsoft.KeyVault("):
        raise ConnectionUnusable(
            f'the setting "{setting.name}" ({setting.origin}) is a Key Vault reference, which '
            "only Azure itself replaces by its value",
            "set it to the connection string",
        )
    try:
        account, warning = connection_string.parse(value)
    except ConnectionStringError as error:
        raise ConnectionUnusable(
            f'the setting "{setting.name}" ({setting.origin}) is no usable connection string: '
            f"{error}",
            error.hint,
        ) from None
    if warning:
        warnings.warning(f'"{setting.name}" ({setting.origin}): {warning}', setting.place)
    return account


def _from_keys(
    section: str, children: dict[str, Setting], settings: Settings, warnings: Findings
) -> Account:
    keys = IdentityKeys(section.replace(":", "__"), children)
    place = next(iter(children.values())).place
    if text := children.get("connectionstring"):
        return _from_string(text, warnings)
    try:
        address = _address(keys, place, warnings)
        if signed := _signed(keys, address):
            return signed
        found = identity(
            keys, settings, lambda message, hint: warnings.warning(message, place, hint)
        )
    except (EndpointError, IdentityError) as error:
        raise ConnectionUnusable(str(error), error.hint) from None
    if not address.startswith("https:"):
        raise ConnectionUnusable(
            f"{keys.section}: an identity's token goes over https only",
            "write https://, or use a connection string for a local service",
        )
    return Account(name=name_of(address), endpoint=address, credential=found)


def _address(keys: IdentityKeys, place: Place, warnings: Findings) -> str:
    given = [key for key in ("accountName", *_URI_KEYS) if keys.get(key)]
    if not given:
        raise EndpointError(*_no_address(keys))
    first, *losers = given
    value = keys.get(first) or ""
    address = (
        account_endpoint(value.casefold(), suffix="core.windows.net")
        if first == "accountName"
        else endpoint(value, name=keys.name(first))
    )
    if losers:
        names = " and ".join(keys.name(key) for key in losers)
        warnings.warning(
            f"{keys.name(first)} counts, as on Azure; {names} has no effect",
            place,
            f"unset {names}, or {keys.name(first)}",
        )
    if first == "endpoint":
        warnings.warning(
            f"{keys.name('endpoint')} is an old name", place, f"use {keys.name('queueServiceUri')}"
        )
    return address


def _signed(keys: IdentityKeys, address: str) -> Account | None:
    """The account of a section that spells key or SAS out, as the .NET client can be given them."""
    account = keys.get("credential:accountName")
    if account and (key := keys.get("credential:accountKey")):
        return Account(
            name=account,
            endpoint=address,
            credential=SharedKey(account=account, key=key),
            emulator=account == EMULATOR_ACCOUNT and is_local(address),
        )
    if signature := keys.get("credential:signature"):
        return Account(
            name=name_of(address), endpoint=address, credential=Sas(token=signature.lstrip("?"))
        )
    return None


def _no_address(keys: IdentityKeys) -> tuple[str, str]:
    present = ", ".join(keys.present)
    message = f"{keys.section} has no address of a queue service; its keys are {present}"
    needed = f"{keys.name('queueServiceUri')} (https://<account>.queue.core.windows.net)"
    other = next((key for key in keys.present if key.casefold().endswith("serviceuri")), "")
    if other:
        return message, f"{other} is for another service; a queue needs {needed}"
    near = next((key for key in keys.present if nearest(key, ["queueServiceUri"])), "")
    return message, f'"{near}" is spelt queueServiceUri' if near else f"set {needed}"


def _not_found(name: str, settings: Settings, empty: list[Setting]) -> tuple[str, str]:
    if empty:
        found = ", ".join(f'"{setting.name}" ({setting.origin})' for setting in empty)
        return f'no setting for connection "{name}": {found} is set but empty', "give it a value"
    message = (
        f'no setting for connection "{name}": looked for {_PREFIX}{name} and {name}, both also '
        f"under {_SECTIONS} and as a section ({name}__queueServiceUri, …), in the environment "
        "and, in Development, in local.settings.json"
    )
    return message, _how_to_set(name, settings)


def _how_to_set(name: str, settings: Settings) -> str:
    if near := _nearest_connection(name, settings):
        # Azure's own name is right, and so it is the setting that is not.
        wrong = name == f"{_PREFIX}{DEFAULT}"
        return f'"{near}" is spelt {name}' if wrong else f'did you mean "{near}"?'
    # Azure looks for the prefix before a name that has it already, too; nobody means that.
    whole = name.casefold().startswith(_PREFIX.casefold())
    wanted = name if whole else f"{_PREFIX}{name} or {name}"
    if any(setting.place.file for setting in settings.all):
        return f"set {wanted}"
    return f"set {wanted}; in development in local.settings.json, which qtrigger init writes"


def _nearest_connection(name: str, settings: Settings) -> str:
    # Of a section's many settings the section's own name is what a connection is called by.
    known = [setting.key.removeprefix(_SECTIONS).partition(":")[0] for setting in settings.all]
    bare = {one.removeprefix(_PREFIX): one for one in known}
    return nearest(name, known) or bare.get(nearest(name.removeprefix(_PREFIX), bare), "")

"""What in a project opens an account: the texts that nothing of ours may show.

Owns where such texts stand. What else a user's settings hold is the user's to keep out of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from qtrigger.project.credentials import CREDENTIAL
from qtrigger.project.model import Project
from qtrigger.queues.account import Credential, Identity, Sas, SharedKey

# What opens the host's own HTTP; workers have it among their settings, as all of these.
HTTP_KEYS: Final = ("QTRIGGER_HTTP_KEY", "QTRIGGER_HTTP_READ_KEY")

# In a connection string, and in an address that carries its SAS.
_KEY: Final = re.compile(r"AccountKey=([^;\s]+)", re.IGNORECASE)
_SIGNATURE: Final = re.compile(r"\bsig=([^&;\s]+)", re.IGNORECASE)


# Settings whose names say that the whole value is one.
_NAMES: Final = re.compile(r"(password|passwd|secret|token|api_?key|_key)$", re.IGNORECASE)


def secrets_of(project: Project) -> frozenset[str]:
    """The keys and signatures in the project's settings and connections, as they are written.

    A setting that a service manager handed over as a credential is one as a whole, and so is one
    whose name ends as a secret's does.
    """
    found = {secret for text in project.settings.values() for secret in _written(text)}
    found.update(project.settings.get(name, "") for name in HTTP_KEYS)
    for name, value in project.settings.items():
        if _named_so(name) or project.origins.get(name, "").startswith(CREDENTIAL):
            found.add(value)
    for function in project.functions:
        accounts = [function.trigger.account, *(each.account for each in function.outputs)]
        for account in accounts:
            if account is not None:
                found.update(_of(account.credential))
    return frozenset(filter(None, found))


def _named_so(name: str) -> bool:
    return _NAMES.search(name) is not None


def _written(text: str) -> Iterator[str]:
    yield from _KEY.findall(text)
    for signature in _SIGNATURE.findall(text):
        yield signature
        yield unquote(signature)


def _of(credential: Credential) -> Iterator[str]:
    match credential:
        case SharedKey(key=key):
            yield key
        case Sas(token=token):
            yield from _written(token)
        case Identity(client_secret=secret, certificate_password=password):
            yield secret or ""
            yield password or ""

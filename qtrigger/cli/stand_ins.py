"""Settings for connections that this machine does not know, where a project is only described.

Owns which connections get one: those that the project's files name and that no setting is for. A
pipeline has the files of a repository and no secrets, and the accounts are the cluster's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

# Any account that can be read will do: nothing is asked of it, and it is written nowhere.
_STAND_IN: Final = "UseDevelopmentStorage=true"


def stand_ins(root: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """A setting for each connection that has none here, by the name that the files give it."""
    return dict.fromkeys(_unknown(root, environ), _STAND_IN)


def _unknown(root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    from qtrigger.project import connections, local_settings
    from qtrigger.project.findings import Findings
    from qtrigger.project.glimpse import elsewhere, glimpse
    from qtrigger.project.settings import layered

    local = local_settings.glance(root) or ()
    settings = layered(environ, local, Findings())
    seen = (*glimpse(root), *elsewhere(root))
    for name in sorted({_in_full(each) for one in seen for each in one.connections}):
        if _is_name(name) and settings.find(name) is None and not settings.children(name):
            try:
                connections.resolve(name, settings)
            except connections.ConnectionUnusable:
                yield name


def _in_full(name: str) -> str:
    """The default connection as everybody calls it, others as the files do."""
    from qtrigger.project.connections import DEFAULT

    name = name.strip() or DEFAULT
    return f"AzureWebJobs{DEFAULT}" if name.casefold() == DEFAULT.casefold() else name


def _is_name(text: str) -> bool:
    """Whether it may be shown; loading the project says what is wrong with another."""
    from qtrigger.project import connections

    try:
        connections.check_name(text)
    except connections.ConnectionUnusable:
        return False
    return True

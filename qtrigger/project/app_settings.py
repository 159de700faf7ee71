"""Which app settings are a project's own, and which of their values may be shown.

Owns the short list of names whose values are no secret: Azure's own names for how functions run.
Every other value is hidden, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qtrigger.project.findings import looks_secret
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.project.settings import ENVIRONMENT

_HARMLESS: Final = frozenset(
    name.casefold()
    for name in (
        *("AZURE_FUNCTIONS_ENVIRONMENT", "AzureWebJobsFeatureFlags", "AzureWebJobsScriptRoot"),
        *("FUNCTIONS_EXTENSION_VERSION", "FUNCTIONS_WORKER_PROCESS_COUNT"),
        *("FUNCTIONS_WORKER_RUNTIME", "FUNCTIONS_WORKER_RUNTIME_VERSION"),
        *("PYTHON_ENABLE_DEBUG_LOGGING", "PYTHON_ENABLE_WORKER_EXTENSIONS"),
        *("PYTHON_ISOLATE_WORKER_DEPENDENCIES", "PYTHON_SCRIPT_FILE_NAME"),
        *("PYTHON_THREADPOOL_THREAD_COUNT", "WEBSITE_TIME_ZONE"),
        "languageWorkers:python:defaultExecutablePath",
    )
)
_SWITCH: Final = re.compile(r"azurewebjobs[._].+[._]disabled")
_AZURES: Final = (
    *("azurewebjobs", "azurefunctionsjobhost", "azure_", "functions_", "languageworkers"),
    *("connectionstrings", "customconnstr_", "website_"),
)
_EXPANDED: Final = re.compile(r"%([^%]+)%")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSetting:
    """An app setting as it may be shown: `value` is None for one that is hidden."""

    name: str
    value: str | None
    origin: str


def own(project: Project) -> Iterator[AppSetting]:
    """The settings that concern the project, by name; of the environment not every variable."""
    named = set(_named(project.functions))
    for name in sorted(project.origins, key=str.casefold):
        origin = project.origins[name]
        if origin != ENVIRONMENT or _concerns(_folded(name), named):
            value = project.settings.get(name, "")
            yield AppSetting(name=name, value=_shown(name, value), origin=origin)


def is_hidden(name: str) -> bool:
    """Whether a setting of that name may hold a secret."""
    return _folded(name) not in _HARMLESS and not _SWITCH.fullmatch(_folded(name))


def _named(functions: tuple[FunctionDefinition, ...]) -> Iterator[str]:
    """The settings that the functions' bindings speak of: connections and expanded names."""
    for function in functions:
        yield _folded(function.trigger.connection)
        for output in function.outputs:
            yield _folded(output.connection)
        for binding in function.bindings:
            for value in binding.values():
                yield from map(_folded, _EXPANDED.findall(value) if isinstance(value, str) else ())


def _concerns(name: str, named: set[str]) -> bool:
    return name.startswith(_AZURES) or name in _HARMLESS or name.partition(":")[0] in named


def _shown(name: str, value: str) -> str | None:
    harmless = _folded(name) in _HARMLESS or _SWITCH.fullmatch(_folded(name))
    return value if not value or (harmless and not looks_secret(value)) else None


def _folded(name: str) -> str:
    return name.replace("__", ":").casefold()

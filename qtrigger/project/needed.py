"""Which app settings a project cannot do without, by name: what another machine must be given.

Owns the four ways in which a project's files speak of settings: a binding's connection, `%NAME%`
in a binding or in host.json, host.json's values from settings, and the name of the script. What
the code itself reads, nobody can tell. Yields no value.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from qtrigger.project import connections
from qtrigger.project.findings import Findings
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.project.overrides import PREFIX
from qtrigger.project.settings import ENVIRONMENT, Setting, Settings, layered

HOST_FILE: Final = "host.json"
_NAMED: Final = re.compile(r"%([^%\s]+)%")
_SCRIPT_NAME: Final = "PYTHON_SCRIPT_FILE_NAME"
# Of Azure's tools and of this machine, and of no use in a container.
_OF_TOOLS: Final = (
    *("functions_worker_runtime", "functions_extension_version", "azure_functions_environment"),
    *("azurewebjobs.", "azurewebjobs_", "azurewebjobsscriptroot", "azurewebjobsfeatureflags"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """One setting, by the name of its variable, and what needs it, in words."""

    name: str
    why: str


def variable(name: str) -> str:
    """A setting's name as a variable has it in every shell and cluster: `A:B` is `A__B`."""
    return name.replace(":", "__")


def connection_setting(name: str, project: Project) -> str:
    """The variable of the setting that a connection's name stands for, or of its section."""
    with contextlib.suppress(connections.ConnectionUnusable):
        return variable(connections.resolve(name, _settings(project)).setting)
    return variable(name)


def named_settings(project: Project, functions: Iterable[FunctionDefinition]) -> list[Needed]:
    """The settings besides connections that these functions and host.json need, each once."""
    settings = _settings(project)
    found: dict[str, str] = {}
    for name, why in _named(project, functions, settings):
        found.setdefault(variable(name), why)
    return [Needed(name=name, why=found[name]) for name in sorted(found, key=str.casefold)]


def left_to_the_code(project: Project, named: Iterable[str]) -> list[str]:
    """The local settings that nothing but the code can need; `named` are known by other ways.

    A name that is known covers its section.
    """
    known = [variable(each).casefold() for each in named]
    return [
        name
        for name, origin in sorted(project.origins.items())
        if origin != ENVIRONMENT
        and not name.casefold().startswith(_OF_TOOLS)
        and not any(
            variable(name).casefold() == each or variable(name).casefold().startswith(f"{each}__")
            for each in known
        )
    ]


def _named(
    project: Project, functions: Iterable[FunctionDefinition], settings: Settings
) -> Iterator[tuple[str, str]]:
    for function in functions:
        for binding in function.bindings:
            for text in binding.values():
                for setting in _settings_in(text, settings):
                    yield setting.name, f"named by a binding of {function.name}"
    with contextlib.suppress(OSError):
        text = (project.root / HOST_FILE).read_text("utf-8-sig", "replace")
        for setting in _settings_in(text, settings):
            yield setting.name, f"named in {HOST_FILE}"
    for setting in settings.all:
        if setting.key.casefold().startswith(PREFIX.casefold()):
            yield setting.name, f"a value of {HOST_FILE}"
    if script := settings.find(_SCRIPT_NAME):
        yield script.name, "names the script with the functions"


def _settings_in(text: object, settings: Settings) -> Iterator[Setting]:
    for name in _NAMED.findall(text) if isinstance(text, str) else ():
        if setting := settings.find(name):
            yield setting


def _settings(project: Project) -> Settings:
    return layered(project.settings, (), Findings())

"""A project folder and an environment, as a `Project`.

Owns the order of reading and who is told what: a project's errors stop it, a function's errors
stop that function. Reads files only; the environment is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qtrigger.errors import ProjectError
from qtrigger.project import function_json, host_json, local_settings, schemas
from qtrigger.project.definitions import Declaration, Foreign, Scope, define
from qtrigger.project.findings import Findings, Place, shown, suggest
from qtrigger.project.host_json import HostFile
from qtrigger.project.model import FunctionDefinition, HostConfig, Problem, Project
from qtrigger.project.settings import Setting, Settings, layered

_DEVELOPMENT: Final = "development"
_ENVIRONMENT: Final = "AZURE_FUNCTIONS_ENVIRONMENT"
_DECORATORS: Final = "function_app.py"


@dataclass(slots=True, kw_only=True)
class _Functions:
    """The functions found so far, sorted by what became of them."""

    defined: list[FunctionDefinition] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        defined = (function.name for function in self.defined)
        return (*defined, *self.failed, *self.not_run, *self.excluded)


def load_project(
    root: Path,
    environ: Mapping[str, str],
    *,
    environment: str,
    only: Sequence[str] = (),
    decorated: Sequence[Declaration] = (),
) -> Project:
    """Read the project in `root` under the variables `environ`.

    `environment` is `Development`, `Production` or another of Azure's names; `only` limits the
    functions to those named. `decorated` are functions that a worker reported of a project with
    decorators; they are taken instead of function folders. Raises ProjectError when there is no
    project at all; every other finding is among the project's problems.
    """
    root = root.absolute()
    _check_folder(root)
    findings = Findings()
    local = _local(root, environment, findings)
    settings = layered(environ, local.settings, findings)
    folders = function_json.folders(root)
    script = root / (settings.get("PYTHON_SCRIPT_FILE_NAME") or _DECORATORS)
    if not (folders or decorated or script.is_file()):
        _check_host_file(root)
    _note_language(settings, findings)
    host_findings = Findings()
    readable = host_json.read(root, settings, environment, host_findings)
    # Functions are read even beside a broken host.json, so that their findings show with its own.
    host = readable or host_json.without_file(environment)
    schema = schemas.load(function_json.FILE)
    config = host.config(host_findings, schema)
    findings.add(*host_findings.problems)
    blocked = host_findings.failed or not local.usable
    scope = Scope(
        settings=settings,
        host=host,
        config=config,
        schema=schema,
        only=frozenset(name.casefold() for name in only),
    )
    functions = _Functions()
    _read_functions(root, folders, decorated, scope, functions)
    _note_strangers(host, config, only, functions, findings)
    return Project(
        root=root,
        environment=environment,
        host=config,
        settings={**settings.as_environment(), _ENVIRONMENT: environment},
        functions=() if blocked else _sorted(functions.defined),
        failed=tuple(functions.failed),
        problems=tuple(dict.fromkeys((*findings.problems, *functions.problems))),
        not_run=tuple(functions.not_run),
        blocked=blocked,
        effective=tuple(host.effective()) if readable else (),
        decorator_script=script if script.is_file() else None,
    )


def _check_folder(root: Path) -> None:
    try:
        next(root.iterdir(), None)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ProjectError(f"the project folder {root} cannot be read: {reason}") from None


def _check_host_file(root: Path) -> None:
    """Raise ProjectError when a folder without any function has no host.json either."""
    if (root / host_json.FILE).is_file():
        return
    near = [root.parent, *(entry for entry in sorted(root.iterdir()) if entry.is_dir())]
    holding = next((folder for folder in near if (folder / host_json.FILE).is_file()), None)
    hint = f"; there is one in {holding}" if holding else ""
    raise ProjectError(
        f"{root} is no functions project: it has neither host.json nor a folder with "
        f"function.json nor {_DECORATORS}{hint}"
    )


def _local(root: Path, environment: str, findings: Findings) -> local_settings.LocalSettings:
    if environment.casefold() == _DEVELOPMENT:
        found = local_settings.read(root, findings)
        for setting in found.settings:
            _note_environment(setting, environment, findings)
        return found
    if (root / local_settings.FILE).is_file():
        findings.warning(
            f"the file is not read in {environment}; it is for local development only",
            Place(file=local_settings.FILE, line=1),
            "set what is needed of it in the environment",
        )
    return local_settings.LocalSettings()


def _note_language(settings: Settings, findings: Findings) -> None:
    setting = settings.find("FUNCTIONS_WORKER_RUNTIME")
    if setting and setting.value.casefold() not in {"", "python"}:
        findings.warning(
            f"{setting.name} is {shown(setting.value)}; only Python functions are run here",
            setting.place,
        )


def _note_environment(setting: Setting, environment: str, findings: Findings) -> None:
    if setting.name == _ENVIRONMENT and setting.value.casefold() != environment.casefold():
        findings.warning(
            f"{_ENVIRONMENT} has no effect in this file; it is {environment}",
            setting.place,
            "set it in the environment",
        )


def _read_functions(
    root: Path,
    folders: tuple[Path, ...],
    decorated: Sequence[Declaration],
    scope: Scope,
    functions: _Functions,
) -> None:
    for declaration in decorated:
        _add(declaration.name, declaration, scope, Findings(declaration.name), functions)
    if decorated:
        _note_mixed(root, folders, decorated[0], functions)
        return
    clashes = function_json.name_clashes(root, folders)
    for folder in folders:
        findings = Findings(folder.name)
        first = clashes.get(folder.name.casefold())
        declared = None
        if first is None:
            declared = function_json.read(root, folder, findings)
        else:
            _note_clash(function_json.place(root, folder), first, findings)
        _add(folder.name, declared, scope, findings, functions)


def _note_mixed(
    root: Path, folders: tuple[Path, ...], declared: Declaration, functions: _Functions
) -> None:
    findings = Findings()
    for folder in folders:
        findings.warning(
            f"the function is not loaded, since {declared.tree.file} declares functions",
            function_json.place(root, folder),
            "a project uses either decorators or function.json",
        )
    functions.problems.extend(findings.problems)


def _note_clash(place: Place, first: Place, findings: Findings) -> None:
    if place != first:
        findings.error(
            f"a function of this name stands in {first.file} already; neither is run",
            place,
            "rename one of the two folders",
        )


def _add(
    name: str,
    declaration: Declaration | None,
    scope: Scope,
    findings: Findings,
    functions: _Functions,
) -> None:
    found = define(declaration, scope, findings) if declaration else None
    excluded = _excluded(name, scope)
    if isinstance(found, FunctionDefinition):
        functions.defined.append(found)
    elif isinstance(found, Foreign):
        functions.not_run.append(name)
    elif excluded:
        functions.excluded.append(name)
    elif name not in functions.failed:
        functions.failed.append(name)
    if not excluded:
        functions.problems.extend(findings.problems)


def _excluded(name: str, scope: Scope) -> bool:
    """Whether the user left this function out, so that its errors are of no interest."""
    wanted = scope.only or {name.casefold() for name in scope.config.functions}
    return bool(wanted) and name.casefold() not in wanted


def _note_strangers(
    host: HostFile,
    config: HostConfig,
    only: Sequence[str],
    functions: _Functions,
    findings: Findings,
) -> None:
    """Say which functions are spoken of and do not exist."""
    known = {name.casefold(): name for name in functions.names}
    for name, place in host.strangers(known):
        findings.warning(
            f'there is no function "{name}" for these options', place, suggest(name, known.values())
        )
    for name in only:
        if name.casefold() not in known:
            findings.error(f'there is no function "{name}"', hint=suggest(name, known.values()))
    for index, name in enumerate(config.functions):
        if name.casefold() not in known:
            findings.warning(
                f'there is no function "{name}" as functions says',
                host.tree.place(("functions", index)),
                suggest(name, known.values()),
            )


def _sorted(functions: list[FunctionDefinition]) -> tuple[FunctionDefinition, ...]:
    return tuple(sorted(functions, key=lambda function: function.name.casefold()))

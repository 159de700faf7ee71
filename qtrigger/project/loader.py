"""A project folder and an environment, as a `Project`.

Owns the order of reading and who is told what: a project's errors stop it, a function's errors
stop that function. Reads files only; the environment is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from qtrigger.errors import ProjectError
from qtrigger.project import (
    credentials,
    decorator_script,
    function_json,
    host_json,
    local_settings,
    poison_queues,
    schemas,
)
from qtrigger.project.definitions import Declaration, Scope
from qtrigger.project.effective import effective
from qtrigger.project.findings import Findings, Place, shown
from qtrigger.project.functions import (
    Functions,
    note_strangers,
    note_unread,
    of_decorators,
    of_folders,
)
from qtrigger.project.model import Problem, Project, Severity
from qtrigger.project.settings import ENVIRONMENT_NAME, Setting, Settings, layered

_DEVELOPMENT: Final = "development"


def load_project(
    root: Path,
    environ: Mapping[str, str],
    *,
    environment: str,
    only: Sequence[str] = (),
    decorated: Sequence[Declaration] | None = None,
    script_problems: Sequence[Problem] = (),
) -> Project:
    """Read the project in `root` under the variables `environ`.

    `environment` is `Development`, `Production` or another of Azure's names; `only` limits the
    functions to those named. `decorated` are the functions that a worker found in the script with
    decorators, None when none was asked; `script_problems` is what it said of the script as a
    whole. Raises ProjectError when there is no project at all; every other finding is among the
    project's problems.
    """
    root = root.absolute()
    _check_folder(root)
    findings = Findings()
    local = _local(root, environment, findings)
    settings = layered(environ, local.settings, findings, credentials.read(environ, findings))
    own = Findings()
    script = decorator_script.find(root, settings, own)
    folders = function_json.folders(root)
    if not (folders or script):
        _check_host_file(root)
    _note_language(settings, findings)
    scope, usable = _scope(root, settings, environment, only, findings)
    usable = usable and not own.failed
    findings.add(*own.problems, *script_problems)
    functions = Functions()
    # Without the local settings every function would only seem to miss its own.
    unread = bool(script) and any(each.severity is Severity.ERROR for each in script_problems)
    if script and unread:
        note_unread(root, folders, script, findings)
    elif local.usable:
        functions = _functions(root, folders, script, decorated, scope, findings)
        if script is None or decorated is not None:
            note_strangers(functions, scope, only, findings)
        poison_queues.settle(functions, scope.host)
    runnable = functions.defined if usable else []
    return Project(
        root=root,
        environment=environment,
        host=scope.config,
        settings={**settings.as_environment(), ENVIRONMENT_NAME: environment},
        functions=tuple(sorted(runnable, key=lambda function: function.name.casefold())),
        failed=tuple(functions.failed),
        problems=tuple(dict.fromkeys((*findings.problems, *functions.problems))),
        not_run=dict(functions.not_run),
        blocked=not (usable and local.usable),
        effective=tuple(effective(scope.host)) if usable else (),
        origins={setting.name: setting.origin for setting in settings.all},
        decorator_script=script,
        unread=unread,
    )


def _functions(
    root: Path,
    folders: tuple[Path, ...],
    script: Path | None,
    decorated: Sequence[Declaration] | None,
    scope: Scope,
    findings: Findings,
) -> Functions:
    """The functions of the script; those of the folders when it declares none."""
    if script is None or not decorated:
        if script is not None and decorated is not None and folders:
            findings.warning(
                f"{script.name} declares no functions; those of the folders are loaded",
                Place(file=script.name, line=1),
                "a project uses either decorators or function.json",
            )
        return of_folders(root, folders, scope)
    note_unread(root, folders, script, findings)
    return of_decorators(decorated, scope)


def _scope(
    root: Path, settings: Settings, environment: str, only: Sequence[str], findings: Findings
) -> tuple[Scope, bool]:
    """What functions are defined under, and whether host.json can be used.

    Functions are read even beside a broken host.json, so that their findings show with its own.
    """
    own = Findings()
    host = host_json.read(root, settings, environment, own) or host_json.without_file(environment)
    schema = schemas.load(function_json.FILE)
    config = host.config(own, schema)
    findings.add(*own.problems)
    scope = Scope(
        settings=settings,
        host=host,
        config=config,
        schema=schema,
        only=frozenset(name.casefold() for name in only),
    )
    return scope, not own.failed


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
    hint = f"; there is one in {holding}" if holding else ". qtrigger init makes one"
    raise ProjectError(
        f"{root} is no functions project: it has neither host.json nor a folder with "
        f"function.json nor {decorator_script.DEFAULT}{hint}"
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
    if setting.name == ENVIRONMENT_NAME and setting.value.casefold() != environment.casefold():
        findings.warning(
            f"{ENVIRONMENT_NAME} has no effect in this file; it is {environment}",
            setting.place,
            "set it in the environment",
        )

"""The functions of a project, each sorted by what became of it.

Owns that every function is read for itself, and which of them the user left out. What a function
must look like is decided in `definitions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qtrigger.project import function_json
from qtrigger.project.definitions import Declaration, Foreign, Scope, define
from qtrigger.project.findings import Findings, Place, shown, suggest
from qtrigger.project.model import FunctionDefinition, Problem


@dataclass(slots=True, kw_only=True)
class Functions:
    """Names and definitions of the functions that were read, and their findings."""

    defined: list[FunctionDefinition] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    excluded: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, whatever became of the functions."""
        defined = (function.name for function in self.defined)
        return (*defined, *self.failed, *self.not_run, *self.excluded)


def of_folders(root: Path, folders: tuple[Path, ...], scope: Scope) -> Functions:
    """Read the functions in the folders."""
    functions = Functions()
    clashes = function_json.name_clashes(root, folders)
    for folder in folders:
        findings = Findings(folder.name)
        first = clashes.get(folder.name.casefold())
        declared = None
        if first is None:
            declared = function_json.read(root, folder, findings)
        elif (place := function_json.place(root, folder)) != first:
            _note_clash(place, first.file, findings, "rename one of the two folders")
        _add(folder.name, declared, scope, findings, functions)
    return functions


def of_decorators(declarations: Sequence[Declaration], scope: Scope) -> Functions:
    """Read the functions that were declared by decorators."""
    functions = Functions()
    names = [declaration.name.casefold() for declaration in declarations]
    for declaration in declarations:
        findings = Findings(declaration.name)
        first = declarations[names.index(declaration.name.casefold())]
        if names.count(declaration.name.casefold()) == 1:
            _add(declaration.name, declaration, scope, findings, functions)
            continue
        if declaration is not first:
            hint = "give one of the two another name by function_name"
            if declaration.name == first.name:
                hint += "; Azure would run no function of this app"
            place, other = declaration.tree.place(()), first.tree.place(())
            _note_clash(place, str(other), findings, hint)
        _add(declaration.name, None, scope, findings, functions)
    return functions


def note_unread(root: Path, folders: tuple[Path, ...], script: Path, findings: Findings) -> None:
    """Say which folders are not looked into because of the script with decorators."""
    for folder in folders:
        findings.warning(
            f"the function {shown(folder.name)} is not loaded, since the project has {script.name}",
            function_json.place(root, folder),
            "a project uses either decorators or function.json",
        )


def _note_clash(place: Place, first: str, findings: Findings, hint: str) -> None:
    text = f"a function of this name stands in {first} already; neither is run"
    findings.error(text, place, hint)


def _add(
    name: str,
    declaration: Declaration | None,
    scope: Scope,
    findings: Findings,
    functions: Functions,
) -> None:
    found = define(declaration, scope, findings) if declaration else None
    excluded = bool(scope.left_out(name))
    if isinstance(found, FunctionDefinition):
        functions.defined.append(found)
    elif isinstance(found, Foreign):
        functions.not_run[name] = found.type
    elif excluded:
        functions.excluded.append(name)
    elif name not in functions.failed:
        functions.failed.append(name)
    # What is wrong with a function that nobody wants to run is of no interest.
    if not excluded:
        functions.problems.extend(findings.problems)


def note_strangers(
    functions: Functions, scope: Scope, only: Sequence[str], findings: Findings
) -> None:
    """Say which functions are spoken of and do not exist; `only` as the user wrote them."""
    known = {name.casefold(): name for name in functions.names}
    for name, place in scope.host.strangers(known):
        findings.warning(
            f"there is no function {shown(name)} to have these options",
            place,
            suggest(name, known.values()),
        )
    for name in only:
        if name.casefold() not in known:
            findings.error(
                f"there is no function {shown(name)}", hint=suggest(name, known.values())
            )
    for index, name in enumerate(scope.config.functions):
        if name.casefold() not in known:
            findings.warning(
                f"there is no function {shown(name)} to be run",
                scope.host.tree.place(("functions", index)),
                suggest(name, known.values()),
            )

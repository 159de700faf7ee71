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
    not_run: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, whatever became of the functions."""
        defined = (function.name for function in self.defined)
        return (*defined, *self.failed, *self.not_run, *self.excluded)


def read(
    root: Path, folders: tuple[Path, ...], decorated: Sequence[Declaration], scope: Scope
) -> Functions:
    """Read the functions in the folders, or those that were declared by decorators."""
    functions = Functions()
    for declaration in decorated:
        _add(declaration.name, declaration, scope, Findings(declaration.name), functions)
    if decorated:
        _note_mixed(root, folders, decorated[0], functions)
        return functions
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
    return functions


def _note_mixed(
    root: Path, folders: tuple[Path, ...], declared: Declaration, functions: Functions
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
    functions: Functions,
) -> None:
    found = define(declaration, scope, findings) if declaration else None
    excluded = bool(scope.left_out(name))
    if isinstance(found, FunctionDefinition):
        functions.defined.append(found)
    elif isinstance(found, Foreign):
        functions.not_run.append(name)
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

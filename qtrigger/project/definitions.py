"""What a declaration of a function amounts to, whichever programming model declared it.

Owns the order of the checks: one function's errors never touch another's. A declaration is a
value in function.json's shape; `function_json` reads it from a folder, and a worker that loaded
decorators can report the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qtrigger.project import bindings, disabling, function_names, many, own_options, problems, retry
from qtrigger.project.findings import Findings, shown
from qtrigger.project.host_json import HostFile
from qtrigger.project.model import FunctionDefinition, HostConfig, RetryPolicy
from qtrigger.project.options import OwnOptions
from qtrigger.project.schemas import Node
from qtrigger.project.scripts import ScriptError, primary_script
from qtrigger.project.settings import Settings
from qtrigger.project.shape import repeated_keys, shape
from qtrigger.project.tree import OnePlace, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A function as it was declared.

    `tree` holds function.json's value and its places. `script` is the code's file when the
    declaration itself tells it; None leaves it to function.json's rules for `directory`. `fault`
    says why a declaration could not be read as a whole.
    """

    name: str
    directory: Path
    tree: Tree
    script: Path | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What all functions of a project share while they are defined."""

    settings: Settings
    host: HostFile
    config: HostConfig
    schema: Node
    only: frozenset[str]

    def left_out(self, name: str) -> str:
        """Why the user left the function out, "" when it is wanted."""
        if self.only:
            wanted = name.casefold() in self.only
            return "" if wanted else "not among the functions that were asked for"
        listed = {one.casefold() for one in self.config.functions}
        wanted = not listed or name.casefold() in listed
        return "" if wanted else "not in host.json's list of functions"


def decorated(
    *,
    name: str,
    root: Path,
    script: Path,
    line: int,
    entry_point: str,
    bindings: Sequence[dict[str, Any]],
    retry: Mapping[str, Any] | None = None,
    file: Path | None = None,
) -> Declaration:
    """A function that a worker found declared by decorators, in the words of function.json.

    `line` is where it stands in `file`, from 1; that is the script, or another one that the script
    imports.
    """
    file = file or script
    value: dict[str, Any] = {"bindings": list(bindings), "entryPoint": entry_point}
    if retry is not None:
        value["retry"] = dict(retry)
    shown_file = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    tree = Tree(shown_file, OnePlace(value, line))
    return Declaration(name=name, directory=file.parent, tree=tree, script=script)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A function that is called by another kind of trigger, and so is none of ours."""

    type: str


def define(
    declaration: Declaration, scope: Scope, findings: Findings
) -> FunctionDefinition | Foreign | None:
    """The function that is meant; None after errors were noted."""
    tree = declaration.tree
    if declaration.fault:
        findings.error(declaration.fault, tree.place(()))
        return None
    faults = shape(tree, scope.schema)
    if foreign := bindings.foreign_trigger(tree):
        findings.warning(f"not run here: its trigger is of type {shown(foreign)}", tree.place(()))
        return Foreign(type=foreign)
    _check_name(declaration, findings)
    scope.host.report(declaration.name, findings)
    for fault in [*repeated_keys(tree), *faults, *problems.check(tree, scope.schema)]:
        tree.report(fault, findings)
    found = bindings.read(tree, scope.schema, scope.settings, findings)
    own = OwnOptions()
    if not findings.failed:
        queue = found.trigger.queue if found else ""
        own = own_options.read(scope.host, declaration.name, queue, scope.settings, findings)
    if found is not None and not findings.failed:
        found = many.as_host_says(found, scope.host, declaration.name)
    gets_lists = found is not None and found.trigger.many
    policy = _retry(declaration, scope, findings, gets_lists=gets_lists)
    if found is not None and gets_lists:
        own = many.without_order(own, scope.host, declaration.name, findings)
        many.check_outputs(found.outputs, tree, findings)
    script = _script(declaration, findings)
    reason = scope.left_out(declaration.name) or disabling.disabled(
        declaration.name, tree, scope.settings, findings
    )
    if findings.failed or found is None or script is None:
        return None
    return FunctionDefinition(
        name=declaration.name,
        directory=declaration.directory,
        script_file=script,
        entry_point=tree.at(("entryPoint",)) or "main",
        source=tree.file,
        bindings=found.raw,
        trigger=found.trigger,
        outputs=found.outputs,
        options=scope.host.options(declaration.name),
        output_mode=scope.host.output_mode(declaration.name),
        disabled=reason,
        retry=policy,
        decorated=declaration.script is not None,
        own=own,
    )


def _check_name(declaration: Declaration, findings: Findings) -> None:
    name = declaration.name
    if not function_names.allowed(name):
        findings.error(
            f"{shown(name)} is no valid function name",
            declaration.tree.place(()),
            function_names.RULE,
        )


def _retry(
    declaration: Declaration, scope: Scope, findings: Findings, *, gets_lists: bool
) -> RetryPolicy | None:
    tree = declaration.tree
    own = Findings(declaration.name)
    policy = retry.read(tree, ("retry",), scope.schema, own)
    findings.add(*own.problems)
    if policy is None or own.failed or findings.failed:
        policy, has_own = scope.config.retry if tree.at(("retry",)) is None else None, False
    else:
        has_own = True
    if gets_lists:
        many.without_retries(policy, tree, findings)
        return None
    if policy is None or not has_own:
        return policy
    tries = scope.host.options(declaration.name).max_dequeue_count
    retry.note_product(policy, tree, ("retry",), tries, findings)
    return policy


def _script(declaration: Declaration, findings: Findings) -> Path | None:
    if declaration.script is not None:
        return declaration.script
    given = declaration.tree.at(("scriptFile",))
    if given is not None and not isinstance(given, str):
        return None
    try:
        return primary_script(declaration.directory, given)
    except ScriptError as error:
        findings.error(str(error), declaration.tree.place(("scriptFile",)), error.hint)
    except OSError as error:
        findings.error(
            f"the script cannot be looked for: {error.strerror}", declaration.tree.place(())
        )
    return None

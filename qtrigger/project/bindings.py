"""A function's bindings: which are run here, and what they resolve to.

Owns the rules for names, directions and types, and the resolving of queue names and connections.
Works alike for bindings from function.json and for those that decorators declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qtrigger.project import connections, expressions, output_times, problems, queue_names
from qtrigger.project.binding_types import KNOWN, RUN_HERE, is_trigger
from qtrigger.project.connections import Connection, ConnectionUnusable
from qtrigger.project.expansion import ExpansionError, expand
from qtrigger.project.findings import Findings, nearest, shown
from qtrigger.project.jsonc import Path
from qtrigger.project.model import QueueOutput, QueueTrigger
from qtrigger.project.schemas import Node
from qtrigger.project.settings import Settings
from qtrigger.project.shape import shape
from qtrigger.project.tree import Tree
from qtrigger.queues import rights
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.sas import shortcoming
from qtrigger.queues.wire import Operation

_RETURN: Final = "$return"
_TRIGGER_NEEDS: Final = (*rights.LOOK, *rights.TAKE, *rights.WRITE)
_OUTPUT_NEEDS: Final = rights.WRITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """A function's bindings: the raw objects with known keys respelt, and what they mean."""

    raw: tuple[Mapping[str, Any], ...]
    trigger: QueueTrigger
    outputs: tuple[QueueOutput, ...]


def foreign_trigger(tree: Tree) -> str:
    """The type of the function's trigger when it is one that is not run here, "" otherwise."""
    types = [given["type"] for _, given in _objects(tree) if is_trigger(given)]
    if len(types) != 1 or types[0].casefold() == "queuetrigger":
        return ""
    # A near miss of our own trigger's name is a mistake to point out, not somebody else's.
    return "" if nearest(types[0], KNOWN.values()) == "queueTrigger" else str(types[0])


def read(tree: Tree, schema: Node, settings: Settings, findings: Findings) -> Bindings | None:
    """The bindings of a file in its schema's shape; None after errors were noted."""
    for path, given in _objects(tree):
        _check_one(tree, path, given, schema, findings)
    _check_all(tree, findings)
    if findings.failed:
        return None
    resolver = _Resolver(tree, schema, settings, findings)
    triggers = [resolver.trigger(path) for path, given in _objects(tree) if is_trigger(given)]
    outputs = [resolver.output(path) for path, given in _objects(tree) if not is_trigger(given)]
    if triggers[0] is None:
        return None
    return Bindings(
        raw=tuple(tree.at(("bindings",))),
        trigger=triggers[0],
        outputs=tuple(output for output in outputs if output),
    )


def _objects(tree: Tree) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The bindings that have at least the form of one."""
    given = tree.at(("bindings",))
    for index, binding in enumerate(given if isinstance(given, list) else ()):
        if isinstance(binding, dict) and isinstance(binding.get("type"), str):
            yield ("bindings", index), binding


def _check_one(
    tree: Tree, path: Path, given: dict[str, Any], schema: Node, findings: Findings
) -> None:
    written = given["type"]
    kind = KNOWN.get(written.casefold(), "")
    place = tree.place((*path, "type"))
    if not kind:
        near = nearest(written, KNOWN.values())
        hint = f'did you mean "{near}"?' if near else ""
        findings.error(f"unknown binding type {shown(written)}", place, hint)
        return
    given["type"] = kind
    if kind not in RUN_HERE:
        findings.error(
            f'a binding of type "{kind}" is not run here; queueTrigger and queue are', place
        )
        return
    if "direction" not in given:
        given["direction"] = "in"
        findings.warning(
            f'{tree.label((*path, "direction"))} is missing; taken as "in"', tree.place(path)
        )
    for fault in shape(tree, schema, node=schema["$defs"][kind], at=path):
        tree.report(fault, findings)
    for fault in problems.check(tree, schema, name=kind, at=path):
        tree.report(fault, findings)


def _check_all(tree: Tree, findings: Findings) -> None:
    seen: dict[str, int] = {}
    triggers = 0
    for path, given in _objects(tree):
        triggers += given["type"].casefold().endswith("trigger")
        name = given.get("name")
        if not isinstance(name, str):
            continue
        place = tree.place((*path, "name"))
        if name.casefold() in seen:
            findings.error(
                f"a binding named {shown(name)} stands in line {seen[name.casefold()]} already",
                place,
            )
        seen.setdefault(name.casefold(), place.line)
        if name == _RETURN and given.get("direction") != "out":
            findings.error(f'only a binding of direction "out" can be named {_RETURN}', place)
    if findings.failed:
        return
    if triggers != 1:
        message = f"{triggers} triggers are declared" if triggers else "no trigger is declared"
        findings.error(
            f"{message}; a function has exactly one", tree.place(("bindings",), on_key=True)
        )


class _Resolver:
    """Puts settings into one function's bindings."""

    def __init__(self, tree: Tree, schema: Node, settings: Settings, findings: Findings) -> None:
        self._tree = tree
        self._schema = schema
        self._settings = settings
        self._findings = findings

    def trigger(self, path: Path) -> QueueTrigger | None:
        given = self._tree.at(path)
        queue = self._queue(path)
        connection = self._connection(path)
        if queue is None or connection is None:
            return None
        try:
            resolved = self._account(connection)
        except ConnectionUnusable as error:
            self._findings.error(str(error), self._connection_place(path), error.hint)
            return None
        place = self._tree.place((*path, "queueName"))
        self._note_sas(path, connection, resolved.account, _TRIGGER_NEEDS)
        return QueueTrigger(
            name=given["name"],
            queue=queue,
            connection=connection,
            account=resolved.account,
            data_type=given.get("dataType", ""),
            many=given.get("cardinality") == "many",
            line=place.line,
            column=place.column,
        )

    def output(self, path: Path) -> QueueOutput | None:
        given = self._tree.at(path)
        queue = self._queue(path, output=True)
        connection = self._connection(path)
        if queue is None or connection is None:
            return None
        account, fault = None, ""
        try:
            account = self._account(connection).account
            self._note_sas(path, connection, account, _OUTPUT_NEEDS)
        except ConnectionUnusable as error:
            fault = f"{error}; {error.hint}" if error.hint else str(error)
            self._findings.warning(
                f"what is written to {shown(given['name'])} will fail: {error}",
                self._connection_place(path),
                error.hint,
            )
        place = self._tree.place((*path, "queueName"))
        times = output_times.read(self._tree, self._schema, path, self._findings)
        return QueueOutput(
            name=given["name"],
            queue=queue,
            connection=connection,
            account=account,
            account_error=fault,
            delay_s=times.delay_s,
            ttl_s=times.ttl_s,
            line=place.line,
            column=place.column,
        )

    def _queue(self, path: Path, *, output: bool = False) -> str | None:
        place = self._tree.place((*path, "queueName"))
        label = self._tree.label((*path, "queueName"))
        template = self._tree.at((*path, "queueName"))
        try:
            name = expand(template, self._settings)
            if output and ("{" in name or "}" in name):
                expressions.parse(name)
                return name
            return queue_names.checked(name)
        except ExpansionError as error:
            self._findings.error(f"{label}: {error}", place, error.hint)
        except expressions.ExpressionError as error:
            self._findings.error(f"{label}: {error}", place)
        except queue_names.QueueNameError as error:
            hint = f"a queue name has {queue_names.RULE}"
            if "{" in template and not output:
                hint = "only an output's queueName may hold expressions in braces"
            self._findings.error(f"{label} {shown(template)} {error}", place, hint)
        return None

    def _connection(self, path: Path) -> str | None:
        given = self._tree.at((*path, "connection")) or ""
        try:
            name = expand(given, self._settings).strip() or connections.DEFAULT
            connections.check_name(name)
        except (ExpansionError, ConnectionUnusable) as error:
            label = self._tree.label((*path, "connection"))
            self._findings.error(f"{label}: {error}", self._connection_place(path), error.hint)
            return None
        return name

    def _account(self, connection: str) -> Connection:
        found = connections.resolve(connection, self._settings)
        self._findings.add(*found.warnings)
        return found

    def _note_sas(
        self, path: Path, connection: str, account: Account, needs: Sequence[Operation]
    ) -> None:
        """Say at once what the service would refuse at the first try, or at the last one."""
        credential = account.credential
        short = shortcoming(credential.token, needs) if isinstance(credential, Sas) else ""
        if short:
            words = ", ".join(operation.words for operation in needs)
            self._findings.warning(
                f'the SAS of connection "{connection}" {short}; the service will refuse it',
                self._connection_place(path),
                f"this binding needs to {words}",
            )

    def _connection_place(self, path: Path) -> Any:
        return self._tree.place((*path, "connection"))

"""host.json: what the host does, for all functions and for single ones.

Owns which value applies: the file's, a setting's over it, or the default. Faults in the
options of one function belong to that function; any other error means that nothing may run, since
messages must not be taken under guessed settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from qtrigger.project import durations, files, jsonc, overrides, problems, retry, schemas
from qtrigger.project.findings import Findings, Place
from qtrigger.project.model import HostConfig, QueueOptions
from qtrigger.project.options import JournalOptions, Price, TracingOptions
from qtrigger.project.schemas import Node
from qtrigger.project.settings import Settings
from qtrigger.project.shape import repeated_keys, shape
from qtrigger.project.tree import Fault, Tree

FILE: Final = "host.json"
QUEUES: Final = ("extensions", "queues")
OWN: Final = ("qtrigger",)
FUNCTIONS: Final = (*OWN, "functions")
JOURNAL: Final = (*OWN, "journal")
_PLAIN: Final = '{ "version": "2.0" }'


class HostFile:
    """A host.json that can be used: the configuration, and the options of each function."""

    def __init__(self, tree: Tree, schema: Node, environment: str) -> None:
        self.tree = tree
        self.schema = schema
        self.environment = environment
        self._faults: dict[str, list[Fault]] = {}

    def keep(self, fault: Fault) -> None:
        """Put aside a fault in one function's options, until that function is read."""
        self._faults.setdefault(str(fault.path[2]).casefold(), []).append(fault)

    def report(self, function: str, findings: Findings) -> None:
        """Note the faults in a function's options among the function's own findings."""
        for fault in self._faults.get(function.casefold(), ()):
            self.tree.report(fault, findings)

    def strangers(self, functions: Mapping[str, Any]) -> Iterator[tuple[str, Place]]:
        """The names with options of their own that are none of the functions (in small letters)."""
        for name in self.tree.at(FUNCTIONS) or ():
            if name.casefold() not in functions:
                yield name, self.tree.place((*FUNCTIONS, name), on_key=True)

    def config(self, findings: Findings, function_schema: Node) -> HostConfig:
        """The configuration for all functions."""
        level = self.tree.at(("logging", "logLevel")) or {}
        options = self.options("")
        policy = retry.read(self.tree, ("retry",), function_schema, findings)
        if policy:
            tries = options.max_dequeue_count
            retry.note_product(policy, self.tree, ("retry",), tries, findings)
        return HostConfig(
            queues=options,
            function_timeout_s=self._seconds("functionTimeout"),
            shutdown_timeout_s=self._seconds("qtrigger", "shutdownTimeout") or 0.0,
            lease_s=self._seconds("qtrigger", "lease") or 0.0,
            output_mode=self.output_mode(""),
            functions=tuple(self.tree.at(("functions",)) or ()),
            watch_directories=self._added("watchDirectories"),
            watch_files=self._added("watchFiles"),
            log_levels=dict(level),
            retry=policy,
            max_concurrent=self.value("qtrigger", "maxConcurrent") or None,
            journal=self._journal(),
            price=self._price(),
            shows_bodies=bool(self.value(*OWN, "http", "showBodies")),
            tracing=self._tracing(),
        )

    def _journal(self) -> JournalOptions | None:
        """Which failures are kept, None for none."""
        given = self.value(*JOURNAL)
        if given is False:
            return None
        return JournalOptions(
            max_entries=self.value(*JOURNAL, "maxEntries"),
            max_age_s=self._seconds(*JOURNAL, "maxAge") or 0.0,
        )

    def _price(self) -> Price | None:
        per_10k = self.value(*OWN, "pricePer10kTransactions")
        if per_10k is None:
            return None
        return Price(per_10k=float(per_10k), currency=self.value(*OWN, "currency"))

    def _tracing(self) -> TracingOptions:
        return TracingOptions(
            adopts=self.value(*OWN, "tracing", "relation") == "parent",
            inject=bool(self.value(*OWN, "tracing", "inject")),
        )

    def options(self, function: str) -> QueueOptions:
        """The queue options of a function, or those for all when the name is empty."""
        batch_size = self.value(*self._key(function, "batchSize"))
        threshold = self.value(*self._key(function, "newBatchThreshold"))
        return QueueOptions(
            batch_size=batch_size,
            new_batch_threshold=batch_size // 2 if threshold is None else threshold,
            max_polling_interval_s=self._seconds(*self._key(function, "maxPollingInterval")) or 0.0,
            visibility_timeout_s=self._seconds(*self._key(function, "visibilityTimeout")) or 0.0,
            max_dequeue_count=self.value(*self._key(function, "maxDequeueCount")),
            message_encoding=self.value(*self._key(function, "messageEncoding")),
        )

    def output_mode(self, function: str) -> str:
        """What a function's output bindings write: `azure` or `exact`."""
        return str(self.value(*self.own_path(function, "outputs")))

    def own_path(self, function: str, key: str, *, shared: bool = True) -> tuple[str, ...]:
        """Where an option of our own section stands: the function's, or that for all.

        One that is not `shared` has its place with the function alone.
        """
        own = self._own(function)
        if not shared or (own and self.tree.at((*own, key)) is not None):
            return (*(own or (*FUNCTIONS, function)), key)
        return (*OWN, key)

    def _own(self, function: str) -> tuple[str, ...]:
        """The path of a function's own options, empty when it has none."""
        for name in (self.tree.at(FUNCTIONS) or ()) if function else ():
            if name.casefold() == function.casefold():
                return (*FUNCTIONS, name)
        return ()

    def _key(self, function: str, key: str) -> tuple[str, ...]:
        """Where a function's option stands: among its own, or among those for all."""
        own = self._own(function)
        # The two belong together: a function that sets its batch size alone gets the threshold
        # that fits this size, whatever threshold stands for all.
        pair = key == "newBatchThreshold" and self.tree.at((*own, "batchSize")) is not None
        if own and (pair or self.tree.at((*own, key)) is not None):
            return (*own, key)
        return (*QUEUES, key)

    def value(self, *path: str) -> Any:
        """The value at `path`: the file's, a setting's over it, or the default."""
        found = self.tree.at(path)
        if found is None:
            return schemas.default(self.schema, path, environment=self.environment)
        return found

    def _seconds(self, *path: str) -> float | None:
        return durations.read(self.value(*path), schemas.at(self.schema, path)).seconds

    def _added(self, key: str) -> tuple[str, ...]:
        given = self.tree.at((key,)) or ()
        return tuple(dict.fromkeys((*schemas.default(self.schema, (key,)), *given)))


def read(root: Path, settings: Settings, environment: str, findings: Findings) -> HostFile | None:
    """Read the file in the project's folder, None when it cannot be used."""
    tree = _load(root, findings)
    if tree is None:
        return None
    schema = schemas.load(FILE)
    host = HostFile(tree, schema, environment)
    faults = [*repeated_keys(tree), *shape(tree, schema)]
    overrides.apply(tree, schema, settings, findings)
    for fault in [*faults, *problems.check(tree, schema)]:
        if fault.path[:2] == FUNCTIONS and len(fault.path) > 2:
            host.keep(fault)
        else:
            tree.report(fault, findings)
    if findings.failed:
        return None
    _remark(tree, findings)
    return host


def without_file(environment: str) -> HostFile:
    """What applies where there is no host.json, or none that can be used."""
    return HostFile(_plain_tree(), schemas.load(FILE), environment)


def _plain_tree() -> Tree:
    return Tree(FILE, jsonc.parse(_PLAIN.encode()))


def _load(root: Path, findings: Findings) -> Tree | None:
    path = root / FILE
    if not path.is_file():
        findings.warning("the file is missing; defaults apply", Place(file=FILE, line=1), _hint())
        return _plain_tree()
    tree = files.read(path, FILE, findings)
    if tree is not None and tree.value == {}:
        findings.warning("the file is empty; defaults apply", tree.place(()), _hint())
        tree.replace(("version",), "2.0")
    return tree


def _hint() -> str:
    return f"write {_PLAIN} into it"


def _remark(tree: Tree, findings: Findings) -> None:
    """Say what is right and still may surprise."""
    if tree.at(("functions",)) == []:
        findings.warning(
            "functions is empty, which means that all functions run",
            tree.place(("functions",)),
            "disable a function by the setting AzureWebJobs.<name>.Disabled",
        )
    if isinstance(tree.value, dict) and tree.value.get("functionTimeout", "") is None:
        findings.warning(
            "functionTimeout is null; the default of 30 minutes applies",
            tree.place(("functionTimeout",)),
            'write "-1" for no limit',
        )
    if tree.at(("concurrency", "dynamicConcurrencyEnabled")):
        findings.warning(
            "dynamic concurrency is not supported; batchSize and newBatchThreshold apply",
            tree.place(("concurrency", "dynamicConcurrencyEnabled")),
        )

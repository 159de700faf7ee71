"""The configuration as it applies: every option's value as text, and where it comes from.

Owns the list of the options that mean something here, and their spelling for people. Which value
applies is decided in `host_json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from qtrigger.project import durations, schemas, timespan
from qtrigger.project.findings import shown
from qtrigger.project.host_json import FUNCTIONS, JOURNAL, OWN, QUEUES, HostFile
from qtrigger.project.model import EffectiveValue
from qtrigger.project.schemas import Node
from qtrigger.project.settings import ENVIRONMENT

DEFAULT: Final = "default"
_LISTS: Final = ("functions", "watchDirectories", "watchFiles")
_LEVELS: Final = ("logging", "logLevel")


def effective(host: HostFile) -> Iterator[EffectiveValue]:
    """Each option as it applies, and the options that single functions have of their own."""
    yield _scalar(host, "functionTimeout")
    for name in _LISTS:
        yield _list(host, name)
    for category in host.tree.at(_LEVELS) or ():
        yield _scalar(host, *_LEVELS, category)
    for name in schemas.at(host.schema, QUEUES)["properties"]:
        yield _scalar(host, *QUEUES, name)
    for name in schemas.at(host.schema, OWN)["properties"]:
        if (*OWN, name) != FUNCTIONS:
            yield from _option(host, *OWN, name)
    yield from _of_functions(host)


def _of_functions(host: HostFile) -> Iterator[EffectiveValue]:
    known = host.schema["$defs"]["functionOptions"]["properties"]
    for function, given in (host.tree.at(FUNCTIONS) or {}).items():
        for name in known if isinstance(given, dict) else ():
            # The threshold follows a function's own batch size; nothing else is implied.
            if name in given or (name == "newBatchThreshold" and "batchSize" in given):
                yield from _option(host, *FUNCTIONS, function, name)


def _option(host: HostFile, *path: str) -> Iterator[EffectiveValue]:
    """An option of one value, or each part of one that is an object; its absence in one line."""
    parts = schemas.at(host.schema, path).get("properties")
    if not parts:
        yield _scalar(host, *path)
    elif path == JOURNAL:
        yield from _journal(host)
    elif host.tree.at(path) is None:
        yield EffectiveValue(key=".".join(path), value="none", origin=DEFAULT)
    else:
        for name in parts:
            yield _scalar(host, *path, name)


def _journal(host: HostFile) -> Iterator[EffectiveValue]:
    """Its bounds, or in one line that there is none."""
    if host.tree.at(JOURNAL) is False:
        yield EffectiveValue(key=".".join(JOURNAL), value="false", origin=_origin(host, JOURNAL))
    else:
        for name in schemas.at(host.schema, JOURNAL)["properties"]:
            yield _scalar(host, *JOURNAL, name)


def _scalar(host: HostFile, *path: str) -> EffectiveValue:
    value, origin = host.tree.at(path), _origin(host, path)
    if value is None:
        value = schemas.default(host.schema, path, environment=host.environment)
        origin = DEFAULT
    if value is None and path[-1] == "newBatchThreshold":
        batch_size = host.value(*path[:-1], "batchSize")
        value = batch_size // 2 if isinstance(batch_size, int) else None
    node = schemas.at(host.schema, path)
    text = str(node.get("x-default", "none")) if value is None else _text(value, node)
    return EffectiveValue(key=".".join(path), value=text, origin=origin)


def _list(host: HostFile, key: str) -> EffectiveValue:
    given = host.tree.at((key,)) or ()
    names = (*(schemas.default(host.schema, (key,)) or ()), *given)
    text = ", ".join(shown(name)[1:-1] for name in dict.fromkeys(names))
    origin = _origin(host, (key,)) if given else DEFAULT
    return EffectiveValue(key=key, value=text or "all", origin=origin)


def _origin(host: HostFile, path: tuple[str, ...]) -> str:
    return str(host.tree.place(path)) or ENVIRONMENT


def _text(value: Any, node: Node) -> str:
    """An option's value for people; a faulty one is reported elsewhere, and shown with care."""
    if node.get("x-secret"):
        return _without_secret(value, node)
    if isinstance(value, str) and value in node.get("enum", ()):
        return value
    if isinstance(value, list):
        return ", ".join(_text(each, node.get("items", {})) for each in value) or "none"
    if "x-timespan" in node:
        try:
            seconds = durations.read(value, node).seconds
        except durations.DurationError:
            return shown(value)
        return "no limit" if seconds is None else timespan.spell(seconds)
    return shown(value)


def _without_secret(value: Any, node: Node) -> str:
    """A program without its arguments, or an address without what follows its host's name.

    What opens something often stands in the rest.
    """
    if isinstance(value, str) and node.get("type") == "string":
        return _host_alone(value)
    if isinstance(value, list) and node.get("type") == "array" and value:
        return f"{shown(value[0])}, …" if value[1:] else shown(value[0])
    return "(hidden)"


def _host_alone(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(hidden)"
    return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else "(hidden)"

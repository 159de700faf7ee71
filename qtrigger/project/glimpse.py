"""A quick look at which functions and queues a project's files name.

Owns reading names without judging them and without running anything: for proposals, and for not
writing a name twice. What a function really is, is told by `loader` and a worker.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from qtrigger.project import decorator_script, files, function_json, local_settings
from qtrigger.project.findings import Findings
from qtrigger.project.settings import Settings

_QUEUE_PLACE: Final = 1
_CONNECTION_PLACE: Final = 2
_TRIGGERS: Final = ("_trigger", "route", "schedule")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A function's name; its queue is "" when it has another trigger, or a name nobody sees.

    `connections` are the names that its queue bindings give, "" for one that gives none.
    """

    name: str
    queue: str = ""
    outputs: tuple[str, ...] = ()
    connections: tuple[str, ...] = ()


def glimpse(root: Path) -> tuple[Seen, ...]:
    """The functions that the files name: those of the script with decorators, else of folders."""
    path = script(root)
    found = tuple(_of_script(path)) if path is not None else ()
    return found or tuple(_of_folders(root))


def elsewhere(root: Path) -> Iterator[Seen]:
    """The functions that modules beside the script with decorators declare, as blueprints do."""
    first = script(root)
    if first is None:
        return
    for folder, within, names in os.walk(root):
        # What is installed there is none of the project's.
        within[:] = sorted(each for each in within if _is_own(Path(folder, each)))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(".py") and path != first:
                yield from _of_script(path)


def _is_own(folder: Path) -> bool:
    foreign = folder.name.startswith(".") or folder.name in ("node_modules", "site-packages")
    return not foreign and not (folder / "pyvenv.cfg").is_file()


def script(root: Path) -> Path | None:
    """The script with decorators, by the setting for its name in local.settings.json."""
    settings = Settings(local_settings.glance(root) or ())
    return decorator_script.find(root, settings, Findings())


def _of_folders(root: Path) -> Iterator[Seen]:
    for folder in function_json.folders(root):
        tree = files.read(folder / function_json.FILE, function_json.FILE, Findings())
        bindings = tree.at(("bindings",)) if tree else None
        given = [each for each in bindings or () if isinstance(each, dict)]
        yield Seen(
            name=folder.name,
            queue=next(_queues(given, "queuetrigger"), ""),
            outputs=tuple(_queues(given, "queue")),
            connections=tuple(
                str(each.get("connection") or "")
                for each in given
                if str(each.get("type")).casefold() in ("queuetrigger", "queue")
            ),
        )


def _queues(bindings: list[dict[str, Any]], kind: str) -> Iterator[str]:
    for binding in bindings:
        queue = binding.get("queueName")
        if str(binding.get("type")).casefold() == kind and isinstance(queue, str):
            yield queue


def _of_script(path: Path) -> Iterator[Seen]:
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for part in module.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            calls = [each for each in part.decorator_list if isinstance(each, ast.Call)]
            if any(_word(call).endswith(_TRIGGERS) for call in calls):
                yield _declared(part.name, calls)


def _declared(name: str, calls: list[ast.Call]) -> Seen:
    named, queue, outputs = name, "", []
    connections = [
        _text(call, "connection", _CONNECTION_PLACE)
        for call in calls
        if _word(call) in ("queue_trigger", "queue_output")
    ]
    for call in calls:
        match _word(call):
            case "function_name":
                named = _text(call, "name", 0) or named
            case "queue_trigger":
                queue = _text(call, "queue_name", _QUEUE_PLACE)
            case "queue_output":
                outputs.append(_text(call, "queue_name", _QUEUE_PLACE))
    return Seen(name=named, queue=queue, outputs=tuple(outputs), connections=tuple(connections))


def _word(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _text(call: ast.Call, keyword: str, place: int) -> str:
    """An argument that is written as a text, "" for one that is computed."""
    values = [each.value for each in call.keywords if each.arg == keyword]
    values += call.args[place : place + 1]
    value = values[0] if values else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return ""

"""Adds a function to the text of a script with decorators, changing nothing else in it.

Owns finding the app and the library's name in the text, and where missing imports go. Runs none
of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from qtrigger.cli.templates import Sketch, decorated

_LIBRARY = "azure.functions"
_APP = "FunctionApp"


class ScriptUnclear(Exception):
    """The text cannot be added to; the message follows the file's name: `:3: …` or ` …`."""


def with_function(text: str, sketch: Sketch, identifier: str) -> str:
    """The text with the function at its end. Raises ScriptUnclear."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise ScriptUnclear(f":{error.lineno}: {error.msg}; mend it first") from None
    except (ValueError, RecursionError) as error:
        raise ScriptUnclear(f" cannot be read as Python: {error}; mend it first") from None
    _check_free(module, identifier)
    app = _app(module)
    library, missing = _library(module)
    if "logging" not in _imported(module):
        missing.insert(0, "import logging")
    code = decorated(sketch, app=app, library=library, identifier=identifier)
    # As the file has them, since a mixture would be told of by every tool.
    end = "\r\n" if "\r\n" in text else "\n"
    grown = _with_imports(text, module, missing, end)
    return f"{grown.rstrip()}{end * 3}{code.replace(chr(10), end)}"


def _check_free(module: ast.Module, identifier: str) -> None:
    for part in module.body:
        if (
            isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and part.name == identifier
        ):
            raise ScriptUnclear(f":{part.lineno}: {identifier} stands here already")
    if identifier in _imported(module) or identifier in dict(_assigned(module)):
        raise ScriptUnclear(f" uses the name {identifier} for something else; take another")


def _app(module: ast.Module) -> str:
    """The name of the app at the script's top level."""
    for name, value in _assigned(module):
        if isinstance(value, ast.Call):
            made = value.func
            word = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
            if word == _APP:
                return name
    raise ScriptUnclear(
        " has no app to add a function to; write `app = func.FunctionApp()` at its top level"
    )


def _library(module: ast.Module) -> tuple[str, list[str]]:
    """What the script calls azure.functions, and the import when it has no name for it."""
    for name, meant in _imported(module).items():
        if meant == _LIBRARY:
            return name, []
    if any(_LIBRARY in _plain(part) for part in module.body):
        return _LIBRARY, []
    return "func", [f"import {_LIBRARY} as func"]


def _imported(module: ast.Module) -> dict[str, str]:
    """Names that imports at the top level make, with what each means."""
    found = {}
    for part in module.body:
        if isinstance(part, ast.Import):
            for each in part.names:
                if each.asname or "." not in each.name:
                    found[each.asname or each.name] = each.name
        elif isinstance(part, ast.ImportFrom):
            for each in part.names:
                found[each.asname or each.name] = f"{part.module}.{each.name}"
    return found


def _plain(part: ast.stmt) -> list[str]:
    if not isinstance(part, ast.Import):
        return []
    return [each.name for each in part.names if each.asname is None]


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    for part in module.body:
        if isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    yield target.id, part.value
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id, part.value


def _with_imports(text: str, module: ast.Module, missing: list[str], end: str) -> str:
    if not missing:
        return text
    lines = text.split("\n")
    imports = [part for part in module.body if isinstance(part, (ast.Import, ast.ImportFrom))]
    # An app cannot be made without an import, so there is one.
    after = (imports[-1].end_lineno or 0) if imports else 0
    lines[after:after] = [f"{each}{end[:-1]}" for each in missing]
    return "\n".join(lines)

"""From the script with decorators to the functions of its app.

Owns the rules of the decorator model: the script is imported by its own name, once a process, and
has one app at its top level, which is asked for its functions once. Uses of the user's own
`azure.functions` what that library documents; knows no binding and no frame.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib
import importlib.util
import logging
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .context import NOWHERE, SCOPE
from .importing import imported

LIBRARY = "azure.functions"


class AppError(Exception):
    """The script has no app that can be used.

    `hint` says what to do; `line` counts in the script; `function` is the user's function that is
    at fault, where one is.
    """

    def __init__(
        self,
        message: str,
        hint: str,
        *,
        line: int = 1,
        function: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.line = line
        self.function = function


class Apps:
    """The functions of each script that this process was asked about."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._known: dict[str, list[Any] | BaseException] = {}

    def functions(self, script: str) -> list[Any]:
        """The library's function objects, two of one name included, in the order of their code.

        Raises AppError, or what the script's own code raises; the same again when asked again.
        """
        if script not in self._known:
            # What is said while all functions are imported is said by none of them.
            token = SCOPE.set(NOWHERE)
            try:
                self._known[script] = imported(lambda: _functions(script), self._loop)
            except BaseException as error:  # noqa: BLE001 - a module may raise anything
                self._known[script] = error
            finally:
                SCOPE.reset(token)
        known = self._known[script]
        if isinstance(known, BaseException):
            raise known
        return known

    def code(self, script: str, name: str) -> Callable[..., Any]:
        """The user's function of that name. Raises as `functions` does."""
        for function in self.functions(script):
            if str(function.get_function_name()) == name:
                code: Callable[..., Any] = function.get_user_function()
                return code
        raise AppError(
            f"{Path(script).name} declares no function {name} in this worker",
            "what a script declares must be the same each time it is imported",
        )


def _functions(script: str) -> list[Any]:
    app = _only_app(_module(script), script)
    # The library refuses all functions when two have one name. Both are named to the host, which
    # tells them apart from the others.
    with contextlib.suppress(AttributeError):
        app.validate_function_names = lambda functions: None
    try:
        with _without_remarks():
            return list(app.get_functions())
    except ValueError as error:
        raise AppError(
            str(error),
            "azure-functions refuses the whole app, here as on Azure",
            function=_without_trigger(app),
        ) from error


def _module(script: str) -> types.ModuleType:
    name = Path(script).stem
    try:
        spec = importlib.util.find_spec(name)
        where = spec.origin if spec is not None else script
    except ValueError:  # a module without a spec, such as __main__
        where = None
    if where is None or not _is_same_file(where, script):
        raise AppError(
            f"{Path(script).name} cannot be imported: {name} is already the name of "
            f"{where or 'another module'}",
            "rename the file, and give PYTHON_SCRIPT_FILE_NAME its new name",
        )
    return importlib.import_module(name)


def _is_same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


def _only_app(module: types.ModuleType, script: str) -> Any:
    library = sys.modules.get(LIBRARY)
    kind = getattr(library, "FunctionRegister", None) or getattr(library, "FunctionApp", None)
    if library is not None and kind is None:
        raise AppError(
            f"the azure-functions that is installed has no decorators ({library.__file__})",
            f"{sys.executable} -m pip install --upgrade azure-functions",
        )
    found = _top_level(module, kind)
    if not found:
        raise _no_app(module, script, library)
    if len(found) > 1:
        lines = [f"{name} (line {_line_of(script, name)})" for name in found]
        raise AppError(
            f"{Path(script).name} has more than one function app: {', '.join(lines)}",
            "keep one FunctionApp at the top level, under one name; other files have a Blueprint, "
            "which the app takes by register_functions",
            line=_line_of(script, list(found)[1]),
        )
    return next(iter(found.values()))


def _no_app(module: types.ModuleType, script: str, library: types.ModuleType | None) -> AppError:
    blueprints = _top_level(module, getattr(library, "Blueprint", None))
    hint = "make one there: app = func.FunctionApp()"
    if blueprints:
        hint += f", and app.register_functions({next(iter(blueprints))})"
    return AppError(f"there is no function app at the top level of {Path(script).name}", hint)


def _top_level(module: types.ModuleType, kind: type | None) -> dict[str, Any]:
    values = vars(module).items()
    return {name: value for name, value in values if kind and isinstance(value, kind)}


def _line_of(script: str, name: str) -> int:
    """Where the script gives something that name, 1 where that cannot be told."""
    try:
        statements = ast.parse(Path(script).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return 1
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
                return node.lineno
            if isinstance(node, ast.alias) and name in (node.asname, node.name):
                return statement.lineno
    return 1


@contextlib.contextmanager
def _without_remarks() -> Iterator[None]:
    """Keep the library's remark about HTTP from apps that have none."""

    def is_no_remark(record: logging.LogRecord) -> bool:
        return record.funcName != "get_functions"

    logging.getLogger().addFilter(is_no_remark)
    try:
        yield
    finally:
        logging.getLogger().removeFilter(is_no_remark)


def _without_trigger(app: Any) -> Callable[..., Any] | None:
    """The function that makes the library refuse the app, as far as can be told.

    The library's text names it; only its place needs a look below the documented surface.
    """
    try:
        for builder in app._function_builders:  # noqa: SLF001
            function = builder._function  # noqa: SLF001
            if function.get_trigger() is None:
                code: Callable[..., Any] = function.get_user_function()
                return code
    except AttributeError:
        pass
    return None

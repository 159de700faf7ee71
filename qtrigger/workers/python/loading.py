"""Loading a project's functions in a worker process.

Owns the walk over the functions and what a failure of one says; the others load. `loader` and
`signature` know the rules.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import loader
from .annotations import SignatureError
from .apps import AppError, Apps
from .context import SCOPE, Scope
from .failures import Describer, code_of
from .importing import imported
from .index import app_failure
from .message import queue_message_class
from .signature import Plan, plan

Announce = Callable[[str, str], "contextvars.Token[Scope]"]


class Loading:
    """One request to load, as the host's frame gives it."""

    def __init__(
        self,
        request: Mapping[str, Any],
        describer: Describer,
        loop: asyncio.AbstractEventLoop,
        announce: Announce,
        apps: Apps,
    ) -> None:
        self._root = request["root"]
        self._functions = request["functions"]
        self._describer = describer
        self._loop = loop
        self._announce = announce
        self._apps = apps

    def load(self) -> tuple[dict[str, Plan], dict[str, dict[str, str]]]:
        """The plans of the functions that can run, and why the others cannot."""
        folders = [Path(f["directory"]) for f in self._functions if not f["decorated"]]
        parents = dict.fromkeys(str(folder.parent) for folder in folders)
        loader.prepare(self._root, list(parents))
        plans: dict[str, Plan] = {}
        failures: dict[str, dict[str, str]] = {}
        for function in self._functions:
            name = function["name"]
            token = self._announce(name, function["script"])
            made = self._load_one(function)
            SCOPE.reset(token)
            if isinstance(made, Plan):
                plans[name] = made
            else:
                failures[name] = made
        return plans, failures

    def _load_one(self, function: Mapping[str, Any]) -> Plan | dict[str, str]:
        code: Callable[..., Any] | None = None
        try:
            code = self._import(function)
            made = plan(
                name=function["name"],
                function=code,
                directory=function["directory"],
                bindings=function["bindings"],
                mode=function["outputs"],
                encoding=function["encoding"],
            )
            if made.takes == "message":
                made = replace(made, message_class=queue_message_class())
        except BaseException as error:  # noqa: BLE001 - a module may raise anything, sys.exit too
            return self._failure(function, code, error)
        return made

    def _failure(
        self, function: Mapping[str, Any], code: Callable[..., Any] | None, error: BaseException
    ) -> dict[str, str]:
        if isinstance(error, AppError):
            return app_failure(error, function["script"], self._describer)
        failure = self._describer.failure(error)
        if not failure["place"] and code is not None:
            failure["place"] = self._describer.defined_at(code)
        if isinstance(error, SignatureError):
            declared_in = self._declared_in(function, code)
            failure["hint"] = f"the bindings stand in {declared_in}"
            if function["decorated"]:
                # The checks are those of both models, and speak of the file of the first.
                failure["message"] = failure["message"].replace("function.json", declared_in)
        return failure

    def _declared_in(self, function: Mapping[str, Any], code: Callable[..., Any] | None) -> str:
        """`file:line` of the bindings in a folder, the file where decorators are."""
        file = Path(function["directory"], "function.json")
        if function["decorated"]:
            found = code_of(code)
            file = Path(found.co_filename if found is not None else function["script"])
            return os.path.relpath(file, self._root)
        return f"{os.path.relpath(file, self._root)}:{_line_of_bindings(file)}"

    def _import(self, function: Mapping[str, Any]) -> Callable[..., Any]:
        if function["decorated"]:
            return self._apps.code(function["script"], function["name"])

        def load() -> Callable[..., Any]:
            return loader.load(
                directory=function["directory"],
                script=function["script"],
                entry=function["entry"],
            )

        return imported(load, self._loop)


def _line_of_bindings(file: Path) -> int:
    """Where they begin, 1 where that cannot be told."""
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return 1
    return next((number for number, line in enumerate(lines, 1) if '"bindings"' in line), 1)

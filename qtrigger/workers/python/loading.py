"""Loading a project's functions in a worker process.

Owns the walk over the functions and what a failure of one says; the others load. `loader` and
`signature` know the rules.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import loader
from .calls import queue_message_class
from .context import SCOPE, Scope
from .failures import Describer
from .signature import Plan, SignatureError, plan

Announce = Callable[[str], "contextvars.Token[Scope]"]


class Loading:
    """One request to load, as the host's frame gives it."""

    def __init__(
        self,
        request: Mapping[str, Any],
        describer: Describer,
        loop: asyncio.AbstractEventLoop,
        announce: Announce,
    ) -> None:
        self._root = request["root"]
        self._functions = request["functions"]
        self._describer = describer
        self._loop = loop
        self._announce = announce

    def load(self) -> tuple[dict[str, Plan], dict[str, dict[str, str]]]:
        """The plans of the functions that can run, and why the others cannot."""
        parents = dict.fromkeys(str(Path(f["directory"]).parent) for f in self._functions)
        loader.prepare(self._root, list(parents))
        plans: dict[str, Plan] = {}
        failures: dict[str, dict[str, str]] = {}
        for function in self._functions:
            name = function["name"]
            token = self._announce(name)
            made = self._load_one(function)
            SCOPE.reset(token)
            # A module may have used asyncio.run, which leaves no current loop behind.
            asyncio.set_event_loop(self._loop)
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
            )
            if made.takes == "message":
                queue_message_class()
        except BaseException as error:  # noqa: BLE001 - a module may raise anything, sys.exit too
            failure = self._describer.failure(error)
            if not failure["place"] and code is not None:
                failure["place"] = self._describer.defined_at(code)
            if isinstance(error, SignatureError):
                failure["hint"] = f"the bindings stand in {self._declared_in(function)}"
            return failure
        return made

    def _declared_in(self, function: Mapping[str, Any]) -> str:
        return os.path.relpath(Path(function["directory"], "function.json"), self._root)

    def _import(self, function: Mapping[str, Any]) -> Callable[..., Any]:
        """Import the script, without a running loop, so that its code may run one of its own.

        The reference imports while its loop runs. Code that needs that (a client made at import)
        gets a second try under ours.
        """

        def load() -> Callable[..., Any]:
            return loader.load(
                directory=function["directory"],
                script=function["script"],
                entry=function["entry"],
            )

        async def load_in_loop() -> Callable[..., Any]:
            return load()

        try:
            return load()
        except RuntimeError as error:
            if "no running event loop" not in str(error):
                raise
        return self._loop.run_until_complete(load_in_loop())

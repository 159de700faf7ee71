"""The first words between the host and a worker process, until it takes invocations.

Owns waiting for them, and what their absence means: an interpreter that does not work, or a
function whose import hangs or ends the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.workers.pooled import LoadCrash, crash_at, crash_in
from qtrigger.workers.python.wire import VERSION, Header
from qtrigger.workers.usertext import UserText
from qtrigger.workers.worker import FunctionSpec


class Handshake:
    """The host's side of it; `text` tells which function is being imported, and last words.

    `root` is the project's folder.
    """

    def __init__(
        self,
        interpreter: Path,
        clock: Clock,
        text: UserText,
        *,
        root: Path,
    ) -> None:
        self._interpreter = interpreter
        self._clock = clock
        self._text = text
        self._functions: Mapping[str, FunctionSpec] = {}
        self._root = root
        self._script: Path | None = None
        # Frames may come before anybody asks for them.
        self._came: asyncio.Queue[Header | WorkerStartError] = asyncio.Queue()

    def on_frame(self, header: Header) -> None:
        """A frame of the handshake."""
        self._came.put_nowait(header)

    def ended(self, how: str) -> None:
        """The process has ended."""
        self._came.put_nowait(self._error(f"it ended with {how}"))

    def asks_for(self, functions: Sequence[FunctionSpec]) -> None:
        """Say which functions the process is about to import; before that, it is none."""
        self._functions = {function.name: function for function in functions}

    async def hello(self, within_s: float) -> None:
        """Wait for the process to come up. Raises WorkerStartError."""
        version = (await self._next("hello", within_s))["version"]
        if version != VERSION:
            raise WorkerStartError(
                f"the worker process speaks version {version} of the protocol, not {VERSION}"
            )

    async def indexed(self, script: Path, within_s: float) -> Header:
        """Wait for what a script declares. Raises LoadCrash when its import prevents that."""
        self._script = script
        return await self._next("index", within_s)

    async def ready(self, within_s: float) -> Header:
        """Wait for it to have loaded. Raises LoadCrash for a function that prevents that."""
        return await self._next("ready", within_s)

    async def _next(self, kind: str, within_s: float) -> Header:
        try:
            async with self._clock.timeout(within_s):
                came = await self._came.get()
        except TimeoutError:
            raise self._error(f"no {kind} within {within_s:g} s", again=False) from None
        if isinstance(came, WorkerStartError):
            raise came
        if came["t"] != kind:
            raise WorkerStartError(f"the worker process sent {came['t']} in place of {kind}")
        return came

    def _error(self, what: str, *, again: bool = True) -> WorkerStartError:
        if self._text.importing:
            function = self._functions[self._text.importing]
            message = f"the worker process failed while importing it: {what}"
            failure = crash_at(function, self._root, message, self._text.last_words)
            return LoadCrash(function.name, failure, again=again)
        if self._script is not None:
            message = f"the worker process failed while importing {self._script.name}: {what}"
            failure = crash_in(self._script, self._root, message, self._text.last_words)
            return LoadCrash(self._script.name, failure, again=again)
        return WorkerStartError(
            f"{self._interpreter}: the worker process: {what}{self._text.last_words}"
        )

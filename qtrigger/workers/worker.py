"""The seam behind which a language runs user code.

Owns the protocol; nothing above it may know which language it is, and nothing below it what a
queue is. Implementations pass one contract suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from qtrigger.invocation import Invocation, Ran


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """What a worker must know to load a function and to run it.

    `bindings` are the binding objects of function.json. `concurrency` is the most invocations
    that may run at once in one worker. `outputs` is `azure` or `exact`, `encoding` the
    `messageEncoding` of its messages. A `decorated` function is found by its name among those that
    its script declares, and not by its entry point.
    """

    name: str
    directory: Path
    script_file: Path
    entry_point: str
    bindings: tuple[Mapping[str, Any], ...]
    concurrency: int
    outputs: str = "azure"
    decorated: bool = False
    encoding: str = "base64"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFailure:
    """Why a function cannot run: text for a person, `file:line` when known, user's traceback."""

    message: str
    place: str = ""
    traceback: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A worker's answer to loading: the functions that failed; the rest can run.

    `at_once` says how many runs of a function have room, where that is less than its concurrency.
    """

    failures: Mapping[str, LoadFailure] = field(default_factory=dict)
    at_once: Mapping[str, int] = field(default_factory=dict)


class Worker(Protocol):
    """One place where functions run."""

    @property
    def running(self) -> int:
        """How many invocations it has under way."""

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        """Come up and load the functions. Raises WorkerStartError."""

    async def invoke(self, invocation: Invocation) -> Ran:
        """Run it to its end. A worker that dies answers `WorkerLost`; this never raises for it."""

    async def stop(self, grace_s: float) -> None:
        """End; what still runs after `grace_s` seconds is answered as `Interrupted`."""


class Workers(Worker, Protocol):
    """What a host runs on: a worker whose functions may become unable to run, and able again."""

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        """Have `unable` called with the functions that cannot run now, when that has changed.

        Those that failed at the start are among them. What is given of such a function, or waits
        for a worker, is answered as interrupted by `load`.
        """

    async def where(self, invocation_id: str) -> str:
        """Where the code of a run stands, as a traceback has it; "" when it cannot be told.

        It answers within two seconds for each worker that has such a run.
        """

    def show_stacks(self) -> None:
        """Have the workers write where their code stands, as lines of their own."""

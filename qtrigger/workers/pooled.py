"""What a pool asks of its workers beyond `Worker`: that their end can be seen.

Owns that protocol, and the error of a worker that one function's import brought down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from qtrigger.errors import WorkerStartError
from qtrigger.workers.worker import FunctionSpec, LoadFailure, Worker


class PooledWorker(Worker, Protocol):
    """A worker that may end by itself; it is then replaced by a new one."""

    @property
    def pid(self) -> int:
        """Its process id, 0 when it has none."""

    @property
    def silent_s(self) -> float:
        """How long an answer to `ask` has been waited for, in seconds; 0 when none is."""

    def ask(self) -> None:
        """Ask whether its process is there, unless it was asked and has not answered."""

    @property
    def accepting(self) -> bool:
        """Whether it takes invocations."""

    @property
    def completed(self) -> int:
        """How many invocations it has answered."""

    @property
    def lost(self) -> int:
        """How many invocations its end has cost."""

    @property
    def how(self) -> str:
        """How it ended, in words."""

    @property
    def expected(self) -> bool:
        """Whether it ended because we asked for it."""

    @property
    def retired(self) -> bool:
        """Whether that was because a run over its time could not be ended otherwise."""

    async def where(self, invocation_id: str) -> str:
        """See `Workers`."""

    def show_stacks(self) -> None:
        """Write where its code stands, as lines of its own."""

    async def wait_unavailable(self) -> None:
        """Wait until it takes no more invocations: it has ended, or is about to."""

    async def wait_ended(self) -> None:
        """Wait until it has ended and everything is answered."""


class LoadCrash(WorkerStartError):
    """The worker ended, or hung, while it imported one function.

    `again` says whether another try may help.
    """

    def __init__(self, function: str, failure: LoadFailure, *, again: bool) -> None:
        super().__init__(f"{function}: {failure.message}")
        self.function = function
        self.failure = failure
        self.again = again


def crash_at(function: FunctionSpec, root: Path, message: str, last_words: str = "") -> LoadFailure:
    """Why a function that brought its worker down cannot run.

    Such an end leaves no place, so the script's first line is named; `root` is the project's.
    `last_words` are what the process wrote at last; they stand where a traceback would.
    """
    return crash_in(function.script_file, root, message, last_words)


def crash_in(script: Path, root: Path, message: str, last_words: str = "") -> LoadFailure:
    """The same for a script that declares functions by decorators."""
    shown = script.relative_to(root) if script.is_relative_to(root) else script
    return LoadFailure(
        message=message,
        place=f"{shown}:1",
        traceback=last_words.strip("\n"),
        hint="leave away half of its imports, and again, to find the one that ends the process",
    )

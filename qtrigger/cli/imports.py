"""Imports the functions' code in a worker, as a host does, to find what does not load.

Owns turning the worker's answer into findings. The worker is ended before they are told.
"""

from __future__ import annotations

import logging
from pathlib import Path

from qtrigger.assembly import function_spec
from qtrigger.cli import wiring
from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import Event, UserLog
from qtrigger.project.model import FunctionDefinition, Problem, Project, Severity
from qtrigger.workers.usertext import LOGGER
from qtrigger.workers.worker import LoadFailure


async def load_failures(project: Project, clock: Clock) -> list[Problem]:
    """What a host would say of the functions that it would run, but cannot load."""
    functions = {each.name: each for each in project.functions if not each.disabled}
    if not functions:
        return []
    pool, interpreter = wiring.open_workers(project, 1, clock, _Notes())
    try:
        loaded = await pool.start([function_spec(each) for each in functions.values()])
    except WorkerStartError as error:
        hint = f"the interpreter is {interpreter.path} ({interpreter.why})"
        return [Problem(severity=Severity.ERROR, message=str(error), hint=hint)]
    finally:
        await pool.stop(0.0)
    return [
        _problem(project.root, functions[name], failure)
        for name, failure in loaded.failures.items()
    ]


def _problem(root: Path, function: FunctionDefinition, failure: LoadFailure) -> Problem:
    file, _, line = failure.place.rpartition(":")
    if not line.isdecimal():
        # A crash has no place of its own; the script is where to look.
        file, line = _shown(root, function.script_file), "1"
    return Problem(
        severity=Severity.ERROR,
        message=failure.message,
        file=file,
        line=int(line),
        function=function.name,
        hint=failure.hint,
    )


def _shown(root: Path, script: Path) -> str:
    return script.relative_to(root).as_posix() if script.is_relative_to(root) else str(script)


class _Notes:
    """Tells of an import that takes long; what user code says meanwhile is no finding."""

    def emit(self, event: Event) -> None:
        if isinstance(event, UserLog) and event.logger == LOGGER and event.level >= logging.WARNING:
            wiring.note(f"{event.function}: {event.message}")

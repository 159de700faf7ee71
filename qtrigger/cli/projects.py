"""Loads a project whole: what its files say, and what a worker says of a script with decorators.

Owns the order of the two, and the worker that has imported the script, until a pool takes it over
or it is ended. What a function must look like is decided in `qtrigger.project`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qtrigger.cli import wiring
from qtrigger.clock import Clock, SystemClock
from qtrigger.errors import WorkerStartError
from qtrigger.events import Event, EventSink, UserLog
from qtrigger.project.model import Problem, Project, Severity

# What reading takes is imported by what reads, and so while a worker comes up.
if TYPE_CHECKING:
    from qtrigger.cli.ahead import Ahead
    from qtrigger.project.definitions import Declaration
    from qtrigger.workers.indexed import Indexed
    from qtrigger.workers.interpreter import Interpreter
    from qtrigger.workers.pool import WorkerPool
    from qtrigger.workers.process import PythonWorker
    from qtrigger.workers.worker import LoadFailure


class LoadedProject:
    """A project, and the worker that came up beside the reading or listed its functions."""

    def __init__(self, project: Project, worker: PythonWorker | None = None) -> None:
        self.project = project
        self.worker = worker

    def open_workers(
        self, count: int, clock: Clock, sink: EventSink
    ) -> tuple[WorkerPool, Interpreter]:
        """Return a pool of `count` workers, not started, and what runs them.

        The first of them is the one that is there already, if there is one.
        """
        from qtrigger.workers.pool import WorkerPool

        make, interpreter = _worker_maker(self.project, clock, sink)

        def next_worker() -> PythonWorker:
            worker, self.worker = self.worker, None
            return worker or make()

        return WorkerPool(size=count, make=next_worker, clock=clock, events=sink), interpreter

    async def close(self) -> None:
        """End the worker, unless a pool has taken it."""
        worker, self.worker = self.worker, None
        if worker is not None:
            await worker.stop(0.0)


class ImportNotes:
    """Tells a person of an import that takes long; what else user code says is dropped."""

    def emit(self, event: Event) -> None:
        """Take one event."""
        from qtrigger.workers.usertext import LOGGER

        if isinstance(event, UserLog) and event.logger == LOGGER and event.level >= logging.WARNING:
            name = f"{event.function}: " if event.function else ""
            wiring.note(f"{name}{event.message}")

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind is UserLog


def read(
    root: Path, environ: Mapping[str, str], environment: str, only: Sequence[str] = ()
) -> Project:
    """Read the files alone. Raises ProjectError when nothing can be said about the project."""
    from qtrigger.project.loader import load_project

    return load_project(root, environ, environment=environment, only=only)


async def load(
    root: Path,
    environ: Mapping[str, str],
    environment: str,
    only: Sequence[str] = (),
    *,
    clock: Clock,
    sink: EventSink,
    ahead: Ahead | None = None,
    learn: Callable[[Project], None] = lambda _: None,
) -> LoadedProject:
    """Read the project, and have a worker list the functions that decorators declare.

    A worker comes up meanwhile, for whoever is going to run functions, or has begun to: `ahead`.
    What the script says while it is imported goes to `sink`; `learn` hears before that, and after
    it, what is known of the project. Raises ProjectError as `read` does; a script that cannot be
    imported is among the project's problems. The caller closes it.
    """
    from qtrigger.cli.ahead import launch_ahead

    if ahead is None:
        ahead = await launch_ahead(root, environ, environment, clock=clock, sink=sink)
    try:
        project = read(root, environ, environment, only)
        learn(project)
        loaded = LoadedProject(project, await ahead.worker_for(project) if ahead else None)
        await _list_functions(loaded, environ, only, clock=clock, sink=sink)
        learn(loaded.project)
    except BaseException:
        if ahead is not None:
            await ahead.close()
        raise
    return loaded


async def _list_functions(
    loaded: LoadedProject,
    environ: Mapping[str, str],
    only: Sequence[str],
    *,
    clock: Clock,
    sink: EventSink,
) -> None:
    """Have the project's worker list what its script declares, if it has such a script."""
    from qtrigger.project.loader import load_project

    project = loaded.project
    script = project.decorator_script
    if script is None or project.blocked:
        return
    make, interpreter = _worker_maker(project, clock, sink)
    worker = loaded.worker or make()
    loaded.worker = worker
    try:
        found, problems = await _index(worker, interpreter, project.root, script)
        loaded.project = load_project(
            project.root,
            environ,
            environment=project.environment,
            only=only,
            decorated=found,
            script_problems=problems,
        )
    except BaseException:
        await loaded.close()
        raise


def load_alone(
    root: Path, environ: Mapping[str, str], environment: str, *, tells: bool = True
) -> Project:
    """As `load`, for a verb that runs no function: no worker without a script to list.

    A person is told why a script cannot be read; a verb that does so itself says `tells` is False.
    """

    async def load_and_close() -> Project:
        loaded = LoadedProject(read(root, environ, environment))
        await _list_functions(loaded, environ, (), clock=SystemClock(), sink=ImportNotes())
        await loaded.close()
        return loaded.project

    project = asyncio.run(load_and_close())
    if tells and project.unread:
        from qtrigger.cli import unread

        unread.tell(project)
    return project


def problem_of(failure: LoadFailure, root: Path, script: Path, function: str = "") -> Problem:
    """What a worker could not load, as a finding."""
    file, _, line = failure.place.rpartition(":")
    if not line.isdecimal():
        # A crash has no place of its own; the script is where to look.
        file = script.relative_to(root).as_posix() if script.is_relative_to(root) else str(script)
        line = "1"
    return Problem(
        severity=Severity.ERROR,
        message=failure.message,
        file=file,
        line=int(line),
        function=function,
        hint=failure.hint,
        traceback=failure.traceback,
    )


def problem_of_start(error: WorkerStartError, interpreter: Interpreter) -> Problem:
    """A worker that did not come up, as a finding."""
    hint = f"the interpreter is {interpreter.path} ({interpreter.why})"
    return Problem(severity=Severity.ERROR, message=str(error), hint=hint)


async def _index(
    worker: PythonWorker, interpreter: Interpreter, root: Path, script: Path
) -> tuple[list[Declaration], list[Problem]]:
    try:
        indexed = await worker.index(script)
    except WorkerStartError as error:
        return [], [problem_of_start(error, interpreter)]
    if indexed.failure is not None:
        return [], [problem_of(indexed.failure, root, script)]
    return _declarations(indexed, root, script), []


def _declarations(indexed: Indexed, root: Path, script: Path) -> list[Declaration]:
    from qtrigger.project.definitions import decorated

    return [
        replace(
            decorated(
                name=each.name,
                root=root,
                script=script,
                line=each.line,
                entry_point=each.entry_point,
                bindings=each.bindings,
                retry=each.retry,
                file=each.file,
            ),
            fault=each.fault,
        )
        for each in indexed.functions
    ]


def _worker_maker(
    project: Project, clock: Clock, sink: EventSink
) -> tuple[Callable[[], PythonWorker], Interpreter]:
    from qtrigger.telemetry.levels import UserLevels
    from qtrigger.workers.interpreter import choose_interpreter
    from qtrigger.workers.process import PythonWorker

    interpreter = choose_interpreter(project.root, project.settings)

    def make() -> PythonWorker:
        return PythonWorker(
            interpreter=interpreter.path,
            root=project.root,
            env=project.settings,
            clock=clock,
            events=UserLevels(sink, project.host.log_levels),
        )

    return make, interpreter

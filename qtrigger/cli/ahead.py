"""Starts a worker's process before the project is read, so that it comes up meanwhile.

Owns the guess of what it will need, and whether that was right. A worker that was started ahead
and does not fit is ended: it has imported nothing of the project's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.events import EventSink
from qtrigger.project.glance import environment_at_a_glance
from qtrigger.project.model import Project
from qtrigger.telemetry.levels import UserLevels
from qtrigger.workers.interpreter import choose_interpreter
from qtrigger.workers.process import PythonWorker


class Ahead:
    """A worker that is coming up in the folder `root` with `env`, until somebody takes it."""

    def __init__(
        self, root: Path, env: Mapping[str, str], *, clock: Clock, sink: EventSink
    ) -> None:
        self._root = root = root.absolute()
        self._env = env
        self._levels = UserLevels(sink, {})
        self._worker = PythonWorker(
            interpreter=choose_interpreter(root, env).path,
            root=root,
            env=env,
            clock=clock,
            events=self._levels,
        )

    @property
    def pid(self) -> int:
        """Its process's number, 0 when it could not be started."""
        return self._worker.pid

    async def launch(self, *, warm: bool = False) -> None:
        """Start it, if it can be started; that it cannot is told by the worker that comes next.

        See `PythonWorker.warm` for what it does then.
        """
        with contextlib.suppress(WorkerStartError):
            await self._worker.launch()
            if warm:
                self._worker.warm()

    async def worker_for(self, project: Project) -> PythonWorker | None:
        """The worker, if it is what the project needs; else it is ended."""
        fits = project.root == self._root and project.settings == self._env and not project.blocked
        if not fits or not self.pid:
            await self.close()
            return None
        self._levels.go_by(project.host.log_levels)
        return self._worker

    async def close(self) -> None:
        """End the worker."""
        await self._worker.stop(0.0)


async def launch_ahead(
    root: Path,
    environ: Mapping[str, str],
    environment: str,
    *,
    clock: Clock,
    sink: EventSink,
    warm: bool = False,
) -> Ahead | None:
    """Have a worker come up for the project in `root`, None when nothing can be guessed.

    With `warm` it imports `azure.functions` while it waits.
    """
    env = environment_at_a_glance(root, environ, environment)
    if env is None:
        return None
    ahead = Ahead(root, env, clock=clock, sink=sink)
    try:
        await ahead.launch(warm=warm)
    except BaseException:
        await ahead.close()
        raise
    return ahead

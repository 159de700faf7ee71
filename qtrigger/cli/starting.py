"""Starts a host for a project: everything that a first start and a reload have in common.

Owns which real parts a host is given. What a reload adds to it is `reloading`'s, the life of the
process the supervisor's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from qtrigger import tellers
from qtrigger.cli import opening, projects, wiring
from qtrigger.cli.collector import resting_collector
from qtrigger.cli.emulation import Choice, LocalEmulator
from qtrigger.cli.http_options import Listen
from qtrigger.cli.reloading import Staff
from qtrigger.cli.told import News, Told
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError
from qtrigger.events import EventSink
from qtrigger.host import Host
from qtrigger.notices import OpenTellers
from qtrigger.pauses import PauseFile
from qtrigger.project.model import Project
from qtrigger.queues.request_counts import RequestCounts
from qtrigger.queues.services import QueueServices
from qtrigger.spending import Spending
from qtrigger.state import state_folder
from qtrigger.tracing import Tracing
from qtrigger.traffic import TrafficOfAll
from qtrigger.tries import TriesOfAll
from qtrigger.workers.python.debugging import PORT as DEBUG_PORT

if TYPE_CHECKING:
    from qtrigger.cli.ahead import Ahead
    from qtrigger.workers.pool import WorkerPool


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """The verb's flags; `root` is the project as the user named it, links and all.

    `metrics` says that somebody may ask for them; `http` is where, None for nowhere.
    """

    root: Path
    environment: str
    functions: tuple[str, ...]
    workers: int | None
    shutdown_timeout: float | None
    exit_when_idle: float | None
    emulator: Choice
    state: str | None
    watches: bool = False
    debug: int | None = None
    metrics: bool = False
    http: Listen | None = None

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the process, and what the workers are told by it."""
        asked = {} if self.debug is None else {DEBUG_PORT: str(self.debug)}
        return {**os.environ, **asked}


class HostStarter:
    """Loads the project and starts the first host for it; `reloading` has its steps for others.

    `told` is what was said of the project's faults; `learn` hears of each project before any of its
    code is run, `live` which host is the live one, and its workers, before it takes messages.
    `requests` and `traffic` count what all of them ask of the queue service, and `spending` says
    what that costs. `opens` is called with the first project that is read, and returns the address
    of the dashboard.
    """

    def __init__(
        self,
        options: StartOptions,
        emulator: LocalEmulator,
        clock: SystemClock,
        sink: EventSink,
        live: Callable[[Host, WorkerPool], None],
        learn: Callable[[Project], None],
        tracing: Tracing | None = None,
    ) -> None:
        self.told = Told()
        self.requests = RequestCounts()
        self.traffic = TrafficOfAll()
        self.spending = Spending(self.traffic, clock)
        self.interpreter = ""
        self._warm = False
        self._tries = TriesOfAll()
        self._options = options
        self._tracing = tracing
        self._emulator = emulator
        self._clock = clock
        self._sink = sink
        self.live = live
        self._learn = learn
        self.opens: Callable[[Project], str] = _nothing

    async def start(self) -> Host:
        """Return a host that polls. Raises ProjectError when no function can run."""
        began_at = self._clock.monotonic()
        news = News(self._sink, self.told)
        with resting_collector():
            loaded = await self.load(news)
        try:
            return await self._start(loaded, news, began_at)
        finally:
            await loaded.close()

    async def launch_ahead(self) -> Ahead | None:
        """See `Starter`."""
        from qtrigger.cli.ahead import launch_ahead

        options = self._options
        return await launch_ahead(
            options.root.resolve(),
            options.environ,
            options.environment,
            clock=self._clock,
            sink=self._sink,
            warm=self._warm,
        )

    async def load(self, sink: EventSink, ahead: Ahead | None = None) -> projects.LoadedProject:
        """See `Starter`."""
        options = self._options
        return await projects.load(
            options.root.resolve(),
            options.environ,
            options.environment,
            options.functions,
            clock=self._clock,
            sink=sink,
            ahead=ahead,
            learn=self._learn,
        )

    async def _start(self, loaded: projects.LoadedProject, news: News, began_at: float) -> Host:
        self._announce(loaded.project)
        news.tell(loaded.project.problems)
        wiring.check_runnable(loaded.project)
        staff = await self.staff(loaded, news)
        host = self.host(loaded.project, staff)
        self.live(host, staff.pool)
        await host.start(
            workers=staff.count,
            interpreter=staff.interpreter.why,
            began_at=began_at,
            open_tellers=self.tellers(),
        )
        if not host.listeners:
            await host.stop("nothing to run", up_to_s=0.0, at_once=asyncio.Event())
            raise ProjectError("no function could be loaded. Mend the findings above.")
        host.tell_hidden()
        return host

    def _announce(self, project: Project) -> None:
        from qtrigger.workers.interpreter import choose_interpreter

        interpreter = choose_interpreter(project.root, project.settings)
        self._sink.emit(
            opening.starting(
                project,
                interpreter,
                workers=self._count(project),
                watches=self._options.watches,
                dashboard=self.opens(project),
            )
        )

    def _count(self, project: Project) -> int:
        if self._options.debug is not None:
            return 1  # a debugger attaches to one process
        return self._options.workers or _worker_count(project.settings)

    async def staff(self, loaded: projects.LoadedProject, sink: EventSink) -> Staff:
        """See `Starter`."""
        await self._emulator.ensure(loaded.project)
        count = self._count(loaded.project)
        pool, interpreter = loaded.open_workers(count, self._clock, sink)
        self.interpreter = str(interpreter.path)
        self._warm = _uses_library(loaded.project)
        return Staff(pool=pool, count=count, interpreter=interpreter)

    def host(self, project: Project, staff: Staff) -> Host:
        """See `Starter`."""
        return Host(
            project,
            services=QueueServices(wiring.open_service_with(self._clock, self.requests)),
            workers=staff.pool,
            clock=self._clock,
            sink=self._sink,
            random=Random(),  # noqa: S311  # spreads polls, guards nothing
            tries=self._tries,
            traffic=self.traffic,
            tracing=self._tracing,
            pauses=PauseFile(state_folder(self._options.root, self._options.state)),
        )

    def tellers(self) -> OpenTellers:
        """See `Starter`."""
        return tellers.opener(self._options.root, os.environ, self._clock)

    def up_to_s(self, project: Project) -> float:
        """See `Starter`."""
        given = self._options.shutdown_timeout
        return project.host.shutdown_timeout_s if given is None else given


def _nothing(_project: Project) -> str:
    """No HTTP."""
    return ""


def _uses_library(project: Project) -> bool:
    """Whether the project's code is likely to import `azure.functions`."""
    if project.decorator_script is not None:
        return True
    for script in {each.script_file for each in project.functions}:
        with contextlib.suppress(OSError):
            if b"azure.functions" in script.read_bytes():
                return True
    return False


def _worker_count(settings: Mapping[str, str]) -> int:
    """Return what FUNCTIONS_WORKER_PROCESS_COUNT says when that is 1 to 10, else 1."""
    text = settings.get("FUNCTIONS_WORKER_PROCESS_COUNT", "").strip()
    return int(text) if text in [str(number) for number in range(1, 11)] else 1

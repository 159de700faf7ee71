"""Loads a running host's project anew and lets the host, or another, go on with it.

Owns what a reload is: which parts stay, when what is broken is acted on, and what is said. When to
reload, and for which files, is `renewal`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from qtrigger.assembly import function_spec
from qtrigger.cli import projects
from qtrigger.cli.foreseen import Foreseen
from qtrigger.cli.told import News, Told
from qtrigger.clock import Clock
from qtrigger.difference import Difference, difference, same_house, standing
from qtrigger.errors import ProjectError
from qtrigger.events import EventSink, Reloaded, RequirementsChanged
from qtrigger.host import Host
from qtrigger.notices import OpenTellers
from qtrigger.project.model import Project
from qtrigger.renewal import REQUIREMENTS, Asked
from qtrigger.workers.worker import Loaded

if TYPE_CHECKING:
    from qtrigger.cli.ahead import Ahead
    from qtrigger.workers.interpreter import Interpreter
    from qtrigger.workers.pool import WorkerPool

# Editors and copies save in pieces: what is broken is looked at again so long after the last.
SETTLE_S = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """The workers for a project, not started: how many, and what runs them."""

    pool: WorkerPool
    count: int
    interpreter: Interpreter


class Starter(Protocol):
    """What a first start does too."""

    @property
    def interpreter(self) -> str:
        """What runs the project's functions."""

    @property
    def live(self) -> Callable[[Host, WorkerPool], None]:
        """What hears of the live host and its workers."""

    async def launch_ahead(self) -> Ahead | None:
        """Have a worker come up for whatever the project will be."""

    async def load(self, sink: EventSink, ahead: Ahead | None = None) -> projects.LoadedProject:
        """Read the project. Raises ProjectError when there is none."""

    async def staff(self, loaded: projects.LoadedProject, sink: EventSink) -> Staff:
        """Have ready what its functions need: a queue service where that is ours, workers."""

    def host(self, project: Project, staff: Staff) -> Host:
        """A host that is not started."""

    def tellers(self) -> OpenTellers:
        """Those who are told of poisoned messages."""

    def up_to_s(self, project: Project) -> float:
        """How long running functions may finish, in seconds."""


class Reloading:
    """Carries out reloads; `told` is what was said of the project's faults."""

    def __init__(self, starter: Starter, told: Told, *, clock: Clock, sink: EventSink) -> None:
        self._starter = starter
        self._told = told
        self._clock = clock
        self._sink = sink
        self._foreseen = Foreseen(starter.launch_ahead, busy=self._busy, clock=clock)
        self._renewing = False
        self._host: Host | None = None

    def foresee(self) -> None:
        """Something seems to have changed: a reload is likely."""
        self._foreseen.notice()

    async def close(self) -> None:
        """Foresee no more."""
        await self._foreseen.close()

    def requirements_changed(self) -> None:
        """Say what is to be done; nothing is installed by us."""
        interpreter = self._starter.interpreter
        self._sink.emit(RequirementsChanged(file=REQUIREMENTS, interpreter=interpreter))

    async def renew(self, host: Host, asked: Asked) -> Host:
        """Return the host that goes on: that one, or another when it must; see `Renew`."""
        self._renewing = True
        try:
            self._host = await self._renewed(host, asked, News(self._sink, self._told))
            return self._host
        finally:
            self._renewing = False

    def _busy(self) -> bool:
        return self._renewing or (self._host is not None and bool(self._host.leaving))

    async def _renewed(self, host: Host, asked: Asked, news: News) -> Host:
        try:
            loaded = await self._starter.load(news, await self._foreseen.take())
        except ProjectError:
            await self._settled(asked)
            raise
        try:
            project = loaded.project
            if project.blocked:
                if news.of_errors(project.problems):
                    await self._settled(asked)
                news.tell(project.problems)
                raise ProjectError("its files have errors. Mend the findings above.")
            if asked.by_hand or not same_house(host.project, project):
                return await self._another(host, loaded, asked, news)
            return await self._same(host, loaded, asked, news)
        finally:
            await loaded.close()

    async def _same(
        self, host: Host, loaded: projects.LoadedProject, asked: Asked, news: News
    ) -> Host:
        """Let the host go on with new workers."""
        project = loaded.project
        staff = await self._starter.staff(loaded, news)
        enabled = [each for each in project.functions if not each.disabled]
        # Where nothing could be loaded, what runs may finish on the workers that there are.
        pool = staff.pool if enabled else None
        result = Loaded()
        if pool is not None:
            result = await pool.start([function_spec(each) for each in enabled])
        try:
            await self._ready(loaded, asked, news)
        except BaseException:
            if pool is not None:
                await pool.stop(0.0)
            raise
        before = standing(host.project, host.broken)
        host.renew(project, pool, result, up_to_s=self._starter.up_to_s(project))
        self._starter.live(host, staff.pool)
        news.tell(project.problems)
        self._say(host, difference(before, standing(project, host.broken)), asked, staff)
        return host

    async def _another(
        self, old: Host, loaded: projects.LoadedProject, asked: Asked, news: News
    ) -> Host:
        """Start another host, which polls once everything is loaded."""
        project = loaded.project
        staff = await self._starter.staff(loaded, news)
        new = self._starter.host(project, staff)
        await new.load(self._starter.tellers())
        try:
            await self._ready(loaded, asked, news)
        except BaseException:
            await new.close()
            raise
        before = standing(old.project, old.broken)
        broken = new.broken | before.names if project.unread else new.broken
        self._starter.live(new, staff.pool)
        new.poll()
        news.tell(project.problems)
        self._say(new, difference(before, standing(project, broken)), asked, staff, old.running)
        return new

    async def _ready(self, loaded: projects.LoadedProject, asked: Asked, news: News) -> None:
        """The last that may be given up: nothing is waited for between this and the change."""
        await loaded.close()
        if news.of_errors(loaded.project.problems):
            await self._settled(asked)

    async def _settled(self, asked: Asked) -> None:
        """Wait for the rest of a file, if there is one: it would end this wait, and begin anew."""
        left_s = asked.last_at + SETTLE_S - self._clock.monotonic()
        if left_s > 0:
            await self._clock.sleep(left_s)

    def _say(
        self, host: Host, became: Difference, asked: Asked, staff: Staff, before: int = 0
    ) -> None:
        if became.added or became.removed:
            host.tell_ready(
                workers=staff.count, interpreter=staff.interpreter.why, began_at=asked.last_at
            )
        concerned = {*became.added, *became.changed, *became.mended}
        concerned |= _beside(host.project, asked.files, became)
        self._sink.emit(
            Reloaded(
                files=() if asked.by_hand else sorted(asked.files),
                live=[name for name in became.live if name in concerned],
                ready=len(became.live),
                added=became.added,
                removed=became.removed,
                changed=became.changed,
                broken=became.broken,
                mended=became.mended,
                took_s=self._clock.monotonic() - asked.last_at,
                running_before=before or host.running_before,
            )
        )


def _beside(project: Project, files: frozenset[str], became: Difference) -> set[str]:
    """The functions in whose folders those files are; all, for a file that is in none."""
    folders = {
        each.name: PurePosixPath(each.directory.relative_to(project.root))
        for each in project.functions
        if not each.decorated and each.directory.is_relative_to(project.root)
    }
    found: set[str] = set()
    for file in files or [""]:
        path = PurePosixPath(file)
        names = {name for name, folder in folders.items() if folder in path.parents}
        broken = {name for name in became.broken if name in path.parts}
        if not names and not broken:
            return set(became.live)
        found |= names
    return found

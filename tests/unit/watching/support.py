"""A project on the disk, a source of its changes, and what it said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from qtrigger.clock import SystemClock
from qtrigger.events import Event, HostLog
from qtrigger.watching.changes import ChangeSource
from qtrigger.watching.facts import read_facts
from qtrigger.watching.folder import FolderChanges, MakeEvents
from qtrigger.watching.quiet import QUIET_AFTER_MANY_S
from qtrigger.watching.wakers import FileEvents, WakerError

DEADLINE_S = 10.0


class Said:
    """A sink that keeps the host's own lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.more = asyncio.Event()

    def emit(self, event: Event) -> None:
        assert isinstance(event, HostLog)
        self.lines.append(event.message)
        self.more.set()

    def wants(self, kind: type[Event]) -> bool:
        del kind
        return True


class Armed:
    """Real events, with a record of what is listened to; tells when the source has settled."""

    def __init__(self) -> None:
        self.folders: Collection[str] = ()
        self.ready = asyncio.Event()

    def __call__(self, relevant: Callable[[str], bool], clock: object) -> Armed:
        del clock
        self._events = FileEvents(relevant, SystemClock())
        return self

    async def arm(self, folders: Collection[str]) -> None:
        await self._events.arm(folders)
        self.folders = set(folders)

    async def next(self, timeout_s: float) -> frozenset[str]:
        found = await self._events.next(timeout_s)
        # The first answer is the proof that events arrive.
        self.ready.set()
        return found

    async def close(self) -> None:
        await self._events.close()


class Deaf:
    """A file system without events."""

    def __init__(self, relevant: Callable[[str], bool], clock: object) -> None:
        del relevant, clock
        self.closed = False

    async def arm(self, folders: Collection[str]) -> None:
        del folders

    async def next(self, timeout_s: float) -> frozenset[str]:
        del timeout_s
        return frozenset()

    async def close(self) -> None:
        self.closed = True


class UsedUp(Deaf):
    """A file system whose limit of listeners is reached."""

    def __init__(self, relevant: Callable[[str], bool], clock: object) -> None:
        super().__init__(relevant, clock)
        self.tries = 0

    async def arm(self, folders: Collection[str]) -> None:
        del folders
        self.tries += 1
        raise WakerError("there are no more file events to be had here")


class Scripted(Deaf):
    """Events that a test makes one by one; the first, the proof that they arrive, by itself.

    `arming` is called when it is told to listen, `refused` times no folder can be had.
    """

    def __init__(self) -> None:
        self.folders: Collection[str] = ()
        self.arming: Callable[[], object] | None = None
        self.refused = 0
        self.timeout_s = 0.0
        self._answers: asyncio.Queue[frozenset[str] | str] = asyncio.Queue()
        self._waits = asyncio.Semaphore(0)
        self._proven = False

    def __call__(self, relevant: Callable[[str], bool], clock: object) -> Scripted:
        super().__init__(relevant, clock)
        return self

    async def silence(self) -> None:
        """Wait until it is asked, past the proof and the quiet spell of a burst."""
        await asyncio.wait_for(self._waits.acquire(), DEADLINE_S)

    def say(self, *paths: str) -> None:
        """Answer so."""
        self._answers.put_nowait(frozenset(paths))

    def break_off(self, why: str) -> None:
        """Answer no more."""
        self._answers.put_nowait(why)

    async def arm(self, folders: Collection[str]) -> None:
        if self.arming is not None:
            self.arming()
        if self.refused:
            self.refused -= 1
            raise FileNotFoundError
        self.folders = set(folders)

    async def next(self, timeout_s: float) -> frozenset[str]:
        if not self._proven:
            self._proven = True
            return frozenset({"proof"})
        if timeout_s < QUIET_AFTER_MANY_S + 0.01:
            await SystemClock().sleep(timeout_s)
            return frozenset()
        self.timeout_s = timeout_s
        self._waits.release()
        answer = await self._answers.get()
        if isinstance(answer, str):
            raise WakerError(answer)
        return answer


def a_project(root: Path) -> Path:
    write(root / "host.json", '{"version": "2.0"}')
    write(root / "functions/charge/function.json", "{}")
    write(root / "functions/charge/__init__.py", "x = 1\n")
    write(root / "shared/money.py", "x = 1\n")
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def save_by_rename(path: Path, text: str) -> None:
    other = path.with_name(f"{path.name}.new~")
    other.write_text(text)
    other.rename(path)


@asynccontextmanager
async def watching(
    root: Path,
    events: MakeEvents | None,
    said: Said | None = None,
    sign: Callable[[], object] = lambda: None,
) -> AsyncIterator[ChangeSource]:
    source = FolderChanges(
        root,
        facts=lambda: read_facts(root, {}, "Development"),
        events=events,
        clock=SystemClock(),
        sink=said or Said(),
        sign=sign,
    )
    try:
        yield source
    finally:
        await asyncio.wait_for(source.close(), DEADLINE_S)


@asynccontextmanager
async def listening(
    root: Path, sign: Callable[[], object] = lambda: None
) -> AsyncIterator[tuple[ChangeSource, Armed]]:
    """A source on real events that has come to rest."""
    armed, said = Armed(), Said()
    async with watching(root, armed, said, sign) as source:
        asked = asyncio.ensure_future(source.changed())
        await asyncio.wait_for(armed.ready.wait(), DEADLINE_S)
        asked.cancel()
        yield source, armed
        assert said.lines == []


async def told(source: ChangeSource) -> frozenset[str]:
    return await asyncio.wait_for(source.changed(), DEADLINE_S)


def own_instances() -> int:
    """How many inotify instances this process holds."""
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            count += str(link.readlink()) == "anon_inode:inotify"
    return count


async def until_instances(count: int) -> None:
    """Wait until this process holds so many; the library lets go in a thread of its own."""
    clock = SystemClock()
    ends_at = clock.monotonic() + DEADLINE_S
    while own_instances() != count:
        assert clock.monotonic() < ends_at, f"{own_instances()} instances in place of {count}"
        await clock.sleep(0.01)

"""When a running host's project is loaded anew, and what that is given up for.

Owns the waits: for changed files or for somebody's wish, for newer changes while one is being
carried out, and for workers that still leave. What a reload does is the renewer's; this knows
neither files nor functions.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, replace

from qtrigger.clock import Clock
from qtrigger.errors import QtriggerError
from qtrigger.events import EventSink, ReloadRejected, ReloadStarted
from qtrigger.host import Host
from qtrigger.watching.changes import ChangeSource, NoChanges

REQUIREMENTS = "requirements.txt"
# Beside the workers that take messages and those that come up, so many generations may be there
# that only finish what they run.
MOST_LEAVING = 1
# The end of a process that has nothing to do takes no longer, most likely.
ENDING_S = 1.0
# Where changes do not end, a reload is carried out all the same after so long.
PATIENCE_S = 5.0
# An import that takes so long may hang, and what was saved since may mend it: then it is given up
# after all. Not without end, for it may also be slow.
STUCK_S = 5.0
MOST_STUCK = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Why the project is to be loaded anew.

    `files` are relative to it; `by_hand` is somebody's wish for a whole new host. `since` and
    `last_at` are when the first and the last cause came, on the monotonic clock.
    """

    files: frozenset[str]
    by_hand: bool
    since: float
    last_at: float

    def and_then(self, later: Asked) -> Asked:
        """Both."""
        return replace(
            self,
            files=self.files | later.files,
            by_hand=self.by_hand or later.by_hand,
            last_at=later.last_at,
        )


Renew = Callable[[Host, Asked], Coroutine[object, object, Host]]
"""Carries a reload out, and returns the host that goes on, which may be another.

Until it has done so it may be cancelled, and then has changed nothing. Raises a QtriggerError when
the host given goes on as it was.
"""


class Renewals:
    """Reloads of one host after another, each for all that changed until it was done.

    `requirements` is called when the list of what is to be installed has changed, which is no
    reason to reload.
    """

    def __init__(
        self,
        renew: Renew,
        changes: ChangeSource,
        *,
        requirements: Callable[[], None],
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._renew = renew
        self._changes = changes
        self._requirements = requirements
        self._clock = clock
        self._sink = sink
        self._by_hand = asyncio.Event()
        self._asked: Asked | None = None
        self._watching: asyncio.Task[frozenset[str]] | None = None
        self._rejected = ""
        self._stuck = 0  # loads in a row that were given up after `STUCK_S`

    def ask(self) -> None:
        """Wish for a reload, and for an answer, also when it is the one of the last time."""
        self._rejected = ""
        self._by_hand.set()

    async def wanted(self) -> None:
        """Wait until there is a reason to reload, and keep it for `carry_out`."""
        self._collect()
        while self._asked is None:
            # Kept when this is cancelled: what it has found must not be lost.
            self._watching = self._watching or asyncio.create_task(
                self._changed(), name="changes of the project"
            )
            await _first_of(self._watching, self._by_hand.wait())
            self._collect()

    async def mended(self) -> None:
        """Wait until a first start seems to hang and there is something newer to start with.

        The cause is told, and done with.
        """
        await self._clock.sleep(STUCK_S)
        await self.wanted()
        asked = self._take()
        self._sink.emit(ReloadStarted(files=() if asked.by_hand else sorted(asked.files)))

    async def carry_out(
        self, host: Host, leaving: Collection[asyncio.Task[None]], stop: asyncio.Event
    ) -> Host | None:
        """Reload; the host that goes on, None when `stop` was set before it was done.

        `leaving` are hosts before that one which still run something. Whatever goes wrong, the
        host given goes on, and it is said once.
        """
        asked = self._asked
        files = () if asked is None or asked.by_hand else sorted(asked.files)
        self._sink.emit(ReloadStarted(files=files))
        await self._room(host, leaving, stop)
        try:
            new = await self._load(host, stop)
        except QtriggerError as error:
            self._reject(str(error))
            return host
        except Exception as error:  # noqa: BLE001  # a defect must not end a healthy host
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the project was not reloaded", "exception": error}
            )
            self._reject(f"{type(error).__name__}: {error}")
            return host
        self._rejected = ""
        return new

    async def close(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.cancel()
        await self._changes.close()

    async def _room(
        self, host: Host, leaving: Collection[asyncio.Task[None]], stop: asyncio.Event
    ) -> None:
        """Wait while too many workers are there that only finish what they run.

        Those that have nothing more to run are about to end, and are waited for a moment.
        """
        if host.leaving and not host.running_before:
            with contextlib.suppress(TimeoutError):
                async with self._clock.timeout(ENDING_S):
                    await _first_of(stop.wait(), asyncio.wait(host.leaving))
        while len(busy := [*leaving, *host.leaving]) > MOST_LEAVING and not stop.is_set():
            await _first_of(stop.wait(), *busy)

    async def _load(self, host: Host, stop: asyncio.Event) -> Host | None:
        while not stop.is_set():
            asked = self._take()
            loading = asyncio.ensure_future(self._renew(host, asked))
            stuck_at = self._clock.monotonic() + STUCK_S
            await _first_of(loading, stop.wait(), self._newer(asked, stuck_at))
            if not loading.done():
                loading.cancel()
                await asyncio.wait({loading})
            if not loading.cancelled():
                self._stuck = 0
                return loading.result()
            newer = self._asked
            self._asked = asked.and_then(newer) if newer else asked
            if newer and self._clock.monotonic() >= stuck_at:
                # Whoever mends an import that hangs may save more than once.
                self._stuck += 1
                self._asked = replace(self._asked, since=newer.since)
        return None

    async def _newer(self, asked: Asked, stuck_at: float) -> None:
        """Wait for what makes it useless to go on with that."""
        await self.wanted()
        if self._clock.monotonic() - asked.since <= PATIENCE_S:
            return
        if self._stuck >= MOST_STUCK:
            await asyncio.Event().wait()
        await self._clock.sleep(stuck_at - self._clock.monotonic())

    def _take(self) -> Asked:
        self._collect()
        asked, self._asked = self._asked, None
        assert asked is not None
        return asked

    def _collect(self) -> None:
        """Note what has come."""
        files: frozenset[str] = frozenset()
        if self._watching is not None and self._watching.done():
            files, self._watching = self._watching.result(), None
        if REQUIREMENTS in files:
            self._requirements()
        files -= {REQUIREMENTS}
        by_hand = self._by_hand.is_set()
        self._by_hand.clear()
        if files or by_hand:
            now = self._clock.monotonic()
            asked = Asked(files=files, by_hand=by_hand, since=now, last_at=now)
            self._asked = self._asked.and_then(asked) if self._asked else asked

    async def _changed(self) -> frozenset[str]:
        try:
            return await self._changes.changed()
        except Exception as error:  # noqa: BLE001  # to watch is a convenience; the host goes on
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the project is watched no more", "exception": error}
            )
            self._changes = NoChanges()
            return frozenset()

    def _reject(self, message: str) -> None:
        if message != self._rejected:
            self._sink.emit(ReloadRejected(message=message))
        self._rejected = message


async def _first_of(*waits: Awaitable[object]) -> None:
    """Wait for one of them; those that are no tasks are given up then."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task, wait in zip(tasks, waits, strict=True):
            if task is not wait:
                task.cancel()

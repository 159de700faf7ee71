"""The `ChangeSource` of one project's folder.

Owns the order: wake, wait until it is quiet, look, compare. What is told is always the difference
of two looks, so that events may be missed or come too often. A look without any event, now and
then, finds what no event told. An event that has come leads to a look after it, whatever is being
done when it comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.events import EventSink, HostLog
from qtrigger.watching.aside import aside
from qtrigger.watching.facts import SOURCES, Facts
from qtrigger.watching.quiet import Burst
from qtrigger.watching.rules import IGNORE_FILE
from qtrigger.watching.sight import GONE_S, Sight
from qtrigger.watching.snapshot import Snapshot, differing
from qtrigger.watching.wakers import POLL_S, Polls, Waker, WakerError

# How long the event of a file that we have just made may take.
PROOF_S: Final = 2.0
# How often to look without an event: as long as none has come at all, and after that.
UNPROVEN_S: Final = 5.0
ANYWAY_S: Final = 30.0
# Folders that come and go while we arm are armed again so often, and then at the next look.
ROUNDS: Final = 3

NO_EVENTS: Final = "file events do not arrive here (a network mount?)"
OFF: Final = (
    "fileWatchingEnabled is false in host.json: saved files are no longer loaded by themselves, "
    "until it is true again"
)

MakeEvents = Callable[[Callable[[str], bool], Clock], Waker]


def nobody() -> None:
    """Who is told of a first sign, where nobody wants to know."""


class FolderChanges:
    """See `opening`. `events` makes what listens to file events; None is to poll."""

    def __init__(
        self,
        root: Path,
        *,
        facts: Callable[[], Facts | None],
        events: MakeEvents | None,
        clock: Clock,
        sink: EventSink,
        sign: Callable[[], object] = nobody,
    ) -> None:
        self._sign = sign
        self._root = root
        self._sight = Sight(root, facts, clock)
        self._clock = clock
        self._sink = sink
        self._armed: Mapping[str, object] = {}
        self._events = events
        self._waker: Waker = events(self._sight.relevant, clock) if events else self._polls()
        # What was heard while something else was asked; a look is due for it.
        self._heard: frozenset[str] = frozenset()
        self._unheard_s = UNPROVEN_S
        self._asked = asyncio.Event()
        self._pending: set[str] = set()
        self._told = asyncio.Event()
        self._task = begin(self._run(), name=f"watch over the files of {root}")

    async def changed(self) -> frozenset[str]:
        """See `ChangeSource`."""
        self._asked.set()
        await self._told.wait()
        self._told.clear()
        paths, self._pending = frozenset(self._pending), set()
        return paths

    async def close(self) -> None:
        """See `ChangeSource`."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([self._task])
        await self._waker.close()

    async def _run(self) -> None:
        await self._sight.first()
        await self._asked.wait()
        while True:
            if self._sight.facts.enabled:
                await self._watch()
                self._say(logging.INFO, OFF)
                await self._rest()
            await self._until_enabled()

    async def _watch(self) -> None:
        """Tell changes until host.json wants none told."""
        before = self._sight.now
        await self._look_and_arm()
        await self._tell_since(before)
        self._sight.polled = self._sight.now
        await self._prove()
        while self._sight.facts.enabled:
            before, all_armed = self._sight.now, self._all_armed
            heard = await self._wait_until_quiet()
            if not heard:
                await self._look_and_arm()
            found = await self._tell_since(before)
            if found and not heard and all_armed:
                # Its event may be on its way, and so may that of another save.
                self._heard = await self._next(PROOF_S)
                if not self._heard:
                    self._poll_instead(NO_EVENTS)

    async def _rest(self) -> None:
        """Listen to nothing, with what is needed to begin again."""
        if self._events is not None and not isinstance(self._waker, Polls):
            deaf, self._waker = self._waker, self._events(self._sight.relevant, self._clock)
            self._armed, self._heard = {}, frozenset()
            await deaf.close()

    async def _until_enabled(self) -> None:
        """Look at nothing but the files that may say that changes are wanted; tell it."""
        seen = await self._sight.stamps()
        await self._sight.read_rules()
        while not self._sight.facts.enabled:
            await self._clock.sleep(POLL_S)
            if (stamps := await self._sight.stamps()) != seen:
                seen = stamps
                await self._sight.read_rules()
        self._sight.now = await self._sight.look_until_there()
        self._pending.add(SOURCES[0])
        self._told.set()

    async def _tell_since(self, before: Snapshot) -> bool:
        """Tell what the last look found other than `before`; whether there was anything."""
        found = differing(before, self._sight.now)
        if found.intersection(SOURCES):
            found |= await self._follow_facts()
        found -= {IGNORE_FILE}
        if found:
            self._pending |= found
            self._told.set()
        return bool(found)

    async def _wait_until_quiet(self) -> bool:
        """Wait for a burst of changes and its end, and look; False when nothing was heard."""
        paths, self._heard = self._heard, frozenset()
        while not paths or paths == {str(self._sight.proof)}:  # our own file has gone again
            paths = await self._next(self._unheard_s if self._all_armed else GONE_S)
            if not paths:
                return False
        self._unheard_s = ANYWAY_S
        self._sign()
        self._disarm(paths)
        burst = Burst(self._clock.monotonic(), paths)
        while left_s := burst.left_s(self._clock.monotonic()):
            more = await self._next(left_s)
            self._disarm(more)
            burst.note(self._clock.monotonic(), more)
            if not burst.left_s(self._clock.monotonic()):
                burst.note(self._clock.monotonic(), await self._in_new_folders())
        return True

    async def _in_new_folders(self) -> frozenset[str]:
        """What came with folders that nobody listened to until now; more may come there."""
        before, armed = self._sight.now, self._armed
        await self._look_and_arm()
        return frozenset() if self._armed == armed else differing(before, self._sight.now)

    async def _next(self, timeout_s: float) -> frozenset[str]:
        """What is heard in that time; nothing where there are no more events to be had."""
        try:
            return await self._waker.next(timeout_s)
        except WakerError as error:
            self._poll_instead(str(error))
            return frozenset()

    @property
    def _all_armed(self) -> bool:
        return self._armed == self._sight.now.folders

    def _disarm(self, paths: frozenset[str]) -> None:
        """Listen anew where a folder itself has come or gone.

        The folder that takes its name may be given its number, too, and nobody listens to that.
        """
        if not self._armed.keys().isdisjoint(paths):
            self._armed = {}

    async def _look_and_arm(self) -> None:
        """Look, and listen to the folders that are there now."""
        for _ in range(ROUNDS):
            self._sight.now = await self._sight.look_until_there()
            if self._all_armed:
                return
            await self._arm()
        self._sight.now = await self._sight.look_until_there()

    async def _follow_facts(self) -> frozenset[str]:
        """Read the rules anew, and see the project by them; what differed meanwhile.

        What is watched from now on, or no longer, has not changed by that.
        """
        await self._sight.read_rules()
        before = self._sight.now
        seen = self._sight.now = await self._sight.look_until_there()
        await self._arm()
        # What was listened to so far is gone, with what it had not told yet.
        await self._look_and_arm()
        both = before.files.keys() & seen.files.keys()
        return differing(before, seen) & both | differing(seen, self._sight.now)

    async def _arm(self) -> None:
        try:
            await self._waker.arm(self._sight.now.folders.keys())
        except FileNotFoundError:
            return
        except WakerError as error:
            self._poll_instead(str(error))
        self._armed = self._sight.now.folders

    async def _prove(self) -> None:
        """Make a file of our own to see whether its event arrives; it is gone at once.

        Where none may be made, the looks without an event are the proof.
        """
        if isinstance(self._waker, Polls):
            return
        try:
            await aside(self._sight.proof.touch)
        except OSError:
            return
        try:
            heard = await self._hears()
        finally:
            with contextlib.suppress(OSError):
                self._sight.proof.unlink()
        if heard:
            self._unheard_s = ANYWAY_S
        else:
            self._poll_instead(NO_EVENTS)

    async def _hears(self) -> bool:
        before = self._sight.now
        paths = await self._next(PROOF_S)
        if paths - {str(self._sight.proof)}:
            # A change of the user's, at this very moment.
            await self._look_and_arm()
            await self._tell_since(before)
        return bool(paths)

    def _polls(self) -> Polls:
        return Polls(self._sight.differing_from_last_poll, self._clock)

    def _poll_instead(self, why: str) -> None:
        if isinstance(self._waker, Polls):
            return
        deaf, self._waker = self._waker, self._polls()
        self._sight.polled = self._sight.now
        begin(deaf.close(), name="end of listening to files")
        self._say(logging.WARNING, f"{why}: changed files are looked for every 1 s instead")

    def _say(self, level: int, message: str) -> None:
        self._sink.emit(HostLog(level=level, logger="qtrigger", message=message))

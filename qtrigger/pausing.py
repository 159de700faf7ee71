"""Holds and releases the listeners of the functions that somebody has paused.

Owns the look at what is written, once a second, and what a change means for a listener; the file
is `pauses`' concern. A look is one `stat`, and reads only what has changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.events import EventSink, FunctionPaused, FunctionResumed, HostLog
from qtrigger.listener import BY_HAND, Listener
from qtrigger.pauses import Pause, Pauses, Written

LOOK_S = 1.0


class Pausing:
    """Keeps listeners as it is written; `changed` is called whenever that moved one."""

    def __init__(
        self,
        pauses: Pauses,
        *,
        clock: Clock,
        sink: EventSink,
        changed: Callable[[], None],
    ) -> None:
        self._pauses = pauses
        self._clock = clock
        self._sink = sink
        self._changed = changed
        self._stamp: object = None
        self._written = Written()
        self._held: dict[str, Pause] = {}
        self._listeners: Sequence[Listener] = ()
        self._looking: asyncio.Task[None] | None = None

    def begin(self, listeners: Sequence[Listener]) -> None:
        """Hold what is paused already, without a word: the list at start says so; then look on."""
        self._listeners = listeners
        self._read()
        for listener in listeners:
            pause = self._written.of(listener.function, self._clock.utcnow())
            if pause is not None:
                self._hold(listener, pause)
        self._looking = begin(self._look_on(), name="look for paused functions")

    def follow(self, listeners: Sequence[Listener]) -> None:
        """Keep these from here on; new ones that are paused are held without a word."""
        before, self._listeners = self._listeners, listeners
        there = {listener.function for listener in listeners}
        self._held = {name: pause for name, pause in self._held.items() if name in there}
        for listener in listeners:
            if listener not in before:
                self._held.pop(listener.function, None)
                pause = self._written.of(listener.function, self._clock.utcnow())
                if pause is not None:
                    self._hold(listener, pause)

    def of(self, function: str) -> Pause | None:
        """The pause under which a function is held."""
        return self._held.get(function)

    def stop(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    async def _look_on(self) -> None:
        while True:
            await self._clock.sleep(LOOK_S)
            self.look()

    def look(self) -> None:
        """Do what has been written since the last look, and end pauses whose time is over."""
        before = self._written
        if self._pauses.stamp() != self._stamp:
            self._read()
        for listener in self._listeners:
            self._apply(listener, before)

    def _read(self) -> None:
        # Before reading: what is written in between is seen at the next look.
        self._stamp = self._pauses.stamp()
        written = self._pauses.read()
        if not written.problem:
            self._written = written
            return
        # Whoever paused a function did so for a reason; a file that is broken takes none back.
        so = "what was paused stays so" if self._held else "nothing is paused by hand"
        text = f"{written.problem}, so {so}. Delete it, or pause again: qtrigger pause FUNCTION"
        self._sink.emit(HostLog(level=logging.WARNING, logger="qtrigger", message=text))

    def _apply(self, listener: Listener, before: Written) -> None:
        name = listener.function
        mark = self._written.resumed.get(name.casefold())
        if mark and mark != before.resumed.get(name.casefold()):
            listener.close_breaker()
        pause, held = self._written.of(name, self._clock.utcnow()), self._held.get(name)
        if pause is not None and pause != held:
            self._hold(listener, pause)
            self._sink.emit(
                FunctionPaused(function=name, by=pause.by, reason=pause.reason, until=pause.until)
            )
            self._changed()
        elif pause is None and held is not None:
            del self._held[name]
            listener.resume(BY_HAND)
            cause = "time" if held.over(self._clock.utcnow()) else "hand"
            self._sink.emit(
                FunctionResumed(function=name, cause=cause, held=tuple(listener.paused))
            )
            self._changed()

    def _hold(self, listener: Listener, pause: Pause) -> None:
        self._held[listener.function] = pause
        listener.pause(BY_HAND)

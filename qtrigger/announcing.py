"""Tells a service manager how the process stands: ready, reloading, stopping, and getting on.

Owns what is said and when; the words are `systemd`'s, what gets on `liveness`'. A host without a
service manager does all of this for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from qtrigger import systemd
from qtrigger.background import begin
from qtrigger.clock import Clock, Timer
from qtrigger.events import (
    Event,
    HostReady,
    HostStopping,
    Reloaded,
    ReloadRejected,
    ReloadStarted,
)
from qtrigger.happened import RELOAD

STATUS_S: Final = 10.0
# Queues that cannot be reached must not keep a service from being ready.
FIRST_POLLS_S: Final = 30.0
# What a stop takes beyond its drain; the unit gives as much.
BEYOND_DRAIN_S: Final = 15.0
SHOWN: Final = {"succeeded": "ok", "failed_tries": "failed", "poisoned": "poisoned"}


class Polls(Protocol):
    """A listener, of which it is seen that it has polled."""

    @property
    def polled(self) -> asyncio.Event:
        """Set once a poll is over, whatever came of it."""


class Announcing:
    """An event sink. `listeners` gives the live ones, `counts` what has become of messages.

    `problems` is what does not get on, in words: while there is something, no sign of life is
    given. `close` ends it.
    """

    def __init__(
        self,
        notifier: systemd.Notifier,
        *,
        listeners: Callable[[], Sequence[Polls]],
        counts: Callable[[], Mapping[str, int]],
        problems: Callable[[], Sequence[str]],
        clock: Clock,
    ) -> None:
        self._notifier = notifier
        self._listeners = listeners
        self._counts = counts
        self._problems = problems
        self._clock = clock
        self._state = "starting"
        self._functions = 0
        self._getting_ready: asyncio.Task[None] | None = None
        self._timer: Timer | None = None
        if notifier.listens:
            self._timer = clock.call_later(STATUS_S, self._tell_status)

    def looked(self) -> None:
        """Somebody has just looked whether all gets on, and will do so again in time."""
        if self._problems():
            self._notifier.tell(self._status())
        elif self._notifier.watchdog_s is not None:
            self._notifier.tell(systemd.ALIVE)

    def close(self) -> None:
        """Say nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._getting_ready is not None:
            self._getting_ready.cancel()
        self._notifier.close()

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`: nothing is to be made for this."""
        del kind
        return False

    def emit(self, event: Event) -> None:
        """Take one event."""
        if not self._notifier.listens:
            return
        if isinstance(event, HostReady):
            self._functions = len([each for each in event.functions if each.state == "ready"])
            if self._getting_ready is None:
                waiting = self._ready_once_polled()
                self._getting_ready = begin(waiting, name="readiness of the service")
        elif isinstance(event, ReloadStarted):
            self._notifier.tell(systemd.reloading(self._clock.monotonic()))
        elif isinstance(event, (Reloaded, ReloadRejected)):
            if isinstance(event, Reloaded):
                self._functions = event.ready
            if self._state != "stopping":
                self._notifier.tell(systemd.READY, self._status())
        elif isinstance(event, HostStopping) and event.reason != RELOAD:
            self._state = "stopping"
            more = systemd.extend(event.up_to_s + BEYOND_DRAIN_S)
            self._notifier.tell(systemd.STOPPING, more, self._status())

    async def _ready_once_polled(self) -> None:
        polled = [asyncio.ensure_future(each.polled.wait()) for each in self._listeners()]
        try:
            async with self._clock.timeout(FIRST_POLLS_S):
                await asyncio.gather(*polled)
        except TimeoutError:
            pass  # its listener goes on trying, and says so
        finally:
            for each in polled:
                each.cancel()
        if self._state == "starting":
            self._state = "ready"
            self._notifier.tell(systemd.READY, self._status())

    def _tell_status(self) -> None:
        self._notifier.tell(self._status())
        self._timer = self._clock.call_later(STATUS_S, self._tell_status)

    def _status(self) -> str:
        if problems := self._problems():
            return systemd.status(f"{self._state}, but {'; '.join(problems)}")
        counts = self._counts()
        said = ", ".join(f"{counts.get(name, 0):,} {word}" for name, word in SHOWN.items())
        functions = f"{self._functions} function{'' if self._functions == 1 else 's'}"
        return systemd.status(f"{self._state}: {functions}, {said}")

"""Looks after the process that `start` runs, and tells its service manager.

Owns how often that is: as a watchdog wants it, else seldom.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from qtrigger.announcing import Announcing
from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.host import Host
from qtrigger.listener import Listener
from qtrigger.liveness import LOOK_S, SILENT_S, Liveness
from qtrigger.standing import Processes
from qtrigger.systemd import take_notifier
from qtrigger.workers.spent import spent_s

# Of what a watchdog waits for: a look, and how long a worker may be silent before it hears no more.
LOOKS_IN_WATCHDOG = 4
SILENT_IN_WATCHDOG = 0.5


class Attending:
    """Attends to one host after another.

    `announcing` must hear all events. With a debugger workers may stand still: `asks_workers`.
    """

    def __init__(
        self,
        clock: Clock,
        sink: EventSink,
        counts: Callable[[], Mapping[str, int]],
        *,
        asks_workers: bool,
    ) -> None:
        notifier = take_notifier(os.environ)
        watchdog_s = notifier.watchdog_s or LOOK_S * LOOKS_IN_WATCHDOG
        self._asks_workers = asks_workers
        self._host: Host | None = None
        self._processes: Processes | None = None
        self.announcing = Announcing(
            notifier,
            listeners=self._listeners,
            counts=counts,
            problems=lambda: self.liveness.problems,
            clock=clock,
        )
        self.liveness = Liveness(
            listeners=self._listeners,
            workers=lambda: self._processes.processes if self._processes else (),
            spent_s=spent_s,
            clock=clock,
            sink=sink,
            looked=self.announcing.looked,
            every_s=min(LOOK_S, watchdog_s / LOOKS_IN_WATCHDOG),
            silent_s=min(SILENT_S, watchdog_s * SILENT_IN_WATCHDOG),
        )

    def now(self, host: Host, processes: Processes) -> None:
        """That host is the live one, with these workers."""
        self._host = host
        self._processes = processes if self._asks_workers else None

    def close(self) -> None:
        """Attend no more."""
        self.liveness.close()
        self.announcing.close()

    def _listeners(self) -> Sequence[Listener]:
        return self._host.listeners if self._host is not None else ()

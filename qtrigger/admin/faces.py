"""What routes are built from: the parts of a running process that they look at or move.

Owns the list alone. Each route takes from it what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.poison.deeds import Deeds
from qtrigger.admin.route import Refusal
from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.happened import Happened
from qtrigger.host import Host
from qtrigger.journal import JournalFile
from qtrigger.pauses import PauseFile
from qtrigger.queues.services import QueueServices
from qtrigger.standing import Processes, Standing
from qtrigger.supervisor import Supervisor


class Measures(Protocol):
    """The metrics of the process."""

    content_type: str

    async def text(self) -> bytes:
        """All of them, for Prometheus."""


class Live:
    """Which host is the live one, and its workers; a reload may bring another."""

    def __init__(self) -> None:
        self.host: Host | None = None
        self.processes: Processes | None = None

    def now(self, host: Host, processes: Processes) -> None:
        """That host is the live one."""
        if self.host is not None and self.host.draining and host is not self.host:
            host.drain()  # a saved file ends no drain
        self.host, self.processes = host, processes

    def required(self) -> Host:
        """The live host. Raises Refusal (503) before there is one."""
        if self.host is None:
            raise Refusal(503, "the host is starting; try again in a moment")
        return self.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Faces:
    """The parts of one process of `qtrigger start`, over one host and the next.

    `root` is the project's folder, `state` the state folder. `plain` takes what is secret out of
    a text. `services` are of no host, and so live as long as the process.
    """

    root: Path
    state: Path
    clock: Clock
    sink: EventSink
    live: Live
    standing: Standing
    happened: Happened
    supervisor: Supervisor
    pauses: PauseFile
    journal: JournalFile
    recent: Recent
    services: QueueServices
    deeds: Deeds
    plain: Callable[[str], str]
    measures: Measures

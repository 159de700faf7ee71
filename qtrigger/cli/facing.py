"""What a process of `qtrigger start` shows over HTTP: its parts, put together for the routes.

Owns which real part each route gets, and that secrets of the project stay out of their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.faces import Faces, Live, Measures
from qtrigger.admin.poison.deeds import Deeds
from qtrigger.cli import wiring
from qtrigger.cli.administering import Administering
from qtrigger.cli.answering import Answering
from qtrigger.cli.http_options import Listen
from qtrigger.cli.starting import StartOptions
from qtrigger.clock import Clock
from qtrigger.host import Host
from qtrigger.journal import JournalFile
from qtrigger.pauses import PauseFile
from qtrigger.project.model import Project
from qtrigger.queues.request_counts import RequestCounts
from qtrigger.queues.services import QueueServices
from qtrigger.standing import Processes
from qtrigger.supervisor import Supervisor
from qtrigger.telemetry.sinks import FanOut

if TYPE_CHECKING:
    from qtrigger.admin.route import Route


def facing_of(options: StartOptions, measures: Measures | None, **parts: Any) -> Facing | None:
    """The face that a process is to have, None for none; `parts` are those of `Facing`."""
    if options.http is None or measures is None:
        return None
    return Facing(options.http, measures=measures, **parts)


class Facing:
    """The HTTP face of one process. Its `recent` hears all events from here on.

    What it asks of queue services is counted in `requests`.
    """

    def __init__(  # noqa: PLR0913 - each is a part of the process
        self,
        listen: Listen,
        *,
        root: Path,
        state: Path,
        answering: Answering,
        measures: Measures,
        supervisor: Supervisor,
        requests: RequestCounts,
        clock: Clock,
        sink: FanOut,
        plain: Callable[[str], str],
    ) -> None:
        recent = Recent(clock, plain)
        sink.add(recent)
        self._services = QueueServices(wiring.open_service_with(clock, requests))
        self._faces = Faces(
            root=root,
            state=state,
            clock=clock,
            sink=sink,
            live=Live(),
            standing=answering.standing,
            happened=answering.happened,
            supervisor=supervisor,
            pauses=PauseFile(state),
            journal=JournalFile(state),
            recent=recent,
            services=self._services,
            deeds=Deeds(clock),
            plain=plain,
            measures=measures,
        )
        self._administering = Administering(
            listen, self._routes, answering.happened.begun, clock=clock, sink=sink
        )

    def open(self, project: Project) -> str:
        """See `Administering.open`."""
        return self._administering.open(project)

    def now(self, host: Host, processes: Processes) -> None:
        """That host is the live one."""
        self._faces.live.now(host, processes)

    async def close(self) -> None:
        """Answer no more."""
        await self._administering.close()
        await self._faces.deeds.close()
        await self._services.close()

    def _routes(self) -> Sequence[Route]:
        from qtrigger.admin.routes import routes

        return routes(self._faces)

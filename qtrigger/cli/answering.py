"""Lets a host that runs be spoken to by `qtrigger status`, `reload` and `stop`.

Owns which questions there are and what they do to the supervisor. The socket is `control`'s, what
is said of the host is `standing`'s.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qtrigger import __version__, rendezvous
from qtrigger.clock import Clock
from qtrigger.control import Control
from qtrigger.events import EventSink, HostLog
from qtrigger.happened import Happened
from qtrigger.standing import DRAINING, READY, Standing
from qtrigger.supervisor import Supervisor
from qtrigger.unrunnable import Unrunnable
from qtrigger.workers.memory import held_kib

STOP_REASON = "qtrigger stop"


class Answering:
    """What a process of `qtrigger start` answers, over one host and the next.

    `happened` must hear all events; `standing` must be told of each host.
    """

    def __init__(self, clock: Clock, sink: EventSink, plain: Callable[[str], str]) -> None:
        self.happened = Happened(clock, plain)
        self.standing = Standing(self.happened, version=__version__, clock=clock, held_kib=held_kib)
        self._clock = clock
        self._sink = sink
        self._control: Control | None = None

    async def open(self, supervisor: Supervisor, root: Path, state: Path) -> None:
        """Begin to answer; where no socket can be had, that is a warning and no more."""

        async def reload(request: Mapping[str, Any]) -> Mapping[str, Any]:
            return await self._reload(supervisor, wait=bool(request.get("wait")))

        async def stop(request: Mapping[str, Any]) -> Mapping[str, Any]:
            return await self._stop(supervisor, wait=bool(request.get("wait")))

        answers = {"state": self._state, "status": self._status, "reload": reload, "stop": stop}
        self._control = Control(answers, self._clock)
        places = rendezvous.folders(root, state, os.environ)
        try:
            await self._control.open(places, temporary=places[-1])
        except OSError as error:
            text = f"qtrigger status, reload and stop cannot reach this host: {error}"
            self._sink.emit(HostLog(level=logging.WARNING, logger="qtrigger", message=text))

    async def close(self) -> None:
        """Answer no more."""
        self.happened.close()
        if self._control is not None:
            await self._control.close()

    async def _state(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"state": self.standing.state, "pid": os.getpid()}

    async def _status(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self.standing.document(queues=bool(request.get("queues")))

    async def _reload(self, supervisor: Supervisor, *, wait: bool) -> Mapping[str, Any]:
        happened = self.happened
        before = (happened.generation, happened.rejected)
        supervisor.request_reload()
        while wait and before == (happened.generation, happened.rejected):
            if happened.state not in (READY, "starting"):
                break
            await happened.moved()
        rejected = happened.rejected != before[1]
        reloaded = happened.generation != before[0]
        found = self.standing.unrunnable if reloaded else Unrunnable()
        return {
            "pid": os.getpid(),
            "state": happened.state,
            "reloaded": reloaded,
            "rejection": happened.rejection if rejected else "",
            "none_runs": found.all,
            "faults": [
                {**asdict(each), "message": happened.plain(each.message)} for each in found.faults
            ],
        }

    async def _stop(self, supervisor: Supervisor, *, wait: bool) -> Mapping[str, Any]:
        happened = self.happened
        supervisor.request_stop(STOP_REASON)
        while wait and happened.stopped is None:
            await happened.moved()
        stopped = happened.stopped
        return {
            "pid": os.getpid(),
            "state": happened.state if stopped else DRAINING,
            "counts": dict(stopped.counts) if stopped else {},
            "unsettled": stopped.unsettled if stopped else 0,
        }

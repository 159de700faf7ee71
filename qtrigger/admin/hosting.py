"""The host as a whole: how it stands, draining it, loading the project anew.

Owns the shapes in which the Functions host says the same at the same paths (`/admin/host/…`), so
that tools made for it find what they look for. What it has and we have not is left out.
"""

from __future__ import annotations

import hashlib
import os
import platform
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.faces import Faces
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, as_json
from qtrigger.ids import new_id
from qtrigger.standing import DRAINING, READY

# The names of the Functions host for what a host is at. It has none for one that stops.
_STATES: Final = {"starting": "Starting", READY: "Running", DRAINING: "Stopping"}


class Hosting:
    """Answers for the host."""

    def __init__(self, faces: Faces) -> None:
        self._faces = faces
        self._instance = new_id()

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        read = {
            "/api/status": self._document,
            "/admin/host/status": self._status,
            "/admin/host/drain/status": self._drain_status,
        }
        act = {
            "/api/reload": (self._reload, "host.reload"),
            "/admin/host/drain": (self._drain, "host.drain"),
            "/admin/host/resume": (self._resume, "host.resume"),
        }
        return (
            *(
                Route(method=method, path="/admin/host/ping", right=Right.OPEN, answer=self._ping)
                for method in ("GET", "POST")
            ),
            *(
                Route(method="GET", path=path, right=Right.READ, answer=answer)
                for path, answer in read.items()
            ),
            *(
                Route(method="POST", path=path, right=Right.ACT, answer=answer, action=action)
                for path, (answer, action) in act.items()
            ),
        )

    async def _ping(self, _asked: Asked) -> Answer:
        return Answer()

    async def _document(self, asked: Asked) -> Answer:
        queues = asked.query.get("queues", "0") not in ("0", "")
        return as_json(await self._faces.standing.document(queues=queues))

    async def _status(self, _asked: Asked) -> Answer:
        return as_json(await self._host_status())

    async def _host_status(self) -> Mapping[str, Any]:
        document = await self._faces.standing.document(queues=False)
        root = self._faces.root
        failed = [each for each in document["functions"] if each["state"] == "failed"]
        status = {
            "id": f"{root.name or 'root'}-{hashlib.sha256(str(root).encode()).hexdigest()[:8]}",
            "state": _STATES.get(document["state"], "Stopped"),
            "version": document["qtrigger"],
            "versionDetails": f"qtrigger {document['qtrigger']}, Python "
            f"{platform.python_version()}",
            "instanceId": self._instance,
            "computerName": socket.gethostname(),
            "processId": os.getpid(),
            "processUptime": round(document["uptime_s"] * 1000),
        }
        if failed:
            plain = self._faces.plain
            status["errors"] = [plain(f"{each['name']}: {each['why']}") for each in failed]
        return status

    async def _drain(self, _asked: Asked) -> Answer:
        self._faces.live.required().drain()
        return Answer(status=202)

    async def _drain_status(self, _asked: Asked) -> Answer:
        host = self._faces.live.required()
        outstanding = sum(each.unsettled for each in host.listeners)
        state = "Disabled"
        if host.draining:
            state = "InProgress" if outstanding else "Completed"
        return as_json(
            {
                "state": state,
                "outstandingInvocations": outstanding,
                "outstandingRetries": 0,  # those of a policy are within their invocation
            }
        )

    async def _resume(self, _asked: Asked) -> Answer:
        if self._faces.standing.state != READY:
            raise Refusal(409, f"the host is {self._faces.standing.state}; nothing can be resumed")
        self._faces.live.required().end_drain()
        return as_json({"state": "Running", "hostStatus": await self._host_status()})

    async def _reload(self, _asked: Asked) -> Answer:
        self._faces.live.required()
        self._faces.supervisor.request_reload()
        text = "the project is loaded anew; /api/status has the next generation once it is"
        return as_json({"generation": self._faces.happened.generation, "text": text}, 202)

"""Whether the host is alive and ready, for probes; and its metrics.

Owns what each answer means. A probe gets no name of a function, a queue or an account: it needs no
key. Nothing here asks the queue service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qtrigger.admin.faces import Faces
from qtrigger.admin.route import Answer, Asked, Right, Route, as_json
from qtrigger.standing import READY

# States of a function that are somebody's wish, or no fault.
_WELL: Final = frozenset({READY, "paused", "disabled", "not run here", "queue missing"})


class Health:
    """Answers probes."""

    def __init__(self, faces: Faces) -> None:
        self._faces = faces

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        opens = {
            "/health/live": self._live,
            "/health/ready": self._ready,
            "/health/startup": self._startup,
        }
        return (
            *(
                Route(method="GET", path=path, right=Right.OPEN, answer=answer)
                for path, answer in opens.items()
            ),
            Route(method="GET", path="/metrics", right=Right.READ, answer=self._metrics),
        )

    async def _live(self, _asked: Asked) -> Answer:
        """That this is answered says that the loop turns; the problems say what stands still."""
        problems = (await self._faces.standing.document(queues=False))["problems"]
        content = {"status": "stuck" if problems else "alive", "problems": len(problems)}
        return as_json(content, 503 if problems else 200)

    async def _startup(self, _asked: Asked) -> Answer:
        begun = self._faces.happened.generation > 0
        return as_json({"status": "started" if begun else "starting"}, 200 if begun else 503)

    async def _ready(self, asked: Asked) -> Answer:
        document = await self._faces.standing.document(queues=False)
        functions = document["functions"]
        ill = sum(each["state"] not in _WELL for each in functions)
        run = sum(each["state"] not in ("disabled", "not run here") for each in functions)
        state = document["state"]
        host = self._faces.live.host
        if state == READY and host is not None and host.draining:
            state = "draining"
        if state == READY and not document["workers"]:
            state = "no worker"
        strict = asked.query.get("strict", "0") not in ("0", "")
        if state == READY and ill and (strict or ill == run):
            state = "degraded"
        content = {"status": state, "functions": run, "degraded": ill}
        return as_json(content, 200 if state == READY else 503)

    async def _metrics(self, _asked: Asked) -> Answer:
        measures = self._faces.measures
        return Answer(body=await measures.text(), content_type=measures.content_type)

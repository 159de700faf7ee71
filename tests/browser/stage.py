"""A host that is played: documents as a host gives them, and routes that note what is asked.

The pages and what they call are real; how the host stands, and what is in its poison queues, is
what a test says. Served over HTTP with the same headers as the real server's.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.dashboard.routes import Dashboard
from qtrigger.admin.dashboard.seen import Seen
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, Stream, as_json
from qtrigger.clock import Clock, SystemClock
from qtrigger.events import InvocationFinished, UserLog
from qtrigger.invocation import ErrorDetail, Failed, Outcome, Succeeded
from qtrigger.project.model import (
    EffectiveValue,
    FunctionDefinition,
    HostConfig,
    Problem,
    Project,
    QueueOptions,
    QueueTrigger,
    Severity,
)
from qtrigger.queues.account import Account, SharedKey

POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
TRACEBACK = """Traceback (most recent call last):
  File "/srv/orders-app/functions/charge/__init__.py", line 8, in main
    share = order["total"] / order["count"]
"""


def function(name: str, **changes: Any) -> dict[str, Any]:
    """A function as the status document has it."""
    return {
        "name": name,
        "queue": f"{name}-in",
        "connection": "AzureWebJobsStorage",
        "state": "ready",
        "why": "",
        "running": 0,
        "settling": 0,
        "slots": 24,
        "per_second": 0.0,
        "succeeded": 0,
        "failed": 0,
        "poisoned": 0,
        "last_success": None,
        "last_error": None,
        "transactions": {
            "transactions": 1200,
            "empty_polls": 400,
            "over_s": 600.0,
            "per_day": 172_800.0,
            "cost_per_day": 0.0691,
            "max_polling_interval_s": 60.0,
        },
        "messages": {
            "waiting": 0,
            "more": False,
            "ours": 0,
            "hidden": 0,
            "oldest_s": None,
            "problem": "",
        },
        **changes,
    }


def project(*functions: str, problems: Sequence[Problem] = ()) -> Project:
    """A project with these functions."""
    account = Account(
        name="shopstore",
        endpoint="https://shopstore.queue.core.windows.net",
        credential=SharedKey(account="shopstore", key=SECRET),
    )
    return Project(
        root=Path("/srv/orders-app"),
        environment="Production",
        host=HostConfig(),
        settings={},
        functions=tuple(
            FunctionDefinition(
                name=name,
                directory=Path(name),
                script_file=Path(name),
                entry_point="main",
                source=f"functions/{name}/function.json",
                bindings=(),
                trigger=QueueTrigger(
                    name="msg",
                    queue=f"{name}-in",
                    connection="AzureWebJobsStorage",
                    account=account,
                ),
                outputs=(),
                options=QueueOptions(),
            )
            for name in functions
        ),
        failed=(),
        problems=tuple(problems),
        effective=(
            EffectiveValue(key="functionTimeout", value="00:30:00", origin="default"),
            EffectiveValue(key="extensions.queues.batchSize", value="16", origin="host.json:5"),
            EffectiveValue(key="extensions.queues.maxDequeueCount", value="5", origin="default"),
            EffectiveValue(key="qtrigger.lease", value="00:10:00", origin="default"),
        ),
    )


def warning(message: str, hint: str = "") -> Problem:
    """A finding of a project's file."""
    return Problem(
        severity=Severity.WARNING, message=message, file="host.json", line=7, column=5, hint=hint
    )


SECRET = "c2VjcmV0LWtleS1vZi10aGUtc2hvcA=="


def plain(text: str) -> str:
    """A text without the account's key."""
    return text.replace(SECRET, "(hidden)")


@dataclass
class PlayedPoison:
    """Poison queues that are lists."""

    content: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    async def queues(self) -> Mapping[str, Any]:
        return {
            "queues": [
                {
                    "queue": name,
                    "functions": [name.removesuffix("-in-poison")],
                    "account": "shopstore",
                    "count": len(found),
                    "more": False,
                    "oldest_s": 3600.0 if found else None,
                    "problem": "",
                }
                for name, found in self.content.items()
            ]
        }

    async def messages(self, queue: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        found = self.content[queue]
        groups: dict[str, int] = {}
        for each in found:
            kind = each["error"]["type"]
            groups[kind] = groups.get(kind, 0) + 1
        wanted = [
            each
            for each in found
            if query.get("error") in (None, each["error"]["type"])
            and query.get("contains", "") in json.dumps(each, ensure_ascii=False)
        ]
        return {
            "queue": queue,
            "messages": wanted[:32],
            "groups": [{"error_type": kind, "count": count} for kind, count in groups.items()],
            "seen": len(found),
            "more": len(wanted) > 32,
        }

    async def message(self, queue: str, message_id: str) -> Mapping[str, Any]:
        for each in self.content[queue]:
            if each["id"] == message_id:
                text = each["text"]
                try:
                    parsed = json.loads(text)
                except ValueError:
                    parsed = None
                return {
                    **each,
                    "body": {
                        "text": text,
                        "json": parsed,
                        "base64": base64.b64encode(text.encode("utf-8", "replace")).decode(),
                    },
                    "tries": [
                        {
                            "dequeue_count": number,
                            "at": "2026-01-02T03:04:05+00:00",
                            "duration_s": 0.05,
                            "error": {**each["error"], "traceback": each["traceback"]},
                            "lines": ["INFO shop: charging"],
                        }
                        for number in range(1, 6)
                    ],
                }
        raise Refusal(404, f"{message_id} is no longer in {queue}")

    def add(self, queue: str, number: int, kind: str, message: str, text: str = '{"id": 1}') -> str:
        """Put a message there; its id."""
        made = f"{number:08x}-8c1d-4f02-9b2e-0a5d3c7e9f11"
        self.content.setdefault(queue, []).append(
            {
                "id": made,
                "copy_of": f"{number:08x}-0000-4f02-9b2e-0a5d3c7e9f11",
                "function": queue.removesuffix("-in-poison"),
                "inserted": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).isoformat(),
                "age_s": 3600.0 + number % 7919,
                "tries": 5,
                "size": len(text),
                "error": {"type": kind, "message": message},
                "traceback": f"{TRACEBACK}{kind}: {message}",
                "text": text,
            }
        )
        return made


class Stage:
    """The played host; what is done to it by its pages stands in `asked`."""

    def __init__(
        self, *names: str, problems: Sequence[Problem] = (), clock: Clock | None = None
    ) -> None:
        self.clock = clock or SystemClock()
        self.functions = {name: function(name) for name in names}
        self.environment = "Production"
        self.recent = Recent(self.clock, plain)
        self.poison = PlayedPoison()
        self.project: Project | None = project(*names, problems=problems)
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.paths: list[str] = []
        self.deeds: dict[str, dict[str, Any]] = {}
        self.began = self.clock.monotonic()
        self.currency: str | None = None
        self.signed_out = False
        self.documents = 0
        self.lengths = 0
        self.dashboard = Dashboard(
            Seen(
                standing=self,
                project=lambda: self.project,
                recent=self.recent,
                clock=self.clock,
                plain=plain,
                poison=self.poison,
            )
        )

    async def document(self, *, queues: bool) -> Mapping[str, Any]:
        """See `Standing`."""
        self.documents += 1
        self.lengths += queues
        return {
            "state": "ready",
            "pid": 4711,
            "qtrigger": "0.1.0",
            "project": "/srv/orders-app",
            "environment": self.environment,
            "started": "2026-01-02T03:04:05+00:00",
            "uptime_s": self.clock.monotonic() - self.began,
            "generation": 1,
            "lease_s": 600.0,
            "currency": self.currency,
            "functions": [
                each if queues else {**each, "messages": None} for each in self.functions.values()
            ],
            "workers": [{"pid": 4712, "running": 3, "memory_bytes": 48_000_000}],
            "accounts": [{"name": "shopstore", "throttled": False, "requests": 9, "busy": 0}],
        }

    def ran(
        self,
        name: str,
        outcome: Outcome | None = None,
        *,
        message_id: str = "8f3a21c4-5b1e-4c1a-9d2f-6f1f0a3b7c55",
        duration_s: float = 0.04,
        lines: Sequence[str] = (),
        dequeue_count: int = 1,
    ) -> None:
        """A run of a function has ended."""
        for line in lines:
            self.recent.emit(
                UserLog(
                    function=name,
                    invocation_id=message_id,
                    message_id=message_id,
                    level=20,
                    logger="shop",
                    message=line,
                )
            )
        self.recent.emit(
            InvocationFinished(
                function=name,
                queue=f"{name}-in",
                invocation_id=message_id,
                message_id=message_id,
                dequeue_count=dequeue_count,
                max_dequeue_count=5,
                duration_s=duration_s,
                waited_s=0.1,
                outcome=outcome or Succeeded(),
                disposition="acked" if outcome is None else "retried",
            )
        )
        self.functions[name]["succeeded" if outcome is None else "failed"] += 1

    def routes(self) -> Sequence[Route]:
        """Those of the dashboard, and those that its pages call."""

        def acts(path: str, answer: Any) -> Route:
            return Route(method="POST", path=path, right=Right.ACT, answer=answer, action="test")

        return (
            *self.dashboard.routes(),
            acts("/api/functions/{name}/pause", self._pause),
            acts("/api/functions/{name}/resume", self._resume),
            acts("/api/functions/{name}/send", self._noted),
            acts("/api/poison/{queue}/requeue", self._deed),
            acts("/api/poison/{queue}/delete", self._deed),
            Route(method="GET", path="/api/deeds/{id}", right=Right.READ, answer=self._deed_of),
        )

    async def _noted(self, asked: Asked) -> Answer:
        self.asked.append((asked.headers["x-path"], asked.json()))
        return as_json({})

    async def _pause(self, asked: Asked) -> Answer:
        found = self.functions[asked.parts["name"]]
        found.update(state="paused", why=f"by ann until resumed: {asked.json().get('reason')}")
        return await self._noted(asked)

    async def _resume(self, asked: Asked) -> Answer:
        self.functions[asked.parts["name"]].update(state="ready", why="")
        return await self._noted(asked)

    async def _deed(self, asked: Asked) -> Answer:
        await self._noted(asked)
        wanted, content = asked.json(), self.poison.content[asked.parts["queue"]]
        kept = [
            each
            for each in content
            if not (
                wanted.get("all")
                or each["id"] in wanted.get("ids", ())
                or each["error"]["type"] == wanted.get("error_type")
            )
        ]
        moved = len(content) - len(kept)
        word = "deleted" if asked.headers["x-path"].endswith("/delete") else "moved"
        content[:] = kept
        name = f"deed-{len(self.deeds) + 1}"
        self.deeds[name] = {
            "state": "done",
            "word": word,
            "moved": moved,
            "left": 0,
            "reason": "",
        }
        return as_json({"deed": name}, status=202)

    async def _deed_of(self, asked: Asked) -> Answer:
        return as_json(self.deeds[asked.parts["id"]])


def failed(kind: str, message: str, traceback: str = "", place: str = "app.py:8") -> Failed:
    """A run that raised."""
    text = traceback or f"{TRACEBACK}{kind}: {message}"
    return Failed(error=ErrorDetail(type=kind, message=message, traceback=text, place=place))


class Server:
    """Serves a stage's routes on a free port."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        """Begin to answer."""
        app = web.Application()
        for route in self._stage.routes():
            app.router.add_route(route.method, route.path, self._answering(route))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Answer no more, until it is opened again at the same port."""
        self._stage.dashboard.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _answering(self, route: Route) -> Any:
        async def answer(request: web.Request) -> web.StreamResponse:
            self._stage.paths.append(request.path_qs)
            asked = Asked(
                parts=dict(request.match_info),
                query=dict(request.query),
                headers={**request.headers, "x-path": request.path},
                body=await request.read(),
            )
            if self._stage.signed_out and route.right is not Right.OPEN:
                return web.Response(status=401, text="a key is needed")
            acts = route.right is Right.ACT
            if acts and request.headers.get("x-qtrigger-action") != "1":
                return web.Response(status=403, text="the header is missing")
            try:
                found = await route.answer(asked)
            except Refusal as refusal:
                return web.Response(status=refusal.status, text=refusal.text)
            headers = {"content-security-policy": POLICY, "x-content-type-options": "nosniff"}
            if isinstance(found, Stream):
                return await _streamed(request, found, headers)
            headers |= {"content-type": found.content_type, "cache-control": "no-store"}
            return web.Response(status=found.status, body=found.body, headers=headers)

        return answer


async def _streamed(
    request: web.Request, found: Stream, headers: Mapping[str, str]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "content-type": found.content_type})
    await response.prepare(request)
    with suppress(ConnectionError):
        async for chunk in found.chunks:
            await response.write(chunk)
    return response

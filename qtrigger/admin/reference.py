"""The page of everything that is answered over HTTP, made from the routes themselves.

`python -m qtrigger.admin.reference` prints docs/reference/http.md. Owns the words for each route;
one without a word is a defect that a test finds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from qtrigger.admin.faces import Faces
from qtrigger.admin.login import Login
from qtrigger.admin.route import LARGEST_BODY, Right, Route
from qtrigger.admin.routes import routes as routes_of

MEANINGS: Final[Mapping[str, str]] = {
    "GET /": "The dashboard: all functions.",
    "GET /f/{name}": "One function's page.",
    "GET /poison": "The page of poisoned messages.",
    "GET /check": "The page of findings, connections, workers and versions.",
    "GET /assets/{file}": "What the pages are made with.",
    "GET /api/recent/{name}": "A function's last runs, newest first; `?after=N` those after a "
    "run's number.",
    "GET /api/events": "Server-sent events: the figures of the pages, once a second.",
    "GET /api/poison": "All poison queues of the project, with counts.",
    "GET /api/poison/{queue}": "What stands in one: the first 32; `?limit=`, `?error=`, "
    "`?contains=`.",
    "GET /api/poison/{queue}/{id}": "One poisoned message: its body and its tries.",
    "POST /api/poison/{queue}/requeue": "Moves messages back to where they came from: "
    '`{"ids": […]}`, `{"all": true}`, `{"error_type": …}` …, with `"confirm": N`; 202 with a deed.',
    "POST /api/poison/{queue}/delete": "Deletes messages; as `requeue`.",
    "GET /api/deeds/{deed}": "How far a deed is.",
    "POST /api/deeds/{deed}/stop": "Ends a deed; what it has not come to stays.",
    "GET /api/status": "How the host stands, as `qtrigger status --format json`; `?queues=1` looks "
    "at the queues too.",
    "POST /api/reload": "Loads the project anew; 202 at once.",
    "POST /api/functions/{name}/pause": 'Asks for no more messages: `{"for_s": 600, "reason": '
    '"…"}`, both as you like.',
    "POST /api/functions/{name}/resume": "Ends a pause, and closes an open circuit breaker.",
    "POST /api/functions/{name}/send": 'Puts `{"text": "…"}` on its queue, encoded as it expects; '
    "201 with the message's id.",
    "GET /admin/functions": "All functions, in the Functions host's shape.",
    "GET /admin/functions/{name}": "One function, in that shape.",
    "GET /admin/functions/{name}/status": "`errors`, where it cannot be loaded.",
    "POST /admin/functions/{name}": 'Runs it once on `{"input": "…"}`, beside its queue, and '
    "writes its outputs; 202 at once, and the log says how it went.",
    "GET /admin/host/ping": "200.",
    "POST /admin/host/ping": "200.",
    "GET /admin/host/status": "`id`, `state`, `version`, `processUptime` (ms) …, `errors`.",
    "POST /admin/host/drain": "Asks for no more messages of any function; what runs goes on. 202.",
    "GET /admin/host/drain/status": "`state` (`Disabled`, `InProgress`, `Completed`), "
    "`outstandingInvocations`.",
    "POST /admin/host/resume": "Ends a drain.",
    "GET /health/live": "503 where something stands still: restart it.",
    "GET /health/ready": "503 while it starts, drains, or can run nothing; `?strict=1` also where "
    "one function cannot run.",
    "GET /health/startup": "200 once it has been ready.",
    "GET /metrics": "For Prometheus; [all of them](metrics.md).",
    "GET /login": "The page at which a key is given.",
    "POST /login": "The form of that page: a session of twelve hours, in a cookie.",
    "POST /logout": "Ends the session.",
}

_NEEDS: Final = {Right.OPEN: "nothing", Right.READ: "reading", Right.ACT: "acting"}

_INTRODUCTION: Final = f"""\
# HTTP

Made from the routes by `python -m qtrigger.admin.reference`; a test fails when it is not.

`qtrigger start` answers at port 7071 of this machine alone, or at the next free port up to 7090.
In Production it answers nowhere unless `--http [ADDR:]PORT` says where; `--no-http` answers nowhere.

## Who is answered

- A key is the value of `QTRIGGER_HTTP_KEY` (reading and acting) or `QTRIGGER_HTTP_READ_KEY` (reading alone), in the environment or among the app settings, of 16 characters or more.
- Where no key is set, whoever is on this machine may do everything. An address that other machines reach needs a key: without one nothing is started.
- A key is sent in the header `x-functions-key`. A page asks for it once (`/login`). One in the address (`?code=`) is not taken: addresses are kept in logs and histories.
- `Host` has to be `localhost`, `127.0.0.1`, `[::1]`, the address that was reached, or a name of `--http-host`.
- Pages of other sites are not answered. A page of ours that changes something sends `x-qtrigger-action: 1`; programs that are no browser need not.
- After ten wrong keys an address waits six seconds for each further try. What opens a session goes on.
- Each refusal is a line `http.refused`, twenty a minute at most and then their count; each action is a line `admin.action` with who did it. No line has a key or a query.

Errors are `{{"error": "…"}}`: 400 what was sent cannot be read, 401 a key is needed, 403 not with that key, that name or from that page, 404 not there, 405 another method, 409 not now, 413 too large (a body has {LARGEST_BODY // 1024} KiB at most), 429 and 503 later.

## What is answered

| method | path | needs | what |
|---|---|---|---|
"""  # noqa: E501 - a paragraph of a page is one line


def all_routes() -> Sequence[Route]:
    """Every route that a host is served by, built from parts that answer nothing."""
    nothing = cast("Any", _Nothing())
    return [*routes_of(cast("Faces", nothing)), *Login(nothing, nothing).routes()]


def page(routes: Sequence[Route]) -> str:
    """The page. Raises KeyError for a route without words."""
    return _INTRODUCTION + "".join(_rows(routes))


def _rows(routes: Sequence[Route]) -> Iterator[str]:
    for each in sorted(routes, key=lambda each: (each.path, each.method)):
        what = MEANINGS[f"{each.method} {each.path}"]
        yield f"| {each.method} | `{each.path}` | {_NEEDS[each.right]} | {what} |\n"


class _Nothing:
    """Stands for any part of a process; a route that is only listed asks nothing of it."""

    def __getattr__(self, _name: str) -> Any:
        return _Nothing()

    def __call__(self, *_given: Any, **_named: Any) -> Any:
        return _Nothing()


if __name__ == "__main__":
    sys.stdout.write(page(all_routes()))

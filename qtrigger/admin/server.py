"""The HTTP server of a host: it answers a list of routes, within limits, to those who may ask.

Owns the life of the server and the way of one request through it: target, name, origin, route,
right, body, answer. What is allowed is `security`'s, what is answered the routes'. Importing this
imports aiohttp, so only whoever serves does.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

from aiohttp import web

from qtrigger.admin.bodies import body_of
from qtrigger.admin.callers import caller_of, remote_of
from qtrigger.admin.connections import Connection, Connections
from qtrigger.admin.limits import Limits
from qtrigger.admin.login import Login
from qtrigger.admin.paths import BadTarget, Found, Table, Target, target_of
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, Stream
from qtrigger.admin.security import SAFE, Caller, Gate, Refused
from qtrigger.admin.telling import Telling
from qtrigger.admin.writing import Writing, refusal_of
from qtrigger.clock import Clock


class NotAnswered(Exception):
    """Ends the way of a request; `allow` are the methods that there are, for 405."""

    def __init__(self, refused: Refused, *, allow: str = "") -> None:
        super().__init__(refused.reason)
        self.refused = refused
        self.allow = allow


class Server:
    """Answers `routes` on sockets that are bound already, until `close`."""

    def __init__(
        self,
        routes: Sequence[Route],
        gate: Gate,
        *,
        clock: Clock,
        telling: Telling,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits()
        self._login = Login(gate, telling)
        self._table = Table([*routes, *self._login.routes()])
        self._gate = gate
        self._clock = clock
        self._telling = telling
        self._limits = limits
        self._writing = Writing(clock, limits)
        self._under_way = 0
        self._runner: web.ServerRunner | None = None

    async def open(self, sockets: Sequence[socket.socket]) -> None:
        """Begin to answer. Raises OSError where a socket cannot listen."""
        limits = self._limits
        server = Connections(
            self._answer,
            self._malformed,
            most=limits.connections,
            keepalive_timeout=limits.head_s,
            max_line_size=limits.line,
            max_field_size=limits.field,
            max_headers=limits.fields,
            lingering_time=limits.linger_s,
            auto_decompress=False,
            access_log=None,
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=limits.close_s)
        await self._runner.setup()
        for each in sockets:
            await web.SockSite(self._runner, each).start()

    async def close(self) -> None:
        """Answer no more; what is under way has `Limits.close_s`, and streams end at once."""
        self._writing.closing.set()
        if self._runner is not None:
            await self._runner.cleanup()
        self._telling.close()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        assert isinstance(connection, Connection)
        connection.asks, connection.count = True, connection.count + 1
        try:
            answer = await self._answered(request)
            if isinstance(answer, Stream):
                return await self._writing.stream(request, answer, connection.gone)
            last = connection.count >= self._limits.per_connection
            return await self._writing.whole(request, answer, last=last)
        finally:
            connection.asks = False

    async def _answered(self, request: web.BaseRequest) -> Answer | Stream:
        try:
            return await self._through(request)
        except NotAnswered as end:
            refused = end.refused
            if refused.reason:
                self._telling.refused(
                    reason=refused.reason,
                    status=refused.status,
                    method=request.method,
                    target=request.raw_path,
                    remote=remote_of(request),
                )
            if refused.status == 401 and "text/html" in request.headers.get("Accept", ""):
                return self._login.page(401, request.raw_path)
            return refusal_of(refused, allow=end.allow)

    async def _through(self, request: web.BaseRequest) -> Answer | Stream:
        """Take a request all the way. Raises NotAnswered."""
        caller = caller_of(request, self._gate.place.port)
        target, found = self._found(request)
        is_open = found is not None and all(
            each.right is Right.OPEN for each in found.methods.values()
        )
        form = found is not None and self._login.is_form(found.methods.get("POST"))
        if (not is_open or form) and (refused := self._gate.stranger(caller, form=form)):
            raise NotAnswered(refused)
        route = _route(found, caller.method)
        assert found is not None
        who = "" if route.right is Right.OPEN else self._who(caller, route)
        if route.right is not Right.OPEN and self._under_way >= self._limits.requests:
            text = "too many requests are under way; try again"
            raise NotAnswered(Refused(status=503, reason="busy", text=text, wait_s=1))
        self._under_way += 1
        try:
            return await self._asked(request, caller, found, target, route, who)
        finally:
            self._under_way -= 1

    def _found(self, request: web.BaseRequest) -> tuple[Target, Found | None]:
        if request.method in ("TRACE", "CONNECT", "TRACK"):
            text = f"{request.method} is not answered"
            raise NotAnswered(Refused(status=405, reason="method", text=text))
        try:
            target = target_of(request.raw_path)
        except BadTarget as bad:
            raise NotAnswered(Refused(status=400, reason="address", text=str(bad))) from None
        return target, self._table.find(target.parts)

    def _who(self, caller: Caller, route: Route) -> str:
        who = self._gate.who(caller, route.right)
        if isinstance(who, Refused):
            raise NotAnswered(who)
        return who

    async def _asked(
        self,
        request: web.BaseRequest,
        caller: Caller,
        found: Found,
        target: Target,
        route: Route,
        who: str,
    ) -> Answer | Stream:
        body = await body_of(
            request,
            0 if caller.method in SAFE else route.largest_body,
            clock=self._clock,
            within_s=self._limits.body_s,
        )
        if isinstance(body, Refused):
            raise NotAnswered(body)
        asked = Asked(
            parts=found.parts,
            query=target.query,
            headers=request.headers,
            body=body,
            who=who,
            remote=caller.remote,
        )
        answer = await self._made(route, asked)
        if route.right is Right.ACT:
            self._telling.acted(
                action=route.action or route.path,
                who=who,
                parts=found.parts,
                status=answer.status if isinstance(answer, Answer) else 200,
                remote=caller.remote,
            )
        return answer

    async def _made(self, route: Route, asked: Asked) -> Answer | Stream:
        within_s = self._limits.answer_s
        if route.right is Right.OPEN:
            within_s = self._limits.probe_s
        try:
            async with self._clock.timeout(within_s):
                return await route.answer(asked)
        except Refusal as refusal:
            return refusal_of(Refused(status=refusal.status, reason="", text=refusal.text))
        except TimeoutError:
            text = f"no answer could be made within {within_s:g} s"
            return refusal_of(Refused(status=503, reason="", text=text))
        except Exception as error:  # noqa: BLE001  # told as a defect; whoever asks learns no more
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"{route.method} {route.path} was not answered", "exception": error}
            )
            return refusal_of(Refused(status=500, reason="", text="a defect of qtrigger"))

    def _malformed(self, request: web.BaseRequest, reason: str) -> None:
        self._telling.refused(
            reason=reason, status=400, method="", target="", remote=remote_of(request)
        )


def _route(found: Found | None, method: str) -> Route:
    """The route for a method; HEAD is GET without its body. Raises NotAnswered."""
    if found is None:
        raise NotAnswered(Refused(status=404, reason="", text="there is nothing at this address"))
    route = found.methods.get("GET" if method == "HEAD" else method)
    if route is None:
        there = sorted({*found.methods, *(["HEAD"] if "GET" in found.methods else [])})
        allow = ", ".join(there)
        text = f"{method[:16]} is not answered here, but {allow}"
        raise NotAnswered(Refused(status=405, reason="", text=text), allow=allow)
    return route

"""The functions of the live host: what they are, running one once, a test message for one.

Owns the shapes of the Functions host for them (`/admin/functions/…`). Of a function's files only
its bindings are shown, as the files have them: with names of settings, never with their values.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.faces import Faces
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, as_json
from qtrigger.background import begin
from qtrigger.errors import QtriggerError, QueueError, QueueMissing
from qtrigger.events import HostLog
from qtrigger.host import Host
from qtrigger.invocation import Postponed, Succeeded, TriggerMessage
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.encoding import encode
from qtrigger.tryout import FunctionNotRun, NoSuchFunction, TriedOut, find_function, message_of

# Runs by hand under way at once: they go beside the messages, and have no slots of their own.
MOST_RUNS: Final = 4
SEND_S: Final = 10.0


class Functions:
    """Answers for single functions."""

    def __init__(self, faces: Faces) -> None:
        self._faces = faces
        self._running: set[asyncio.Task[None]] = set()

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        one = "/admin/functions/{name}"
        return (
            Route(method="GET", path="/admin/functions", right=Right.READ, answer=self._all),
            Route(method="GET", path=one, right=Right.READ, answer=self._one),
            Route(method="GET", path=f"{one}/status", right=Right.READ, answer=self._status),
            Route(
                method="POST",
                path=one,
                right=Right.ACT,
                answer=self._invoke,
                action="function.invoke",
            ),
            Route(
                method="POST",
                path="/api/functions/{name}/send",
                right=Right.ACT,
                answer=self._send,
                action="function.send",
            ),
        )

    async def _all(self, asked: Asked) -> Answer:
        host = self._faces.live.required()
        return as_json([_metadata(each, asked) for each in host.project.functions])

    async def _one(self, asked: Asked) -> Answer:
        return as_json(_metadata(self._named(asked), asked))

    async def _status(self, asked: Asked) -> Answer:
        name = self._named(asked, disabled=True).name
        document = await self._faces.standing.document(queues=False)
        found = next((each for each in document["functions"] if each["name"] == name), None)
        if found is None or found["state"] != "failed":
            return as_json({})
        return as_json({"errors": [self._faces.plain(found["why"])]})

    async def _invoke(self, asked: Asked) -> Answer:
        """Run it once, and write its outputs, as the Functions host does; see its log."""
        host, function = self._able(asked)
        body = self._encodable(function, asked.json().get("input", ""), "input")
        if len(self._running) >= MOST_RUNS:
            raise Refusal(429, f"{MOST_RUNS} runs by hand are under way; wait for one of them")
        message = message_of(
            body, {}, now=self._faces.clock.utcnow(), lease_s=host.project.host.lease_s
        )
        run = begin(self._run(host, function, message), name=f"a run of {function.name} by hand")
        self._running.add(run)
        run.add_done_callback(self._running.discard)
        return Answer(status=202)

    async def _send(self, asked: Asked) -> Answer:
        host = self._faces.live.required()
        function = self._named(asked, disabled=True)
        body = self._encodable(function, asked.json().get("text", ""), "text")
        text = encode(body, function.options.message_encoding)
        queue = self._faces.services.of(function.trigger.account).queue(function.trigger.queue)
        try:
            async with self._faces.clock.timeout(SEND_S):
                try:
                    message_id = await queue.send(text)
                except QueueMissing:
                    await queue.create()
                    message_id = await queue.send(text)
        except (QueueError, TimeoutError) as error:
            why = self._faces.plain(str(error)) or f"no answer within {SEND_S:g} s"
            raise Refusal(502, f"the queue service did not take it: {why}") from error
        for each in host.listeners:
            if each.function == function.name:
                each.wake()
        return as_json({"id": message_id, "queue": queue.name}, 201)

    async def _run(self, host: Host, function: FunctionDefinition, message: TriggerMessage) -> None:
        try:
            tried = await host.try_out(function, message)
        except QtriggerError as error:
            self._tell(logging.ERROR, f"{function.name}, run by hand, did not run: {error}")
            return
        self._tell_of(function, tried)

    def _tell_of(self, function: FunctionDefinition, tried: TriedOut) -> None:
        outcome = tried.outcome
        well = isinstance(outcome, Succeeded | Postponed)
        error = getattr(outcome, "error", None)
        how = type(outcome).__name__.lower()
        text = f"{function.name}, run by hand: {how} in {tried.duration_s * 1000:.0f} ms"
        if error is not None:
            text += f": {error.type}: {self._faces.plain(error.message)}"
        self._tell(
            logging.INFO if well else logging.ERROR,
            text,
            self._faces.plain(error.traceback or "") if error is not None else "",
        )

    def _tell(self, level: int, text: str, traceback: str = "") -> None:
        self._faces.sink.emit(
            HostLog(level=level, logger="qtrigger", message=text, traceback=traceback)
        )

    def _able(self, asked: Asked) -> tuple[Host, FunctionDefinition]:
        """The host and a function that its workers can run. Raises Refusal."""
        host, function = self._faces.live.required(), self._named(asked, disabled=False)
        if function.name in host.broken or not host.listeners:
            text = f"{function.name} cannot be run: no worker could load it. Its log says why"
            raise Refusal(409, text)
        return host, function

    def _named(self, asked: Asked, *, disabled: bool = True) -> FunctionDefinition:
        """The function that the path names, whatever its case. Raises Refusal."""
        project, name = self._faces.live.required().project, asked.parts["name"]
        if disabled:
            for each in project.functions:
                if each.name.casefold() == name.casefold():
                    return each
        try:
            return find_function(project, name)
        except NoSuchFunction:
            raise Refusal(404, f"there is no function {name!r} in this project") from None
        except FunctionNotRun as error:
            raise Refusal(409, self._faces.plain(str(error))) from error

    def _encodable(self, function: FunctionDefinition, text: object, field: str) -> bytes:
        """A message's body that can stand on the function's queue. Raises Refusal (400)."""
        if not isinstance(text, str):
            raise Refusal(400, f'"{field}" is the message as a text; JSON goes into one')
        try:
            body = text.encode()
            encode(body, function.options.message_encoding)
        except UnicodeEncodeError:
            raise Refusal(400, f'"{field}" has half a character (a lone surrogate)') from None
        except QtriggerError as error:
            raise Refusal(400, f'"{field}": {error}') from error
        return body


def _metadata(function: FunctionDefinition, asked: Asked) -> Mapping[str, Any]:
    """What the Functions host says of a function; links lead to what is answered here alone."""
    host = asked.headers.get("Host", "")
    return {
        "name": function.name,
        "script_root_path_href": None,
        "script_href": None,
        "config_href": None,
        "test_data_href": None,
        "href": f"http://{host}/admin/functions/{function.name}" if host else None,
        "invoke_url_template": None,
        "language": "python",
        "config": {
            "name": function.name,
            "scriptFile": function.script_file.name,
            "entryPoint": function.entry_point,
            "disabled": bool(function.disabled),
            "bindings": [dict(each) for each in function.bindings],
        },
        "files": None,
        "test_data": None,
        "isDisabled": bool(function.disabled),
        "isDirect": False,
        "isProxy": False,
    }

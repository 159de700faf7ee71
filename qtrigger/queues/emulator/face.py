"""The HTTP face of the built-in emulator: which request is which verb of the memory queues.

Owns paths and parameters; the rules are the memory queues', the form of answers is `answers`'.
Signatures are not looked at: whoever reaches loopback may do everything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from qtrigger.errors import QueueError, QueueRejected
from qtrigger.queues.account import EMULATOR_ACCOUNT
from qtrigger.queues.emulator import answers
from qtrigger.queues.markup import MarkupError, read_fields, write_time
from qtrigger.queues.memory import MemoryQueueService

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# 64 KiB of text, each character escaped, and the elements around it.
MAX_REQUEST_BYTES = 1024 * 1024

_PAGE = 5_000


class Face:
    """The requests that the emulator understands, over the queues of `service`."""

    def __init__(self, service: MemoryQueueService) -> None:
        self._service = service
        self._metadata: dict[str, dict[str, str]] = {}

    def application(self) -> web.Application:
        """The routes; anything else is refused as the service refuses it."""
        app = web.Application(middlewares=[_errors_as_xml], client_max_size=MAX_REQUEST_BYTES)
        root = f"/{EMULATOR_ACCOUNT}"
        queue = root + "/{queue}"
        messages = queue + "/messages"
        app.add_routes(
            [
                web.get(root, self._list),
                web.get(root + "/", self._list),
                web.put(queue, self._create),
                web.delete(queue, self._remove),
                web.get(queue, self._properties),
                web.get(messages, self._get),
                web.post(messages, self._put),
                web.delete(messages, self._clear),
                web.put(messages + "/{message}", self._update),
                web.delete(messages + "/{message}", self._delete),
            ]
        )
        return app

    async def _list(self, request: web.Request) -> web.Response:
        if request.query.get("comp") != "list":
            raise _refused("InvalidQueryParameterValue", "only comp=list is known here")
        prefix = request.query.get("prefix", "")
        size = _number(request, "maxresults") or _PAGE
        names = [n for n in self._service.names(prefix) if n >= request.query.get("marker", "")]
        wanted = "metadata" in request.query.get("include", "")
        return answers.queues(
            names[:size],
            prefix=prefix,
            metadata=self._metadata if wanted else {},
            next_=names[size] if len(names) > size else "",
        )

    async def _create(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        metadata = {
            key.lower().removeprefix("x-ms-meta-"): value
            for key, value in request.headers.items()
            if key.lower().startswith("x-ms-meta-")
        }
        comp = request.query.get("comp")
        if comp == "metadata":
            self._service.store(name)
            self._metadata[name] = metadata
            return answers.plain(204)
        if comp is not None:
            raise _refused("InvalidQueryParameterValue", f"comp={comp} is not known here")
        if await self._service.request("create", name, lambda: self._service.make(name)):
            self._metadata[name] = metadata
            return answers.plain(201)
        if metadata != self._metadata.get(name, {}):
            text = "the queue is there, with other metadata"
            raise QueueRejected(text, status=409, code="QueueAlreadyExists")
        return answers.plain(204)

    async def _remove(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        self._service.remove(name)
        self._metadata.pop(name, None)
        return answers.plain(204)

    async def _properties(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        if request.query.get("comp") == "acl":
            self._service.store(name)
            return answers.acl()
        count = await self._service.request("exists", name, lambda: len(self._service.store(name)))
        return answers.with_metadata(self._metadata.get(name, {}), count)

    async def _get(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        count = _number(request, "numofmessages")
        count = 1 if count is None else count
        if request.query.get("peekonly", "").lower() == "true":
            return answers.peeked(
                await self._service.request(
                    "peek", name, lambda: self._service.store(name).peek(count)
                )
            )
        hidden = _number(request, "visibilitytimeout")
        hidden = 30 if hidden is None else hidden
        return answers.received(
            await self._service.request(
                "receive", name, lambda: self._service.store(name).receive(count, hidden)
            )
        )

    async def _put(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        text = await _text(request)
        if text is None:
            raise _refused("InvalidXmlDocument", "there is no MessageText")
        delay, ttl = _number(request, "visibilitytimeout"), _number(request, "messagettl")
        return answers.put(
            await self._service.request(
                "send", name, lambda: self._service.store(name).put(text, delay, ttl)
            )
        )

    async def _clear(self, request: web.Request) -> web.Response:
        name = request.match_info["queue"]
        await self._service.request("clear", name, lambda: self._service.store(name).clear())
        return answers.plain(204)

    async def _update(self, request: web.Request) -> web.Response:
        name, message = request.match_info["queue"], request.match_info["message"]
        hidden, receipt = _number(request, "visibilitytimeout"), request.query.get("popreceipt")
        if hidden is None or receipt is None:
            raise _refused(
                "MissingRequiredQueryParameter", "popreceipt and visibilitytimeout are needed"
            )
        text = await _text(request)
        renewed = await self._service.request(
            "update",
            name,
            lambda: self._service.store(name).update(message, receipt, hidden, text),
        )
        return answers.plain(
            204,
            x_ms_popreceipt=renewed.pop_receipt,
            x_ms_time_next_visible=write_time(renewed.next_visible),
        )

    async def _delete(self, request: web.Request) -> web.Response:
        name, message = request.match_info["queue"], request.match_info["message"]
        receipt = request.query.get("popreceipt", "")
        await self._service.request(
            "delete", name, lambda: self._service.store(name).delete(message, receipt)
        )
        return answers.plain(204)


@web.middleware
async def _errors_as_xml(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except QueueError as failure:
        return answers.error(failure)
    except web.HTTPRequestEntityTooLarge:
        text = "the request's body is too large"
        return answers.error(QueueRejected(text, status=413, code="RequestBodyTooLarge"))
    except web.HTTPException as unknown:
        text = f"{request.method} is not known for this address"
        status = unknown.status if unknown.status == 405 else 400
        return answers.error(QueueRejected(text, status=status, code="InvalidUri"))


async def _text(request: web.Request) -> str | None:
    body = await request.read()
    if not body:
        return None
    try:
        return read_fields(body, "QueueMessage").get("MessageText")
    except MarkupError as error:
        raise _refused("InvalidXmlDocument", str(error)) from error


def _number(request: web.Request, name: str) -> int | None:
    value = request.query.get(name)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise _refused("InvalidQueryParameterValue", f"{name} is no number") from None


def _refused(code: str, text: str) -> QueueRejected:
    return QueueRejected(text, status=400, code=code)

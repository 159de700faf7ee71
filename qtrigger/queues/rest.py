"""The protocol over the service's REST interface: the hot path.

Owns the exchange: build, sign, send, read or classify. Never tries twice; how long to wait and
whether to try again is for those who know what the request is worth.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import quote, urlsplit

from qtrigger import __version__
from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing, QueueRejected, QueueUnavailable
from qtrigger.overdue import Limit, Overdue
from qtrigger.queues import wire
from qtrigger.queues.account import Account
from qtrigger.queues.aiohttp_transport import AiohttpTransport
from qtrigger.queues.auth import Signer, signer_for
from qtrigger.queues.client import REQUEST_TIMEOUT_S, QueueMessage, Receipt
from qtrigger.queues.encoding import check_text
from qtrigger.queues.faults import Attempt, from_response, from_silence, not_a_queue_service
from qtrigger.queues.httptools_transport import HttptoolsTransport
from qtrigger.queues.markup import MarkupError, read_sent_id, read_time
from qtrigger.queues.message_list import read_messages
from qtrigger.queues.reach import proxy_for
from qtrigger.queues.request_counts import RequestCounts
from qtrigger.queues.transport import NoAnswer, Response, Silence, Transport
from qtrigger.queues.wire import Request

_USER_AGENT = f"qtrigger/{__version__}"


class RestQueueService:
    """A `QueueService` for one account.

    Each verb ends within `timeout_s` seconds, the fetching of a token included; a caller with
    less time cancels it. Requests are counted in `counts`. Proxies are read from the environment
    once, here. Raises AccessDenied for a credential that can never work (a key that is not base64,
    an identity over http).
    """

    def __init__(
        self,
        account: Account,
        clock: Clock,
        *,
        transport: Transport | None = None,
        signer: Signer | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
        counts: RequestCounts | None = None,
    ) -> None:
        parts = urlsplit(account.endpoint)
        origin = f"{parts.scheme}://{parts.netloc}"
        self.account = account
        self._clock = clock
        self._root = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._counts = counts or RequestCounts()
        self._overdue = Overdue(clock)
        self._signer = signer or signer_for(account, clock)
        self._transport = transport or transport_to(origin, os.environ)

    def queue(self, name: str) -> RestQueueClient:
        """See `QueueService`."""
        return RestQueueClient(self, name, f"{self._root}/{quote(name, safe='')}")

    async def close(self) -> None:
        """See `QueueService`."""
        try:
            await self._signer.close()
        finally:
            await self._transport.close()

    async def exchange(self, address: str, request: Request, hoped: Collection[int]) -> Response:
        """Make one request; an answer whose status is not `hoped` is raised as an error."""
        try:
            with Limit(self._overdue, self._clock.monotonic() + self._timeout_s):
                target, headers = await self._signer.sign(request)
                headers["User-Agent"] = _USER_AGENT
                response = await self._transport.request(
                    request.method, target, headers, request.body
                )
        except NoAnswer as failure:
            self._counts.note(request.operation.name)
            raise from_silence(self.attempt(address, request), failure) from failure
        except TimeoutError:
            self._counts.note(request.operation.name)
            late = NoAnswer(Silence.TIMED_OUT, f"{self._timeout_s:g} s")
            raise from_silence(self.attempt(address, request), late) from None
        self._counts.note(request.operation.name, response.status)
        if response.status not in hoped:
            raise self._refused(address, request, response)
        return response

    def _refused(self, address: str, request: Request, response: Response) -> QueueError:
        error = from_response(self.attempt(address, request), response, self._clock.utcnow())
        if isinstance(error, QueueUnavailable) and error.busy:
            self._counts.note_throttled()
        return error

    def attempt(self, address: str, request: Request) -> Attempt:
        """What to say of a request that failed."""
        return Attempt(operation=request.operation, address=address, account=self.account)

    def unreadable(
        self, address: str, request: Request, response: Response, what: object
    ) -> QueueUnavailable:
        """The error for an answer of the right status and the wrong content."""
        return not_a_queue_service(self.attempt(address, request), response, str(what))


def transport_to(origin: str, environment: Mapping[str, str]) -> Transport:
    """The lean way, or the way by a proxy where the environment names one for `origin`."""
    proxy = proxy_for(origin, environment)
    return HttptoolsTransport(origin) if proxy is None else AiohttpTransport(origin, proxy=proxy)


class RestQueueClient:
    """A `QueueClient` over one queue of a `RestQueueService`."""

    def __init__(self, service: RestQueueService, name: str, path: str) -> None:
        self._service = service
        self._name = name
        self._path = path
        self._address = f"{service.account.endpoint.rstrip('/')}/{name}"

    @property
    def name(self) -> str:
        """See `QueueClient`."""
        return self._name

    @property
    def address(self) -> str:
        """See `QueueClient`."""
        return self._address

    async def receive(self, count: int, visibility_timeout_s: float) -> Sequence[QueueMessage]:
        """See `QueueClient`."""
        return await self._messages(wire.get_messages(self._path, count, visibility_timeout_s))

    async def peek(self, count: int) -> Sequence[QueueMessage]:
        """See `QueueInspector`."""
        return await self._messages(wire.peek_messages(self._path, count))

    async def update(
        self,
        message_id: str,
        pop_receipt: str,
        visibility_timeout_s: float,
        text: str | None = None,
    ) -> Receipt:
        """See `QueueClient`."""
        if text is not None:
            check_text(text)
        request = wire.update_message(
            self._path, message_id, pop_receipt, visibility_timeout_s, text
        )
        response = await self._service.exchange(self._address, request, (204,))
        try:
            return Receipt(
                pop_receipt=response.headers["x-ms-popreceipt"],
                next_visible=read_time(response.headers["x-ms-time-next-visible"]),
            )
        except (KeyError, ValueError) as error:
            raise self._unreadable(request, response, f"without {error}") from error

    async def delete(self, message_id: str, pop_receipt: str) -> None:
        """See `QueueClient`."""
        request = wire.delete_message(self._path, message_id, pop_receipt)
        await self._service.exchange(self._address, request, (204,))

    async def send(
        self, text: str, *, delay_s: float | None = None, ttl_s: float | None = None
    ) -> str:
        """See `QueueClient`."""
        check_text(text)
        request = wire.put_message(self._path, text, delay_s, ttl_s)
        response = await self._service.exchange(self._address, request, (201,))
        try:
            return read_sent_id(response.body)
        except MarkupError as error:
            raise self._unreadable(request, response, error) from error

    async def exists(self) -> bool:
        """See `QueueClient`."""
        try:
            await self.approximate_count()
        except QueueMissing:
            return False
        return True

    async def approximate_count(self) -> int:
        """See `QueueInspector`."""
        request = wire.get_properties(self._path)
        response = await self._service.exchange(self._address, request, (200,))
        try:
            return int(response.headers["x-ms-approximate-messages-count"])
        except (KeyError, ValueError) as error:
            raise self._unreadable(request, response, f"without {error}") from error

    async def clear(self) -> None:
        """See `QueueUpkeep`."""
        request = wire.clear_messages(self._path)
        await self._service.exchange(self._address, request, (204,))

    async def create(self) -> None:
        """See `QueueClient`."""
        request = wire.create_queue(self._path)
        try:
            await self._service.exchange(self._address, request, (201, 204))
        except QueueRejected as error:
            # It is there, with metadata that somebody gave it.
            if error.code != "QueueAlreadyExists":
                raise

    async def _messages(self, request: Request) -> list[QueueMessage]:
        response = await self._service.exchange(self._address, request, (200,))
        try:
            return read_messages(response.body)
        except MarkupError as error:
            raise self._unreadable(request, response, error) from error

    def _unreadable(self, request: Request, response: Response, what: object) -> QueueUnavailable:
        return self._service.unreadable(self._address, request, response, what)

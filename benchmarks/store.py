"""What the measuring server's queues hold, and its answers as bytes.

Owns visibility, receipts and the counters. Visible messages stand in line; a hidden one is looked
for only when it is due, so that neither costs anything while it waits.
"""

from __future__ import annotations

import heapq
import json
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate

Reply = bytes
Now = Callable[[], float]

NEVER = "Fri, 31 Dec 9999 23:59:59 GMT"
WEEK_S = 604_800
HEAD = "HTTP/1.1 {} \r\nServer: Windows-Azure-Queue/1.0\r\nx-ms-version: 2021-12-02\r\n"
XML = "Content-Type: application/xml\r\n"
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def reply(status: str, headers: str = "", body: str = "") -> Reply:
    """An answer; one without a body says so, except where no body may be."""
    length = "" if status.startswith("204") else f"Content-Length: {len(body.encode())}\r\n"
    return f"{HEAD.format(status)}{headers}{length}\r\n{body}".encode()


def error(status: str, code: str) -> Reply:
    """An answer that says what is wrong."""
    body = f"{DECLARATION}<Error><Code>{code}</Code><Message>{code}</Message></Error>"
    return reply(status, f"x-ms-error-code: {code}\r\n{XML}", body)


DELETED = reply("204 No Content")
CREATED = reply("201 Created")
NO_QUEUE = error("404 Not Found", "QueueNotFound")
NO_MESSAGE = error("404 Not Found", "MessageNotFound")
OTHER_RECEIPT = error("400 Bad Request", "PopReceiptMismatch")
UNKNOWN = error("400 Bad Request", "UnsupportedHttpVerb")


@dataclass(slots=True)
class Message:
    """A message; `text` is as it stands in XML."""

    id: str
    text: str
    inserted: str
    expires: str
    receipt: str = ""
    dequeues: int = 0


class Queue:
    """One queue."""

    def __init__(self, now: Now) -> None:
        self.visible: deque[Message] = deque()
        self.messages: dict[str, Message] = {}
        self._hidden: list[tuple[float, int, str, str]] = []
        self._numbers = 0
        self._now = now

    def put(self, message: Message, visible_in_s: float = 0.0) -> None:
        """Add a message."""
        self.messages[message.id] = message
        if visible_in_s > 0:
            self.hide(message, visible_in_s)
        else:
            self.visible.append(message)

    def hide(self, message: Message, for_s: float) -> None:
        """Give it a new receipt, and let it be seen again after that time."""
        self._numbers += 1
        message.receipt = f"AgAAAAMAAAAAAAAA{self._numbers:012x}"
        due = (self._now() + for_s, self._numbers, message.id, message.receipt)
        heapq.heappush(self._hidden, due)

    def due(self) -> None:
        """Let those be seen whose time has come."""
        now = self._now()
        while self._hidden and self._hidden[0][0] <= now:
            _, _, message_id, receipt = heapq.heappop(self._hidden)
            message = self.messages.get(message_id)
            if message is not None and message.receipt == receipt:
                self.visible.append(message)


class Store:
    """All queues, and what was asked of them."""

    def __init__(self, now: Now = time.monotonic) -> None:
        self.queues: dict[str, Queue] = {}
        self.stats: Counter[str] = Counter()
        self.latency_s = 0.0
        self.last_delete_at = 0.0
        self._second = 0
        self._date = ""
        self._ids = 0
        self._now = now

    def control(self, verb: str, query: dict[str, str]) -> Reply:
        """Fill, forget, slow down, tell; times are those of `time.monotonic`."""
        if verb == "fill":
            queue = self.queues.setdefault(query["queue"], Queue(self._now))
            for _ in range(int(query["n"])):
                queue.put(self._message(query["text"]))
        elif verb == "reset":
            self.queues.clear()
            self.stats.clear()
            self.latency_s = 0.0
        elif verb == "recount":
            self.stats.clear()
        elif verb == "latency":
            self.latency_s = float(query["ms"]) / 1000
        told = {
            **self.stats,
            "left": sum(len(queue.messages) for queue in self.queues.values()),
            "last_delete_at": self.last_delete_at,
        }
        return reply("200 OK", "Content-Type: application/json\r\n", json.dumps(told))

    def serve(  # noqa: PLR0911  # one for each request there is
        self, method: str, parts: list[str], query: dict[str, str], body: bytes
    ) -> Reply:
        """Answer a request of the queue service's."""
        self.stats["requests"] += 1
        match method, parts:
            case "DELETE", [name, "messages", message_id]:
                return self._delete(name, message_id, query["popreceipt"])
            case "GET", [name, "messages"]:
                return self._get(name, query)
            case "POST", [name, "messages"]:
                return self._put(name, query, body)
            case "PUT", [name, "messages", message_id]:
                return self._update(name, message_id, query, body)
            case "PUT", [name]:
                self.stats["create"] += 1
                self.queues.setdefault(name, Queue(self._now))
                return CREATED
            case (("GET" | "HEAD"), [name]):
                return self._properties(name)
            case "GET", []:
                return self._list()
            case _:
                self.stats["other"] += 1
                return UNKNOWN

    def _delete(self, name: str, message_id: str, receipt: str) -> Reply:
        queue = self.queues.get(name)
        if queue is None:
            return NO_QUEUE
        message = queue.messages.get(message_id)
        if message is None:
            return NO_MESSAGE
        if message.receipt != receipt:
            return OTHER_RECEIPT
        del queue.messages[message_id]
        self.stats["delete"] += 1
        self.last_delete_at = self._now()
        return DELETED

    def _get(self, name: str, query: dict[str, str]) -> Reply:
        queue = self.queues.get(name)
        if queue is None:
            return NO_QUEUE
        queue.due()
        count = int(query.get("numofmessages", "1"))
        peeked = query.get("peekonly") == "true"
        hidden_s = float(query.get("visibilitytimeout", "30"))
        until = formatdate(time.time() + hidden_s, usegmt=True)
        self.stats["peek" if peeked else "get"] += 1
        found: list[str] = []
        if peeked:
            found = [_xml(queue.visible[at], "") for at in range(min(count, len(queue.visible)))]
        while not peeked and queue.visible and len(found) < count:
            message = queue.visible.popleft()
            if message.id not in queue.messages:
                continue
            message.dequeues += 1
            self.stats["handed"] += 1
            self.stats["again"] += message.dequeues > 1
            queue.hide(message, hidden_s)
            found.append(_xml(message, until))
        listed = f"{DECLARATION}<QueueMessagesList>{''.join(found)}</QueueMessagesList>"
        return reply("200 OK", XML, listed)

    def _put(self, name: str, query: dict[str, str], body: bytes) -> Reply:
        queue = self.queues.get(name)
        if queue is None:
            return NO_QUEUE
        self.stats["put"] += 1
        message = self._message(_text(body) or "")
        queue.put(message, float(query.get("visibilitytimeout", "0")))
        if not message.receipt:
            message.receipt = "AgAAAAMAAAAAAAAA"
        sent = _xml(message, message.inserted, text=False)
        return reply(
            "201 Created", XML, f"{DECLARATION}<QueueMessagesList>{sent}</QueueMessagesList>"
        )

    def _update(self, name: str, message_id: str, query: dict[str, str], body: bytes) -> Reply:
        queue = self.queues.get(name)
        if queue is None:
            return NO_QUEUE
        message = queue.messages.get(message_id)
        if message is None:
            return NO_MESSAGE
        if message.receipt != query["popreceipt"]:
            return OTHER_RECEIPT
        self.stats["update"] += 1
        text = _text(body)
        message.text = message.text if text is None else text
        hidden_s = float(query["visibilitytimeout"])
        queue.hide(message, hidden_s)
        until = formatdate(time.time() + hidden_s, usegmt=True)
        return reply(
            "204 No Content",
            f"x-ms-popreceipt: {message.receipt}\r\nx-ms-time-next-visible: {until}\r\n",
        )

    def _properties(self, name: str) -> Reply:
        queue = self.queues.get(name)
        if queue is None:
            return NO_QUEUE
        self.stats["properties"] += 1
        return reply("200 OK", f"x-ms-approximate-messages-count: {len(queue.messages)}\r\n")

    def _list(self) -> Reply:
        names = "".join(f"<Queue><Name>{name}</Name></Queue>" for name in self.queues)
        body = f"<EnumerationResults><Queues>{names}</Queues><NextMarker/></EnumerationResults>"
        return reply("200 OK", XML, f"{DECLARATION}{body}")

    def _message(self, text: str) -> Message:
        self._ids += 1
        now = int(time.time())
        if now != self._second:
            self._second, self._date = now, formatdate(now, usegmt=True)
        return Message(f"{self._ids:08x}-0000-4000-8000-000000000000", text, self._date, NEVER)


def _xml(message: Message, until: str, *, text: bool = True) -> str:
    taken = (
        f"<PopReceipt>{message.receipt}</PopReceipt><TimeNextVisible>{until}</TimeNextVisible>"
        if until
        else ""
    )
    told = (
        f"<DequeueCount>{message.dequeues}</DequeueCount><MessageText>{message.text}</MessageText>"
        if text
        else ""
    )
    return (
        f"<QueueMessage><MessageId>{message.id}</MessageId>"
        f"<InsertionTime>{message.inserted}</InsertionTime>"
        f"<ExpirationTime>{message.expires}</ExpirationTime>{taken}{told}</QueueMessage>"
    )


def _text(body: bytes) -> str | None:
    """The text of a put or an update, as it stands in XML; None without one."""
    begin, end = body.find(b"<MessageText>"), body.rfind(b"</MessageText>")
    return body[begin + 13 : end].decode() if begin >= 0 else None

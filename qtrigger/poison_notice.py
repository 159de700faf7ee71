"""A notice of a poisoned message: what is told, and its form for programs and addresses.

Owns the JSON object, which is a public interface; see docs/how-to/poison-queue.md. Knows nobody
who is told.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any, Final, assert_never

from qtrigger.events import MessagePoisoned
from qtrigger.invocation import (
    Failed,
    Interrupted,
    LeaseLost,
    Outcome,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.encoding import BodyUndecodable, decode
from qtrigger.retrying import error_of
from qtrigger.values import value

SCHEMA_VERSION: Final = 1


@value(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message that was moved to its poison queue at `time`.

    `outcome` is that of the run after which it was, None when it was moved without one. `encoding`
    is the messageEncoding of its function.
    """

    event: MessagePoisoned
    message: QueueMessage
    outcome: Outcome | None
    encoding: str
    time: datetime


def as_json(notice: Notice, *, with_body: bool, dropped: int) -> str:
    """The notice as one JSON object; `dropped` are those of the function before it, untold."""
    event, message = notice.event, notice.message
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "function": event.function,
        "queue": event.queue,
        "poison_queue": event.poison_queue,
        "message_id": event.message_id,
        "invocation_id": event.invocation_id,
        "reason": event.reason,
        "detail": event.detail,
        "error": _error(notice.outcome),
        "dequeue_count": event.dequeue_count,
        "max_dequeue_count": event.max_dequeue_count,
        "inserted": message.inserted.isoformat(),
        "time": notice.time.isoformat(),
        "dropped": dropped,
        **(_body(message.text, notice.encoding) if with_body else {}),
    }
    return json.dumps(content, ensure_ascii=False)


def _error(outcome: Outcome | None) -> dict[str, str] | None:
    match outcome:
        case Failed() | TimedOut() | WorkerLost():
            error = error_of(outcome)
            return {"type": error.type, "message": error.message}
        case None | Succeeded() | Interrupted() | LeaseLost() | Postponed() | Rejected():
            return None
        case _:
            assert_never(outcome)


def _body(text: str, encoding: str) -> dict[str, str]:
    """The body as the function would get it; a text that cannot be decoded as it stands."""
    try:
        body = decode(text, encoding)
    except BodyUndecodable:
        return {"body": text, "body_encoding": "undecoded"}
    try:
        return {"body": body.decode(), "body_encoding": "text"}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "body_encoding": "base64"}

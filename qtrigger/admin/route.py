"""What is answered at which path, and to whom: the seam between the routes and their server.

Owns the types alone. A route knows no HTTP library and no key; the server knows no host.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

# Of a body, in bytes, where a route says nothing else: a message of 64 KiB in JSON fits.
LARGEST_BODY: Final = 256 * 1024

JSON: Final = "application/json; charset=utf-8"


class Right(Enum):
    """What somebody must hold to be answered."""

    OPEN = "open"
    """Nothing: what a probe asks."""
    READ = "read"
    """The key for reading, where there are keys."""
    ACT = "act"
    """The key for acting, where there are keys; every use is one event."""


class Refusal(Exception):  # it is an answer, no defect
    """Raised by a route: what was asked for cannot be done. `text` says why and what to do."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody asks: `parts` are those of the path in braces, `who` the name of their key.

    `remote` is the IP address that it came from.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    who: str = ""
    remote: str = ""

    def json(self) -> Mapping[str, Any]:
        """The body as a JSON object, {} for an empty one. Raises Refusal (400) for another."""
        try:
            content = json.loads(self.body) if self.body.strip() else {}
        except (ValueError, RecursionError):
            raise Refusal(400, "the body is no JSON; send an object, or nothing") from None
        if not isinstance(content, dict):
            raise Refusal(400, "the body is no JSON object; send {…}, or nothing")
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as a whole."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer that goes on until who asked has gone or the host stops, such as events."""

    chunks: AsyncIterator[bytes]
    content_type: str = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One path, such as `/admin/functions/{name}`, with one method.

    `answer` is given a deadline by the server, and what it raises beside Refusal is told as a
    defect. `action` is the stable word under which a use of it is told, for those that act.
    """

    method: str
    path: str
    right: Right
    answer: Callable[[Asked], Awaitable[Answer | Stream]]
    action: str = ""
    largest_body: int = LARGEST_BODY


def as_json(content: Any, status: int = 200) -> Answer:
    """An answer of JSON, in ASCII: a text may hold halves of characters, which no UTF-8 can.

    Raises ValueError for a number that JSON has no way to say.
    """
    body = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    return Answer(status=status, body=body)

"""The trace that a message belongs to, in its body: a queue message has no headers.

Owns where a sender's trace stands in a JSON object, and how ours is put into one. Knows no library
of traces. Sources: W3C Trace Context; the CloudEvents extension for distributed tracing, whose
members stand at the top level; `Diagnostic-Id` of Azure's own SDKs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from qtrigger.values import value

PARENT, STATE, DIAGNOSTIC_ID = "traceparent", "tracestate", "Diagnostic-Id"
# Longer ones may be cut by those who pass them on; nobody has to take them.
LONGEST_STATE: Final = 512
# What fits into a message whatever its encoding: base64 makes 64 KiB of 48.
LARGEST_BODY: Final = 48 * 1024

_PARENT: Final = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})"
    r"-(?P<span>(?!0{16})[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-[!-~]*)?"
)
_STATE: Final = re.compile(r"[ -~]*")
# Most bodies have neither, and are not parsed.
_SIGNS: Final = (PARENT.encode(), DIAGNOSTIC_ID.encode())
_MARGIN: Final = 2 * len(PARENT) + 2 * LONGEST_STATE


@value(frozen=True, slots=True, kw_only=True)
class TraceContext:
    """A place in a trace: `parent` is a traceparent, `state` the tracestate or ""."""

    parent: str
    state: str = ""

    @property
    def trace_id(self) -> str:
        """The trace's id, 32 hexadecimal digits."""
        return self.parent[3:35]

    @property
    def span_id(self) -> str:
        """The span's id, 16 hexadecimal digits."""
        return self.parent[36:52]

    @property
    def flags(self) -> int:
        """Its flags: 1 is sampled."""
        return int(self.parent[53:55], 16)


def sent_with(body: bytes) -> TraceContext | None:
    """The trace of a message's sender, None where its body names none that can be meant."""
    if not any(sign in body for sign in _SIGNS):
        return None
    content = _object(body)
    if content is None:
        return None
    for name in (PARENT, DIAGNOSTIC_ID):
        parent = content.get(name)
        if isinstance(parent, str) and is_parent(parent):
            return TraceContext(parent=parent, state=_state(content.get(STATE)))
    return None


def is_parent(text: str) -> bool:
    """Whether it is a traceparent: of version 00, or of a later one that begins like it."""
    found = _PARENT.fullmatch(text)
    return found is not None and (found["version"] != "00" or not found["more"])


def injected(body: bytes, context: TraceContext) -> bytes:
    """The body with our place in the trace, where it is a JSON object without one of its own.

    Anything else is left as it is, and so is what would be too large. Nothing but the new members
    changes: numbers and spaces stay as they were written.
    """
    if len(body) + _MARGIN > LARGEST_BODY:
        return body
    start = len(body) - len(body.lstrip())
    if body[start : start + 1] != b"{":
        return body
    content = _object(body)
    if content is None or PARENT in content or DIAGNOSTIC_ID in content:
        return body
    members = {PARENT: context.parent, **({STATE: context.state} if context.state else {})}
    if STATE in content:
        members.pop(STATE, None)
    new = json.dumps(members, separators=(",", ":")).encode()[1:-1]
    comma = b"," if content else b""
    return body[: start + 1] + new + comma + body[start + 1 :]


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        # Left to itself it would take UTF-16 as well, into which nothing of ours can be put.
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _state(given: object) -> str:
    fits = isinstance(given, str) and len(given) <= LONGEST_STATE
    return given if fits and isinstance(given, str) and _STATE.fullmatch(given) else ""

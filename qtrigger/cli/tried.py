"""What `qtrigger invoke` has seen, as text or as JSON.

Owns the two spellings of one run. Decides nothing: no exit code.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from qtrigger.dispositions import Abandon, Ack, Disposition, Drop, Poison, Release, Retry, spread_of
from qtrigger.events import UserLog
from qtrigger.invocation import (
    Failed,
    Outcome,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.outputs import Planned
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.client import NEVER_EXPIRES_S
from qtrigger.reports import disposition_name
from qtrigger.telemetry.line import level_name
from qtrigger.telemetry.outcomes import duration_text
from qtrigger.tryout import TriedOut

SCHEMA_VERSION: Final = 1
RETURN: Final = "$return"


def as_text(function: FunctionDefinition, tried: TriedOut) -> str:
    """How it ended, what it returned and wrote, and what would become of the message."""
    took = duration_text(tried.duration_s)
    lines = [f"{function.name} {_how(tried.outcome)}  {took}", *_traceback(tried.outcome)]
    for each in tried.planned:
        verb = "returned" if each.binding == RETURN else f"set {each.binding}"
        done = "written to" if tried.written else "not written to"
        lines += [f"{verb}, {done} {each.queue.name}{_times(each)}:", *_indented(each.item.body)]
    if isinstance(tried.outcome, Succeeded) and not tried.planned:
        lines.append("nothing for an output")
    lines.append(f"a message on {function.trigger.queue} would {_fate(function, tried)}")
    return "\n".join(lines)


def as_json(function: FunctionDefinition, tried: TriedOut, logs: Sequence[UserLog]) -> str:
    """One object; what does not apply is left out."""
    (message,) = tried.invocation.messages
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "function": function.name,
        "invocation_id": tried.invocation.id,
        "message": {
            "id": message.id,
            "queue": function.trigger.queue,
            "dequeue_count": message.dequeue_count,
            "insertion_time": message.inserted.isoformat(),
            "expiration_time": message.expires.isoformat(),
            "next_visible_time": message.next_visible.isoformat(),
            "pop_receipt": message.pop_receipt,
        },
        "outcome": outcome_name(tried.outcome),
        "duration_ms": round(tried.duration_s * 1000, 3),
        **_particulars(tried.outcome),
        "disposition": disposition_name(tried.disposition),
        "written": tried.written,
        "outputs": [_output(each) for each in tried.planned],
        "logs": [
            {
                "level": level_name(each.level).lower(),
                "logger": each.logger,
                "message": each.message,
                **({"extra": each.extra} if each.extra else {}),
            }
            for each in logs
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def outcome_name(outcome: Outcome) -> str:
    """Return the glossary's word, as log lines have it."""
    word = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(outcome).__name__)
    return word.lstrip("_")


def _how(outcome: Outcome) -> str:
    match outcome:
        case Failed(error=error):
            place = f"  ({error.place})" if error.place else ""
            return f"failed: {error.type}: {error.message}{place}"
        case TimedOut(after_s=after_s):
            return f"timed out after {duration_text(after_s)} (functionTimeout)"
        case WorkerLost(how=how):
            return f"ended its worker process: {how}"
        case Postponed(delay_s=delay_s):
            return f"asked for the message to come back in {duration_text(delay_s)}"
        case Rejected(reason=reason):
            return f"rejected the message: {reason}"
        case _:
            return outcome_name(outcome).replace("_", " ")


def _traceback(outcome: Outcome) -> list[str]:
    return outcome.error.traceback.rstrip().splitlines() if isinstance(outcome, Failed) else []


def _fate(function: FunctionDefinition, tried: TriedOut) -> str:
    count = tried.invocation.messages[0].dequeue_count
    tries = f"its try {count} of {function.options.max_dequeue_count}"
    disposition: Disposition = tried.disposition
    match disposition:
        case Ack():
            return "now be deleted"
        case Retry(after_s=after_s):
            return f"now be tried again {_when(function, after_s)}, after {tries}"
        case Release(after_s=after_s):
            return f"now come back in {duration_text(after_s)}"
        case Poison():
            return f"now go to the poison queue {function.poison_queue}, after {tries}"
        case Abandon():
            return f"now stay hidden until its lease ends, after {tries}"
        case Drop():
            return "be left alone"


def _when(function: FunctionDefinition, after_s: float) -> str:
    jitter = function.own.retry_jitter if function.own.retry_delays_s else 0.0
    if not after_s:
        return "at once"
    if not jitter:
        return f"in {duration_text(after_s)}"
    least_s, most_s = spread_of(after_s, jitter)
    return f"in {duration_text(least_s)} to {duration_text(most_s)}"


def _times(planned: Planned) -> str:
    item = planned.item
    delay = f", hidden for {duration_text(item.delay_s)}" if item.delay_s else ""
    if item.ttl_s is None:
        return delay
    if item.ttl_s == NEVER_EXPIRES_S:
        return f"{delay}, never expires"
    return f"{delay}, expires after {duration_text(item.ttl_s)}"


def _indented(body: bytes) -> list[str]:
    text = _text(body)
    shown = text if text is not None else f"not text, in base64: {_base64(body)}"
    return [f"  {line}" for line in shown.splitlines()] or ["  (empty)"]


def _particulars(outcome: Outcome) -> Mapping[str, Any]:
    match outcome:
        case Failed(error=error):
            names = ("type", "message", "place", "traceback")
            return {"error": {name: getattr(error, name) for name in names}}
        case TimedOut(after_s=after_s):
            return {"after_s": after_s}
        case WorkerLost(how=how):
            return {"how": how}
        case Postponed(delay_s=delay_s):
            return {"delay_s": delay_s}
        case Rejected(reason=reason):
            return {"reason": reason}
        case _:
            return {}


def _output(planned: Planned) -> Mapping[str, Any]:
    item, text = planned.item, _text(planned.item.body)
    body = {"body": text} if text is not None else {"body_base64": _base64(item.body)}
    given = {"delay_s": item.delay_s, "ttl_s": item.ttl_s}
    return {
        "binding": planned.binding,
        "queue": planned.queue.name,
        **body,
        **{name: value for name, value in given.items() if value is not None},
    }


def _text(body: bytes) -> str | None:
    """The body as text, None when it is none or would disturb a terminal."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if all(c.isprintable() or c in "\r\n\t" for c in text) else None


def _base64(body: bytes) -> str:
    return base64.b64encode(body).decode()

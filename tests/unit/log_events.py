"""One event of every kind and variant, and the page of log events that is made from their lines.

`python -m tests.unit.log_events` prints docs/reference/log-events.md. A new event has to be added
here, and a new value that changes a line's fields.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from qtrigger import events
from qtrigger.events import Event
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    LeaseLost,
    Postponed,
    Rejected,
    Succeeded,
    TimedOut,
    WorkerLost,
)
from qtrigger.telemetry.line import level_name
from qtrigger.telemetry.lines import Line, line_of

INTRODUCTION: Final = """\
# Log events

Made from the events by `python -m tests.unit.log_events`; a test fails when it is not.

With `--log-format json` each line of `qtrigger start` is one JSON object, and at most 40 KiB long:

| field | meaning |
|---|---|
| `schema_version` | 1; changes when a field goes or means something else |
| `kind` | which event it is: one of the table below, and the same from version to version |
| `timestamp` | UTC, RFC 3339 with microseconds |
| `level` | `debug`, `info`, `warning`, `error` or `critical` |
| `message` | the same for people; its wording may change |
| `hint` | what to do, where there is something |
| `function`, `message_id` | whose it is, where it is somebody's |
| `details` | a traceback, where there is one |
| `trace_id`, `span_id` | of a run that is traced, in the lines about it |
| `truncated` | `true` where something was cut, to keep the line within its length |

The last line is always of kind `summary`, whatever `--log-level` says: no more comes after it.
An error that keeps a host from coming up is a line of kind `start.failed`, and no text on stderr.

A field is never a message's body, a key or a signature.
Fields in italics are there where they apply.
The levels of `user.log` and `host.log` are those of the record.

"""

# Where the first line of the event's own description does not say enough, or too much.
MEANINGS: Final = {
    "project.error": "Something is wrong in the project's files or settings, at `place`; what it "
    "is about does not run.",
    "project.warning": "Something in the project's files or settings is not as it seems, at "
    "`place`.",
    "emulator.ready": "A local queue service answers; `started` when it is ours, and ends with "
    "this process.",
    "host.heartbeat": "Once a minute with `--verbose`: how messages ended since the start, "
    "`after_s` seconds ago.",
    "host.stopped": "The last host has stopped; `unsettled` messages come back when their leases "
    "end, and where there are any it is a warning.",
    "summary": "Always the last line: why the process ends, with which exit code, and how messages "
    "ended.",
    "host.log": "A line of the host's own, or of a library it uses.",
    "worker.ended": "A worker process ended; a warning when nobody asked for it.",
    "breaker.opened": "A function has failed too often in a row: no message is asked for, for "
    "`next_probe_s` seconds.",
    "queue.ok": "The queue is there and answers.",
    "queue.missing": "There is no such queue, which is no error.",
    "queue.unavailable": "A passing fault of the service or of the network.",
    "queue.degraded": "Messages come, and another operation on them is refused.",
    "queue.failing": "A fault that a person has to mend, or one that has not passed for long.",
    "account.throttled": "A storage account begins to answer that it is busy.",
    "account.recovered": "It has been quiet for a while: `busy` of `requests` were answered so, "
    "for `lasted_s` seconds.",
    "invocation.retrying": "A run failed, and its retry policy wants another one after `after_ms`, "
    "within the same receipt.",
    "user.log": "A line from a function's code, printed or logged.",
    "message.poisoned": "A message was moved to its poison queue; `reason` is `tries`, "
    "`undecodable` or `rejected`.",
    "message.abandoned": "Its tries are used up, and it has no poison queue: it was left where it "
    "is.",
    "lease.renewed": "A renewal succeeded.",
}

_OF_MESSAGE: Final[dict[str, Any]] = {"function": "f", "queue": "q", "message_id": "m"}
_OF_RUN: Final[dict[str, Any]] = {**_OF_MESSAGE, "invocation_id": "i", "dequeue_count": 1}
_ERROR: Final = ErrorDetail(type="E", message="m", traceback="Traceback", place="a.py:1")
_COUNTS: Final = {
    "succeeded": 1,
    "failed_tries": 0,
    "poisoned": 0,
    "undecodable": 0,
    "handed_back": 0,
}
_FUNCTION: Final = events.FunctionState(name="f", queue="q", connection="c", state="ready")


def samples() -> Iterator[Event]:
    """Every kind of event, in the order of the page."""
    yield from _of_the_process()
    yield from _of_the_host()
    yield from _of_queues()
    yield from _of_runs()
    yield from _of_messages()


def _of_the_process() -> Iterator[Event]:
    yield events.HostStarting(
        version="1", project="p", environment="Development", python="3", workers=1, loop="asyncio"
    )
    for severity in ("error", "warning"):
        yield events.Finding(
            function="f", place="a:1", severity=severity, message="m", hint="h", traceback="t"
        )
        yield events.Finding(function="", place="", severity=severity, message="m", hint="")
    yield events.StartFailed(message="m", exit_code=3)
    yield events.EmulatorReady(description="d", port=1, started=True)
    yield events.HostReady(functions=[_FUNCTION], workers=1, interpreter="i", after_s=1.0)
    yield events.Heartbeat(counts=_COUNTS, after_s=60.0)
    yield events.ReloadStarted(files=())
    yield events.ReloadRejected(message="m")
    for broken in ([], ["charge"]):
        yield events.Reloaded(
            files=["function_app.py"],
            live=["charge"],
            ready=1,
            added=[],
            removed=[],
            changed=["charge"],
            broken=broken,
            mended=[],
            took_s=0.2,
            running_before=0,
        )
    yield events.RequirementsChanged(file="requirements.txt", interpreter="python")
    yield events.HostStopping(reason="SIGTERM", running=0, up_to_s=30.0)
    yield events.HostStopped(reason="SIGTERM", counts=_COUNTS, unsettled=0, after_s=1.0)
    yield events.HostStopped(reason="SIGTERM", counts=_COUNTS, unsettled=1, after_s=1.0)
    yield events.ProcessEnding(reason="SIGTERM", exit_code=0, counts=_COUNTS, after_s=1.0)


def _of_the_host() -> Iterator[Event]:
    yield events.HostLog(level=30, logger="l", message="m")
    yield events.HostLog(level=40, logger="l", message="m", traceback="t")
    yield events.WorkerStarted(worker=1, pid=1, took_s=1.0)
    yield events.HttpListening(addresses=("http://127.0.0.1:7071",), keyed=False)
    refused: dict[str, Any] = {
        "reason": "host",
        "status": 403,
        "method": "GET",
        "path": "/",
        "remote": "::1",
    }
    yield events.HttpRefused(**refused)
    yield events.AdminAction(
        action="function.pause", who="admin", target="f", status=200, remote="::1"
    )
    for expected in (True, False):
        yield events.WorkerEnded(worker=1, pid=1, how="exit code 1", expected=expected, lost=0)
    yield events.WorkerSilent(pid=1, for_s=20.0)
    yield events.WorkerAnswers(pid=1, after_s=60.0)
    yield events.FunctionLoadFailed(function="f", place="a:1", message="m", traceback="t", hint="h")
    yield events.FunctionLoadFailed(function="f", place="", message="m")
    until = datetime(2026, 1, 1, tzinfo=UTC)
    yield events.FunctionPaused(function="f", by="b", reason="r", until=until)
    yield events.FunctionResumed(function="f")
    for probe in (False, True):
        yield events.BreakerOpened(
            function="f",
            queue="q",
            failures=10,
            messages=2,
            error_type="E",
            error="m",
            pause_s=10.0,
            probe=probe,
        )
    yield events.BreakerClosed(function="f", queue="q", cause="probe", failures=10, lasted_s=1.0)


def _of_queues() -> Iterator[Event]:
    for state in ("ok", "missing", "unavailable", "degraded", "failing"):
        for hint in ("", "h"):
            yield events.QueueStateChanged(
                function="f", queue="q", state=state, message="m", hint=hint, next_try_s=1.0
            )
    yield events.MessagesHidden(function="f", queue="q", count=1, lease_s=1.0)
    yield events.PollFinished(function="f", queue="q", found=0, took_s=1.0)
    yield events.ThrottlingBegan(account="a", message="m")
    yield events.ThrottlingEnded(account="a", busy=1, requests=1, lasted_s=1.0)


def _of_runs() -> Iterator[Event]:
    yield events.InvocationStarted(**_OF_RUN)
    running: dict[str, Any] = {**_OF_MESSAGE, "invocation_id": "i", "for_s": 60.0, "usual_s": 0.0}
    yield events.StillRunning(**running)
    yield events.StillRunning(**running, stack="s")
    for outcome in (
        Succeeded(),
        Failed(error=_ERROR),
        TimedOut(after_s=1.0),
        WorkerLost(how="exit code 1", alone=True),
        WorkerLost(how="exit code 1", alone=False),
        Interrupted(),
        LeaseLost(),
        Postponed(delay_s=1.0),
        Rejected(reason="r"),
    ):
        for retries in (0, 1):
            yield events.InvocationFinished(
                **_OF_RUN,
                max_dequeue_count=5,
                duration_s=1.0,
                waited_s=1.0,
                outcome=outcome,
                disposition="acked",
                retries=retries,
            )
    for failure in (Failed(error=_ERROR), TimedOut(after_s=1.0)):
        yield events.RetryPending(
            **_OF_RUN,
            max_dequeue_count=5,
            duration_s=1.0,
            outcome=failure,
            retry=1,
            max_retries=3,
            after_s=1.0,
        )
    log: dict[str, Any] = {"function": "f", "invocation_id": "i", "logger": "l", "message": "m"}
    yield events.UserLog(**log, message_id="m", level=20, extra={"a": 1}, error=_ERROR)
    yield events.UserLog(**{**log, "function": ""}, message_id="", level=20)


def _of_messages() -> Iterator[Event]:
    for poison_queue in ("p", ""):
        yield events.MessagePoisoned(
            **_OF_RUN, max_dequeue_count=5, poison_queue=poison_queue, reason="tries", detail="d"
        )
    yield events.NoticeFailed(**_OF_MESSAGE, told="t", message="m", hint="h")
    yield events.NoticesDropped(function="f", count=1, reason="full")
    yield events.MessageHandedBack(**_OF_MESSAGE)
    yield events.LeaseRenewed(**_OF_MESSAGE, lease_s=1.0)
    for refused in (True, False):
        yield events.RenewalFailed(**_OF_MESSAGE, message="m", refused=refused)
    yield events.LeaseEnded(**_OF_MESSAGE, detail="d")
    yield events.CheckpointNotKept(**_OF_MESSAGE, message="m")
    for refused in (True, False):
        yield events.SettlementFailed(
            **_OF_MESSAGE, disposition="acked", message="m", hint="h", refused=refused
        )


def page() -> str:
    """The whole page, as Markdown."""
    by_kind: dict[str, list[tuple[Event, Line]]] = {}
    for event in samples():
        line = line_of(event)
        by_kind.setdefault(line.event, []).append((event, line))
    rows = [_row(kind, found) for kind, found in by_kind.items()]
    header = "| kind | level | fields | when |\n|---|---|---|---|\n"
    return INTRODUCTION + header + "\n".join(rows) + "\n"


def _row(kind: str, found: list[tuple[Event, Line]]) -> str:
    levels = list(dict.fromkeys(level_name(line.level).lower() for _, line in found))
    level = "any" if kind in ("user.log", "host.log") else ", ".join(levels)
    fields = [list(_fields(line)) for _, line in found]
    names = dict.fromkeys(name for each in fields for name in each)
    always = {name for name in names if all(name in each for each in fields)}
    words = [f"`{name}`" if name in always else f"*`{name}`*" for name in names]
    meaning = MEANINGS.get(kind) or (type(found[0][0]).__doc__ or "").partition("\n")[0]
    return f"| `{kind}` | {level} | {', '.join(words)} | {meaning} |"


def _fields(line: Line) -> Iterator[str]:
    """The names that a JSON line has beside those of every line."""
    known = {"function": line.function, "message_id": line.message_id, "hint": line.hint}
    yield from (name for name, value in known.items() if value)
    yield from line.fields
    if line.details and "stack" not in line.fields:
        yield "details"


if __name__ == "__main__":
    sys.stdout.write(page())

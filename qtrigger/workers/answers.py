"""Between the host's values and the frames of the wire.

Owns the shape of the load and invoke requests and of a run's ends. Pure; it sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any

from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Invocation,
    Outcome,
    Output,
    OutputItem,
    Postponed,
    Ran,
    Rejected,
    Succeeded,
)
from qtrigger.workers.indexed import Indexed, IndexedFunction
from qtrigger.workers.python.message import microseconds
from qtrigger.workers.python.wire import WireError, to_json
from qtrigger.workers.worker import FunctionSpec, Loaded, LoadFailure

# The threads of a worker take every run that its plain functions may have under way, up to what
# the reference's host sets.
MAX_THREADS = 1000


def load_request(root: Path, functions: Sequence[FunctionSpec]) -> dict[str, Any]:
    """The header that asks a worker process to load functions."""
    return {
        "t": "load",
        "root": str(root),
        "threads": min(sum(function.concurrency for function in functions), MAX_THREADS),
        "functions": [
            {
                "name": function.name,
                "directory": str(function.directory),
                "script": str(function.script_file),
                "entry": function.entry_point,
                "bindings": function.bindings,
                "outputs": function.outputs,
                "encoding": function.encoding,
                "decorated": function.decorated,
            }
            for function in functions
        ],
    }


def index_request(root: Path, script: Path) -> dict[str, Any]:
    """The header that asks a worker process what a script declares."""
    return {"t": "index", "root": str(root), "script": str(script)}


def indexed(header: Mapping[str, Any]) -> Indexed:
    """What an index frame says."""
    failure = header["failure"]
    return Indexed(
        functions=tuple(
            IndexedFunction(
                name=each["name"],
                entry_point=each["entry"],
                file=Path(each["file"]),
                line=each["line"],
                bindings=tuple(each["bindings"]),
                retry=each["retry"],
                fault=each["fault"],
            )
            for each in header["functions"]
        ),
        failure=LoadFailure(**failure) if failure else None,
    )


def loaded(header: Mapping[str, Any]) -> Loaded:
    """What a ready frame says."""
    failures = header["failures"]
    return Loaded(
        failures={name: LoadFailure(**failure) for name, failure in failures.items()},
        at_once=header["at_once"],
    )


def invoke_request(number: int, invocation: Invocation) -> tuple[str, bytes]:
    """What asks a worker process for a run, as JSON, and the bodies; see `invoke_header`.

    Written out, because an encoder takes three times as long for it and every run has one.
    """
    retry = retry_part(invocation)
    trace = f',"trace":{to_json(trace_part(invocation))}' if invocation.trace is not None else ""
    messages = ",".join(
        [
            f"[{quoted(message.id)},{message.dequeue_count},{microseconds(message.inserted)},"
            f"{microseconds(message.expires)},{microseconds(message.next_visible)},"
            f"{quoted(message.pop_receipt)},{len(message.body)}]"
            for message in invocation.messages
        ]
    )
    request = (
        f'{{"id":{number},"function":{quoted(invocation.function)},'
        f'"invocation":{quoted(invocation.id)},"max":{invocation.max_dequeue_count},'
        f'"retry":{to_json(retry) if retry else "null"},"messages":[{messages}]{trace}}}'
    )
    return request, b"".join([message.body for message in invocation.messages])


def invoke_header(requests: Sequence[str]) -> str:
    """The header of the frame that holds these requests; its blob is their bodies, in order."""
    return f'{{"t":"invoke","runs":[{",".join(requests)}]}}'


def retry_part(invocation: Invocation) -> dict[str, Any] | None:
    """What a run is told of its function's retry policy, None without one."""
    if invocation.retry is None:
        return None
    retry = invocation.retry
    error = {"error": asdict(retry.error)} if retry.error else {}
    return {"count": retry.count, "max": retry.most, **error}


def trace_part(invocation: Invocation) -> tuple[str, ...]:
    """What a run is told of its place in a trace: traceparent and tracestate, or nothing."""
    if invocation.trace is None:
        return ()
    context = invocation.trace.context
    return (context.parent, context.state)


def ran(
    invocation: Invocation, ends: Sequence[Mapping[str, Any]], blob: bytes, duration_s: float
) -> Ran:
    """What a result frame says. Raises WireError, LookupError or TypeError for nonsense.

    The end `cancelled` is read as Interrupted; whoever asked for it knows why.
    """
    if len(ends) != len(invocation.messages):
        # A message without an outcome would never be settled.
        raise WireError(f"a result has {len(ends)} ends for {len(invocation.messages)} messages")
    start = 0
    outcomes: list[Outcome] = []
    for end in ends:
        outcome, start = _outcome(end, blob, start)
        outcomes.append(outcome)
    return Ran(outcomes=tuple(outcomes), duration_s=duration_s)


def succeeded(invocation: Invocation, duration_s: float) -> Ran:
    """What a frame says of a run that succeeded and wrote nothing. Raises WireError as `ran`."""
    if len(invocation.messages) != 1:
        raise WireError(f"one end for {len(invocation.messages)} messages")
    return Ran(outcomes=(Succeeded(),), duration_s=duration_s)


def every(invocation: Invocation, outcome: Outcome, duration_s: float) -> Ran:
    """One outcome for each message."""
    return Ran(outcomes=(outcome,) * len(invocation.messages), duration_s=duration_s)


def _outcome(end: Mapping[str, Any], blob: bytes, start: int) -> tuple[Outcome, int]:
    match end["end"]:
        case "ok":
            outputs, start = _outputs(end.get("outputs", ()), blob, start)
            return Succeeded(outputs=outputs), start
        case "failed":
            return Failed(error=_error(end)), start
        case "later":
            return Postponed(delay_s=float(end["delay"])), start
        case "reject":
            return Rejected(reason=str(end["reason"])), start
        case "cancelled":
            return Interrupted(), start
        case other:
            raise WireError(f"no such end of a run: {other!r}")


def _error(end: Mapping[str, Any]) -> ErrorDetail:
    return ErrorDetail(
        type=end["type"],
        message=end["message"],
        traceback=end.get("traceback", ""),
        place=end.get("place", ""),
    )


def _outputs(
    outputs: Sequence[Mapping[str, Any]], blob: bytes, start: int
) -> tuple[tuple[Output, ...], int]:
    written: list[Output] = []
    for output in outputs:
        items: list[OutputItem] = []
        for item in output["items"]:
            size, delay_s, ttl_s = (item, None, None) if isinstance(item, int) else item
            items.append(OutputItem(body=blob[start : start + size], delay_s=delay_s, ttl_s=ttl_s))
            start += size
        written.append(Output(binding=output["binding"], items=tuple(items)))
    return tuple(written), start

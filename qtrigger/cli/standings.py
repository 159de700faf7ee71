"""How a host stands, in words and columns for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from qtrigger.cli.listing import broken, fits, table
from qtrigger.cli.spent import transactions

NOT_KNOWN: Final = "-"
_HEADER: Final = (
    "FUNCTION",
    "STATE",
    "RUNNING",
    "PER S",
    "SUCCEEDED",
    "FAILED",
    "POISONED",
    "LAST OK",
    "WAITING",
    "HIDDEN",
)


# From here on the columns say what is on the queues.
_OF_QUEUES: Final = 8


def as_text(
    standing: Mapping[str, Any], now: datetime | None = None, width: int | None = None
) -> str:
    """A host's standing: its own line, its functions as a table, and what is to be said of them.

    On a terminal of `width` columns the table is two where one does not fit.
    """
    now = now or datetime.now(UTC)
    rows = [_row(each, now) for each in standing["functions"]]
    said = [broken(each, width) for each in _said(standing, now)]
    parts = [broken(_headline(standing), width), *_tables(rows, width), "\n".join(said)]
    return "\n\n".join(filter(None, parts))


def _tables(rows: Sequence[tuple[str, ...]], width: int | None) -> Sequence[str]:
    whole = table(_HEADER, rows)
    if fits(whole, width):
        return [whole]
    queues = [(row[0], *row[_OF_QUEUES:]) for row in rows]
    return [
        table(_HEADER[:_OF_QUEUES], rows, width=width, names=2),
        table((_HEADER[0], *_HEADER[_OF_QUEUES:]), queues, width=width, names=1),
    ]


def _headline(standing: Mapping[str, Any]) -> str:
    workers = standing["workers"]
    sizes = [each["memory_bytes"] for each in workers]
    held = f", {sum(sizes) / 2**20:.0f} MiB" if sizes and all(sizes) else ""
    count = f"{len(workers)} worker{'' if len(workers) == 1 else 's'}{held}"
    return (
        f"{standing['state']} for {span(standing['uptime_s'])}  pid {standing['pid']}  "
        f"qtrigger {standing['qtrigger']}  {count}  {standing['project']}"
    )


def _row(function: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    messages = function["messages"] or {}
    polled = function["slots"] > 0 and function["state"] not in ("disabled", "not run here")
    return (
        function["name"],
        function["state"],
        f"{function['running']}/{function['slots']}" if polled else NOT_KNOWN,
        f"{function['per_second']:.3g}",
        f"{function['succeeded']:,}",
        f"{function['failed']:,}",
        f"{function['poisoned']:,}",
        _ago(function["last_success"], now),
        _waiting(messages),
        _hidden(messages),
    )


def _waiting(messages: Mapping[str, Any]) -> str:
    waiting = messages.get("waiting")
    if waiting is None:
        return NOT_KNOWN
    about = "~" if messages["more"] else ""
    oldest = messages["oldest_s"]
    return f"{about}{waiting:,}" + (f" ({span(oldest)})" if oldest is not None else "")


def _hidden(messages: Mapping[str, Any]) -> str:
    """As `3 ours, 103 others`: what is worked on here is no riddle, the others may be one."""
    if not messages or (messages["waiting"] is None and not messages["ours"]):
        return NOT_KNOWN
    others = "?" if messages["hidden"] is None else f"{messages['hidden']:,}"
    return f"{messages['ours']:,} ours, {others} others"


def _said(standing: Mapping[str, Any], now: datetime) -> Iterator[str]:
    """Why a function stands as it does, how it failed last, and what its account says."""
    yield from standing.get("faults", ())
    yield from standing.get("problems", ())
    hides = False
    for function in standing["functions"]:
        name, messages = function["name"], function["messages"] or {}
        if function["why"]:
            yield f"{name}: {function['state']}: {function['why']}"
        if error := function["last_error"]:
            text = " ".join(error["message"].split())[:300]
            yield f"{name}: last error {_ago(error['at'], now)} ago: {error['type']}: {text}"
        if problem := messages.get("problem"):
            yield f"{name}: what is on {function['queue']} is not known: {problem}"
        hides = hides or bool(messages.get("hidden"))
    for account in standing["accounts"]:
        if account["throttled"]:
            yield f"account {account['name']} answers that it is busy"
    yield from transactions(standing)
    if hides:
        lease = span(standing["lease_s"])
        yield (
            "hidden by others: sent for later, or taken by another host; what a host that was "
            f"killed had taken comes back within {lease} (qtrigger.lease)"
        )


def _ago(time: str | None, now: datetime) -> str:
    if time is None:
        return NOT_KNOWN
    return span(max((now - datetime.fromisoformat(time)).total_seconds(), 0.0))


def span(seconds: float) -> str:
    """A length of time in one or two units: `8 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`."""
    whole = int(seconds)
    for size, unit, part, smaller in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"

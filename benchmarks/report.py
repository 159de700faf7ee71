"""The figures as Markdown tables and a chart, and their place in the documentation.

Owns the words and the layout. Every number here comes from a run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import machine
from benchmarks.chart import Bar, svg
from benchmarks.limit import Limit
from benchmarks.results import FOREIGN_CORES
from benchmarks.rounds import Runs
from benchmarks.service import ROOT
from benchmarks.targets import BATCH, find, targets

PAGE = ROOT / "docs" / "explanation" / "performance.md"
CHART = ROOT / "docs" / "explanation" / "performance.svg"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
GROWTH = 0.05
_CONSUMERS = (
    "consumer",
    "msg/s",
    "lowest to highest",
    "qtrigger is",
    "CPU ms/msg",
    "host",
    "workers",
    "peak MB",
    "host",
    "workers",
    "gets/msg",
    "other work, cores",
)
_NOTE = f"\\* other work took more than {FOREIGN_CORES} of a core during a run"


@dataclass(frozen=True, slots=True)
class Measured:
    """All that `make bench` has found."""

    command: str
    rounds: int
    consumers: Sequence[Runs]
    latencies: Sequence[Runs]
    large: Sequence[Runs]
    limit: Limit
    work_ms: Sequence[float] = ()
    """How long a fixed piece of work took, at several times during all this."""


def markdown(found: Measured) -> str:
    """The measured part of the page."""
    when = time.strftime("%-d %B %Y", time.gmtime())
    parts = [
        f"Measured on {when} by `{found.command}`; {_rounds(found.rounds)}.",
        f"{machine.described()}.",
        f"{machine.versions()}.",
        _speed(found.work_ms),
        _section("Side by side", _consumers(found.consumers)),
        _section("Targets", _targets([*found.consumers, *found.latencies])),
        _section("When requests take time", _latencies(found.latencies)),
        _section("A large queue", _large(found.large)),
        _section("The server is not the limit", _limit(found)),
    ]
    return "\n\n".join(part for part in parts if part)


def write(found: Measured) -> None:
    """Put the figures into the page, and the chart beside it."""
    PAGE.write_text(placed(PAGE.read_text(), found))
    CHART.write_text(chart(found.consumers))


def placed(page: str, found: Measured) -> str:
    """A page with the figures in their place, and all else as it was."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{markdown(found)}\n\n{END}{after}"


def chart(consumers: Sequence[Runs]) -> str:
    """Messages a second of each, the most first."""
    bars = [
        Bar(
            name=runs.case.consumer.title,
            value=runs.rate,
            shown=f"{runs.rate:,.0f}",
            ours="qtrigger" in runs.case.consumer.title,
        )
        for runs in sorted(consumers, key=lambda runs: runs.rate, reverse=True)
        if runs.results
    ]
    return svg("Messages a second, from one queue on a local server", bars)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rounds(rounds: int) -> str:
    return "one run of each" if rounds == 1 else f"medians of {rounds} rounds"


def _speed(work_ms: Sequence[float]) -> str:
    if not work_ms:
        return ""
    return (
        f"A fixed piece of Python work took {min(work_ms):.0f} to {max(work_ms):.0f} ms in the"
        " meantime: so much faster or slower was the machine itself."
    )


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _consumers(consumers: Sequence[Runs]) -> str:
    ours = find(consumers, "qtrigger")
    rows = []
    for runs in consumers:
        cells = _figures(runs, ours) if runs.results else ["failed"] * (len(_CONSUMERS) - 1)
        rows.append([runs.case.consumer.title, *cells])
    return _with_notes(table(_CONSUMERS, rows), consumers) if rows else ""


def _figures(runs: Runs, ours: Runs | None) -> list[str]:
    host_mb = runs.median(lambda result: result.peak.host_mb)
    worker_mb = runs.median(lambda result: result.peak.worker_mb)
    return [
        f"{runs.rate:,.0f}",
        f"{runs.lowest:,.0f} to {runs.highest:,.0f}",
        f"{ours.rate / runs.rate:.1f} times" if ours else "",
        f"{runs.median(lambda result: result.cpu_ms):.3f}",
        f"{runs.median(lambda result: result.host_ms):.3f}",
        f"{runs.median(lambda result: result.worker_ms):.3f}",
        f"{host_mb + worker_mb:.0f}",
        f"{host_mb:.0f}",
        f"{worker_mb:.0f}",
        f"{runs.median(lambda result: result.gets):.3f}",
        _foreign(runs),
    ]


def _targets(runs: Sequence[Runs]) -> str:
    rows = []
    for target in targets(runs):
        digits = {"msg/s": 0, "times": 1}.get(target.unit, 3)
        bound = "at most" if target.at_most else "at least"
        rows.append(
            [
                target.what,
                f"{bound} {target.wanted:,.{digits if digits != 3 else 2}f} {target.unit}",
                f"{target.measured:,.{digits}f}",
                "yes" if target.reached else "**no**",
            ]
        )
    return table(["what", "wanted", "measured", "reached"], rows) if rows else ""


def _latencies(latencies: Sequence[Runs]) -> str:
    shown = [
        ("qtrigger", None, "qtrigger"),
        ("qtrigger", BATCH, f"qtrigger, batchSize {BATCH}"),
        ("two-hosts", None, "two hosts"),
        ("sdk-async", None, "SDK, asyncio"),
    ]
    rows = []
    for latency_ms in sorted({runs.case.latency_ms for runs in latencies}):
        cells = [f"{latency_ms:g} ms"]
        for name, batch_size, _ in shown:
            runs = find(latencies, name, latency_ms, batch_size)
            cells.append(f"{runs.rate:,.0f}{_mark(runs)}" if runs else "failed")
            cells.append(f"{runs.median(lambda result: result.cpu_ms):.3f}" if runs else "")
        rows.append(cells)
    head = ["each request takes"]
    for _, _, title in shown:
        head += [f"{title}: msg/s", "CPU ms/msg"]
    return _with_notes(table(head, rows), latencies) if rows else ""


def _large(large: Sequence[Runs]) -> str:
    rows = []
    for runs in large:
        for result in runs.results:
            early, late = result.early, result.late
            grown = (
                late.host_mb / early.host_mb - 1,
                late.worker_mb / early.worker_mb - 1,
            )
            rows.append(
                [
                    f"{result.messages:,}",
                    f"{result.rate:,.0f}{_mark(runs)}",
                    f"{early.host_mb:.1f}",
                    f"{late.host_mb:.1f}",
                    f"{grown[0]:+.1%}",
                    f"{early.worker_mb:.1f}",
                    f"{late.worker_mb:.1f}",
                    f"{grown[1]:+.1%}",
                    "yes" if max(grown) <= GROWTH else "**no**",
                ]
            )
    head = [
        "messages",
        "msg/s",
        "host MB at 10 %",
        "at the end",
        "",
        "worker MB at 10 %",
        "at the end",
        "",
        f"within {GROWTH:.0%}",
    ]
    return _with_notes(table(head, rows), large) if rows else ""


def _limit(found: Measured) -> str:
    ours = find(found.consumers, "qtrigger")
    text = (
        f"It answered a client that costs next to nothing {found.limit.per_s:,.0f} requests a"
        f" second, at {found.limit.request_us:.0f} µs of CPU for each."
    )
    if ours is None:
        return text
    requests = ours.rate * (1 + ours.median(lambda result: result.gets))
    cores = ours.median(lambda result: result.server_cores)
    return (
        f"{text}\nqtrigger asked it {requests:,.0f} times a second,"
        f" which kept it busy for {cores:.2f} of a core."
    )


def _foreign(runs: Runs) -> str:
    return f"{runs.foreign_cores:.2f}{_mark(runs)}"


def _mark(runs: Runs) -> str:
    return " \\*" if runs.disturbed else ""


def _with_notes(text: str, all_runs: Sequence[Runs]) -> str:
    notes = [_NOTE] if any(runs.disturbed for runs in all_runs) else []
    for runs in all_runs:
        title = runs.case.consumer.title
        notes += [f"{title}: {fault}" for fault in runs.faults]
        notes += [f"{title} failed: {failure.splitlines()[0]}" for failure in runs.failures]
    return "\n\n".join([text, *(f"{note}." for note in notes)])

"""What qtrigger wants to reach, beside what was measured.

Owns the numbers that are wanted; the figures come from the runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.rounds import Runs

BATCH = 32
# How many times as many messages a second as what people use instead.
TIMES = {"sdk-async": 5.0, "sdk-tuned": 3.5, "celery": 18.0, "dramatiq": 18.0, "dramatiq-2": 9.0}


@dataclass(frozen=True, slots=True)
class Target:
    """One of them; `wanted` is a lower bound, or an upper one with `at_most`."""

    what: str
    wanted: float
    measured: float
    unit: str
    at_most: bool = False

    @property
    def reached(self) -> bool:
        """Whether the figure keeps to the bound."""
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted


def targets(runs: Sequence[Runs]) -> list[Target]:
    """Those whose figures there are."""
    return [*_at_full_speed(runs), *_at_latency(runs)]


def find(
    runs: Sequence[Runs], name: str, latency_ms: float = 0.0, batch_size: int | None = None
) -> Runs | None:
    """The runs of a case, when any of them has a figure."""
    for found in runs:
        case = found.case
        key = (case.consumer.name, case.latency_ms, case.batch_size)
        if key == (name, latency_ms, batch_size) and found.results:
            return found
    return None


def _at_full_speed(runs: Sequence[Runs]) -> Iterator[Target]:
    ours = find(runs, "qtrigger")
    if ours is None:
        return
    yield Target("messages a second", 8_000, ours.rate, "msg/s")
    for name, times in TIMES.items():
        if theirs := find(runs, name):
            what = f"beside {theirs.case.consumer.title}"
            yield Target(what, times, ours.rate / theirs.rate, "times")
    host_ms = ours.median(lambda result: result.host_ms)
    worker_ms = ours.median(lambda result: result.worker_ms)
    yield Target("CPU of the host", 0.12, host_ms, "ms/msg", at_most=True)
    yield Target("CPU of the worker", 0.05, worker_ms, "ms/msg", at_most=True)
    if tls := find(runs, "tls"):
        host_ms = tls.median(lambda result: result.host_ms)
        yield Target("CPU of the host over TLS", 0.22, host_ms, "ms/msg", at_most=True)
    if two := find(runs, "two-hosts"):
        yield Target("two hosts beside one, at 0 ms", 1.7, two.rate / ours.rate, "times")


def _at_latency(runs: Sequence[Runs]) -> Iterator[Target]:
    wanted = ((None, "batchSize by default", 1_600), (BATCH, f"batchSize {BATCH}", 2_400))
    for batch_size, words, rate in wanted:
        if found := find(runs, "qtrigger", 10.0, batch_size):
            yield Target(f"at 10 ms a request, {words}", rate, found.rate, "msg/s")
    one, two = find(runs, "qtrigger", 10.0), find(runs, "two-hosts", 10.0)
    if one and two:
        what = "two hosts beside one, at 10 ms a request"
        yield Target(what, 1.7, two.rate / one.rate, "times")

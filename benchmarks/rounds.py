"""Many runs in rounds: every case once, then every case again, so that a bad minute hits them all.

Owns the order, the number of messages of a run, and the medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.measure import run
from benchmarks.results import Case, Result
from benchmarks.service import BenchmarkError, Service

SHORTEST_S = 3.0
LONGEST_S = 8.0
WANTED_S = 5.0
SMALLEST = 500
TRIAL_MESSAGES = 500

Tell = Callable[[Case, Result | str], None]
"""Told of each run, or why there is no figure of it."""


@dataclass(slots=True)
class Runs:
    """All runs of one case."""

    case: Case
    results: list[Result] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def median(self, figure: Callable[[Result], float]) -> float:
        """The middle one of what a figure was in each run; there must be one."""
        return statistics.median(figure(result) for result in self.results)

    @property
    def rate(self) -> float:
        """Messages a second, the median; 0 when every run failed."""
        return self.median(lambda result: result.rate) if self.results else 0.0

    @property
    def lowest(self) -> float:
        """The least messages a second of a run."""
        return min((result.rate for result in self.results), default=0.0)

    @property
    def highest(self) -> float:
        """The most messages a second of a run."""
        return max((result.rate for result in self.results), default=0.0)

    @property
    def foreign_cores(self) -> float:
        """The most that other work took during a run."""
        return max((result.foreign_cores for result in self.results), default=0.0)

    @property
    def disturbed(self) -> int:
        """How many runs other work disturbed."""
        return sum(result.disturbed for result in self.results)

    @property
    def faults(self) -> list[str]:
        """What was wrong with messages, in any run."""
        return [fault for result in self.results for fault in result.faults]


def measure(cases: Sequence[Case], service: Service, rounds: int, tell: Tell) -> list[Runs]:
    """Run every case in every round; one that fails once is left out of the rest."""
    all_runs = [Runs(case) for case in cases]
    sizes: dict[Case, int] = {}
    for _ in range(rounds):
        for runs in all_runs:
            if not runs.failures:
                _once_more(runs, service, sizes.get(runs.case), tell)
            if runs.results:
                last = runs.results[-1]
                sizes[runs.case] = next_size(last.messages, last.seconds)
    return all_runs


def once(case: Case, service: Service, messages: int, tell: Tell) -> Runs:
    """Run a case one time with so many messages."""
    runs = Runs(case)
    _once_more(runs, service, messages, tell)
    return runs


def _once_more(runs: Runs, service: Service, messages: int | None, tell: Tell) -> None:
    try:
        result = run(runs.case, service, messages or _first_size(runs.case, service))
    except BenchmarkError as error:
        runs.failures.append(str(error))
        tell(runs.case, str(error))
    else:
        runs.results.append(result)
        tell(runs.case, result)


def next_size(messages: int, seconds: float) -> int:
    """How many messages the next run gets after one that took so long."""
    if SHORTEST_S <= seconds <= LONGEST_S:
        return messages
    return _long_enough(messages / seconds)


def _long_enough(rate: float) -> int:
    return max(round(rate * WANTED_S / 100) * 100, SMALLEST)


def _first_size(case: Case, service: Service) -> int:
    """What is known to last long enough at full speed; else what a short trial tells."""
    if not case.latency_ms:
        return case.consumer.messages
    return _long_enough(run(case, service, TRIAL_MESSAGES).rate)

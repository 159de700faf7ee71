"""Everything that `make bench` measures, and the page that it writes.

`--only` measures some consumers side by side and prints the tables, without writing anything.
Ends with 1 when qtrigger failed, or lost a message or handled one twice.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time

from benchmarks import limit, machine, report, rounds
from benchmarks.consumers import ALL
from benchmarks.one import count, line
from benchmarks.results import Case, Result
from benchmarks.rounds import Runs
from benchmarks.service import ROOT, Service, serving
from benchmarks.targets import BATCH

LATENCIES_MS = (0.0, 2.0, 10.0, 50.0)
LARGE = (100_000, 1_000_000)


def main() -> int:
    """Run from the command line."""
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    names = [name for name in options.only.split(",") if name] or list(ALL)
    if unknown := [name for name in names if name not in ALL]:
        print(f"error: no {', '.join(unknown)}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    whole = not options.only
    began = time.monotonic()
    with serving() as service:
        work_ms = [machine.work_ms()]
        bare = limit.measure(service)
        consumers = rounds.measure(
            [Case(ALL[name]) for name in names], service, options.rounds, _tell
        )
        work_ms.append(machine.work_ms())
        latencies = _latencies(service, options.rounds) if whole else []
        work_ms.append(machine.work_ms())
        large = _large(service, options.large) if whole else []
        work_ms.append(machine.work_ms())
    found = report.Measured(
        command=f"make bench ROUNDS={options.rounds}"
        + (f" ONLY={options.only}" if options.only else ""),
        rounds=options.rounds,
        consumers=consumers,
        latencies=latencies,
        large=large,
        limit=bare,
        work_ms=work_ms,
    )
    print(f"\n{report.markdown(found)}\n\n{(time.monotonic() - began) / 60:.1f} minutes in all")
    if whole:
        report.write(found)
        print(f"written to {report.PAGE.relative_to(ROOT)}")
    return _code([*found.consumers, *found.latencies, *found.large])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=count, default=3)
    parser.add_argument("--only", default="", metavar="NAME,NAME", help=f"of {', '.join(ALL)}")
    parser.add_argument("--large", type=int, default=max(LARGE), help="leave out longer queues")
    return parser


def _latencies(service: Service, count: int) -> list[Runs]:
    ours, two, theirs = ALL["qtrigger"], ALL["two-hosts"], ALL["sdk-async"]
    cases = [
        case
        for latency_ms in LATENCIES_MS
        for case in (
            Case(ours, latency_ms),
            Case(ours, latency_ms, BATCH),
            Case(two, latency_ms),
            Case(theirs, latency_ms),
        )
    ]
    return rounds.measure(cases, service, count, _tell)


def _large(service: Service, longest: int) -> list[Runs]:
    case = Case(ALL["qtrigger"])
    sizes = [messages for messages in LARGE if messages <= longest]
    return [rounds.once(case, service, messages, _tell) for messages in sizes]


def _tell(case: Case, result: Result | str) -> None:
    name = case.consumer.name
    if case.batch_size is not None:
        name += f" batchSize {case.batch_size}"
    if case.latency_ms:
        name += f" at {case.latency_ms:g} ms"
    print(line(name, result) if isinstance(result, Result) else f"{name}: {result}", flush=True)


def _code(all_runs: list[Runs]) -> int:
    ours = [runs for runs in all_runs if "qtrigger" in runs.case.consumer.title]
    return 1 if any(runs.failures or runs.faults for runs in ours) else 0


if __name__ == "__main__":
    sys.exit(main())

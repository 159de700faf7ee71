"""One consumer, one run, one line: `python -m benchmarks.one qtrigger --messages 30000`.

Ends with 1 when messages were lost, or handled or delivered twice.
"""

from __future__ import annotations

import argparse
import signal
import sys

from benchmarks.consumers import ALL
from benchmarks.measure import run
from benchmarks.results import Case, Result
from benchmarks.service import BenchmarkError, serving


def line(name: str, result: Result) -> str:
    """What a run has shown, in short."""
    disturbed = " (DISTURBED)" if result.disturbed else ""
    text = (
        f"{name}: {result.rate:,.0f} msg/s; CPU {result.host_ms:.3f} host"
        f" + {result.worker_ms:.3f} worker ms/msg; peak {result.peak.host_mb:.0f}"
        f" + {result.peak.worker_mb:.0f} MB; {result.gets:.3f} gets/msg;"
        f" {result.messages:,} in {result.seconds:.2f} s;"
        f" server {result.server_cores:.2f} cores, others {result.foreign_cores:.2f}{disturbed}"
    )
    return "; ".join([text, *(fault.upper() for fault in result.faults)])


def count(text: str) -> int:
    """A number of the command line, from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("consumer", choices=list(ALL))
    parser.add_argument("--messages", type=count, help="default: enough for about five seconds")
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS", help="of each request")
    parser.add_argument("--batch-size", type=int, metavar="N", help="batchSize of host.json")
    parser.add_argument("--runs", type=count, default=1, metavar="N", help="one after another")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    consumer = ALL[options.consumer]
    case = Case(consumer, options.latency, options.batch_size)
    messages = options.messages or consumer.messages
    faulty = False
    try:
        with serving() as service:
            for _ in range(options.runs):
                result = run(case, service, messages)
                print(line(consumer.name, result), flush=True)
                faulty = faulty or bool(result.faults)
    except BenchmarkError as error:
        print(f"{consumer.name}: {error}", file=sys.stderr)
        return 1
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())

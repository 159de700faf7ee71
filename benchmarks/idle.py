"""What a host costs that has nothing to do: CPU, requests and memory.

`python -m benchmarks.idle [--functions 1 10 200] [--seconds 60]` prints a Markdown table. Before it
measures, it waits until the polls are as far apart as they get: in Development for a quarter of a
minute, in Production for two and a half.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import small_host
from benchmarks.processes import below
from benchmarks.report import table
from benchmarks.service import serving

# The waits between polls double from 0.1 s up to the longest, 2 s and 60 s.
SETTLED_AFTER_S = {"Development": 15.0, "Production": 150.0}


def idle(functions: int, environment: str, *, seconds: float) -> list[str]:
    """Measure one host, with a server of its own; returns a row of the table."""
    with serving() as service, tempfile.TemporaryDirectory() as folder:
        for queue in small_host.write_project(Path(folder), functions):
            service.create(queue)
        with small_host.host(Path(folder), service, environment=environment) as process:
            small_host.wait_until(lambda: service.stats().gets >= functions, "all polled")
            time.sleep(SETTLED_AFTER_S[environment])
            pids = (process.pid, *below([process.pid]))
            asked, began = service.stats().requests, time.monotonic()
            before = [small_host.usage(pid) for pid in pids]
            time.sleep(seconds)
            took = time.monotonic() - began
            after = [small_host.usage(pid) for pid in pids]
            asked = service.stats().requests - asked
    percent = [
        (now.cpu_s - then.cpu_s) / took * 100 for now, then in zip(after, before, strict=True)
    ]
    return [
        f"{environment}, {functions}",
        f"{sum(percent):.2f} %",
        f"{percent[0]:.2f} %",
        f"{percent[1]:.2f} %",
        f"{asked / took * 3600:,.0f}",
        f"{after[0].rss_mb:.1f} MB",
        f"{after[1].rss_mb:.1f} MB",
    ]


def main() -> None:
    """Measure all of them side by side, since none does much, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--functions", type=int, nargs="+", default=[1, 10, 200])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--environments", nargs="+", default=list(SETTLED_AFTER_S))
    chosen = parser.parse_args()
    cases = [(number, each) for each in chosen.environments for number in chosen.functions]
    with ThreadPoolExecutor(len(cases)) as pool:
        rows = list(pool.map(lambda case: idle(*case, seconds=chosen.seconds), cases))
    head = [
        "functions",
        "CPU",
        "host",
        "worker",
        "requests an hour",
        "host memory",
        "worker memory",
    ]
    print(f"Over {chosen.seconds:g} s, in percent of one core.\n")
    print(table(head, rows))


if __name__ == "__main__":
    main()

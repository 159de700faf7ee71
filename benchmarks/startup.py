"""How long it takes from the command to its answer: `--version`, `--help`, the first message.

`python -m benchmarks.startup [--runs 7]` prints a Markdown table of medians.
"""

# ruff: noqa: S603 - our own command; it prints a table

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from benchmarks import small_host
from benchmarks.processes import below
from benchmarks.report import table
from benchmarks.service import Service, serving

LIMIT_S = 20.0
TEXT = "aGVsbG8="


def command_cpu(*arguments: str) -> float:
    """Seconds of CPU, user and system, of one `qtrigger` command."""
    command = [sys.executable, "-m", "qtrigger", *arguments]
    before = _children_cpu()
    environ = small_host.environ_of()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, timeout=LIMIT_S, check=True)
    return _children_cpu() - before


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Started:
    """One start of a project with one function, whose queue holds one message.

    All figures are seconds since before the process was made, but CPU, and MB for memory.
    """

    def __init__(self, root: Path, service: Service, environment: str) -> None:
        small_host.write_project(root, 1)
        service.reset()
        service.fill("q000", 1, TEXT)
        notes = root / "notes.txt"
        self._ready_at = 0.0
        began = time.monotonic()
        with small_host.host(root, service, environment=environment) as process:
            reader = threading.Thread(target=self._watch, args=(process,), daemon=True)
            reader.start()
            small_host.wait_until(lambda: notes.exists() and bool(notes.read_text()), "a run")
            self.handled_s = float(notes.read_text()) - began
            small_host.wait_until(lambda: service.stats().deletes > 0, "a delete")
            self.deleted_s = time.monotonic() - began
            (worker,) = below([process.pid])
            host_usage, worker_usage = small_host.usage(process.pid), small_host.usage(worker)
            process.terminate()
            reader.join(LIMIT_S)
        self.ready_s = self._ready_at - began
        self.host_cpu_s, self.host_mb = host_usage.cpu_s, host_usage.rss_mb
        self.worker_cpu_s, self.worker_mb = worker_usage.cpu_s, worker_usage.rss_mb

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if not self._ready_at and b"ready" in line:
                self._ready_at = time.monotonic()


def starts(runs: int, environment: str) -> list[Started]:
    """Start so many times, one after the other, each time in a folder of its own."""
    with serving() as service:
        found = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                found.append(Started(Path(folder), service, environment))
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    for environment in ("Development", "Production"):
        starts(1, environment)  # so that the byte code is there
    rows = [
        [
            f"`qtrigger {verb}`, CPU",
            f"{median(command_cpu(verb) for _ in range(runs)) * 1000:.0f} ms",
            target,
        ]
        for verb, target in (("--version", "150 ms"), ("--help", ""))
    ]
    for environment in ("Development", "Production"):
        found = starts(runs, environment)
        rows += [
            [f"{environment}: ready", _ms(found, "ready_s"), ""],
            [f"{environment}: first message handled", _ms(found, "handled_s"), "1000 ms"],
            [f"{environment}: … and deleted", _ms(found, "deleted_s"), ""],
            [f"{environment}: CPU until then, host", _ms(found, "host_cpu_s"), ""],
            [f"{environment}: CPU until then, worker", _ms(found, "worker_cpu_s"), ""],
            [f"{environment}: memory, host", _mb(found, "host_mb"), "70 MB"],
            [f"{environment}: memory, worker", _mb(found, "worker_mb"), "40 MB"],
        ]
    print(f"Medians of {runs}.\n")
    print(table(["", "seen", "target"], rows))


def _ms(found: list[Started], figure: str) -> str:
    return f"{median(getattr(each, figure) for each in found) * 1000:.0f} ms"


def _mb(found: list[Started], figure: str) -> str:
    return f"{median(getattr(each, figure) for each in found):.1f} MB"


if __name__ == "__main__":
    main()

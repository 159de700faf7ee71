"""One run: fill a queue, start a consumer, look when it begins and when it has ended.

Owns the moments at which is measured and the checks of what came of it. The figures begin when
the server has counted a delete, so that starting costs no one anything, and end with the last.
"""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks.consumers import Consumer, Place, python_for
from benchmarks.peers.handled import total
from benchmarks.processes import Usage, below, busy_s, memory_mb, running, usage
from benchmarks.results import Case, Memory, Result
from benchmarks.service import ROOT, BenchmarkError, Service, Stats

# 300 bytes as base64 are 400 characters.
TEXT = base64.b64encode(bytes(range(100, 200)) * 3).decode()
LOOK_S = 0.02
FIRST_LOOK_S = 0.002
EARLY = 0.1
START_S = 60.0
STALLED_S = 30.0
SEND_S = 300.0
COUNT_S = 5.0


@dataclass(frozen=True, slots=True)
class Moment:
    """All that is read at one time."""

    at: float
    stats: Stats
    consumer: Usage
    server: Usage
    busy_s: float
    own_s: float


def run(case: Case, service: Service, messages: int) -> Result:
    """Measure once. Raises BenchmarkError when the consumer does not do its work in time."""
    consumer = case.consumer
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, _log(Path(folder)) as log:
        place = Place(Path(folder), service.connection_string(tls=consumer.tls), case.batch_size)
        handled = place.folder / "handled"
        handled.mkdir()
        environ = _environ(consumer, place, handled, service)
        service.reset()
        service.create(consumer.queue)
        _fill(consumer, service, messages, environ, log)
        service.latency(case.latency_ms)
        service.count_anew()
        command = [python_for(consumer), *consumer.command(place)]
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(running(command, environ, log, ROOT))
                for _ in range(consumer.processes)
            ]
            watch = _Watch(service, started, messages)
            first = watch.begun()
            last = watch.ended()
            memory = (watch.early, watch.memory(), watch.memory(peak=True))
            _counted(handled, messages)
        return _result(messages, first, last, memory, total(handled))


class _Watch:
    """Looks at a run from its start to its end."""

    def __init__(
        self, service: Service, started: list[subprocess.Popen[bytes]], messages: int
    ) -> None:
        self.early = Memory(0.0, 0.0)
        self._messages = messages
        self._service = service
        self._started = started
        self._roots = [process.pid for process in started]

    def begun(self) -> Moment:
        """What stood when its first delete was counted."""
        until = time.monotonic() + START_S
        while self._service.stats().deletes == 0:
            self._alive()
            if time.monotonic() > until:
                raise BenchmarkError(f"nothing was deleted for {START_S:.0f} s after the start")
            time.sleep(FIRST_LOOK_S)
        return self._moment()

    def ended(self) -> Moment:
        """What stood when nothing was left."""
        stats = self._service.stats()
        until = time.monotonic() + STALLED_S
        looked = False
        while stats.left:
            if not looked and stats.deletes >= self._messages * EARLY:
                self.early, looked = self.memory(), True
            self._alive()
            if time.monotonic() > until:
                raise BenchmarkError(f"{stats.left} are left, and it has stopped deleting them")
            time.sleep(LOOK_S)
            before, stats = stats, self._service.stats()
            if stats.deletes > before.deletes:
                until = time.monotonic() + STALLED_S
        return self._moment()

    def memory(self, *, peak: bool = False) -> Memory:
        """What they hold now, or have held at the most."""
        others = below(self._roots)
        return Memory(memory_mb(self._roots, peak=peak), memory_mb(others, peak=peak))

    def _alive(self) -> None:
        for process in self._started:
            if (code := process.poll()) is not None:
                raise BenchmarkError(f"it has ended with exit code {code}")

    def _moment(self) -> Moment:
        others = below(self._roots)
        stats = self._service.stats()
        return Moment(
            at=time.monotonic(),
            stats=stats,
            consumer=usage(self._roots, others),
            server=usage([self._service.pid], []),
            busy_s=busy_s(),
            own_s=time.process_time(),
        )


def _result(
    messages: int,
    first: Moment,
    last: Moment,
    memory: tuple[Memory, Memory, Memory],
    handled: int,
) -> Result:
    deleted = last.stats.deletes - first.stats.deletes
    if deleted < messages / 2:
        raise BenchmarkError("most was done before it was seen to begin: use more messages")
    lasted_s = last.stats.last_delete_at - first.at
    consumer, server = last.consumer.since(first.consumer), last.server.since(first.server)
    watched_s = last.at - first.at
    ours_s = consumer.all_s + server.all_s + last.own_s - first.own_s
    return Result(
        messages=messages,
        seconds=lasted_s,
        rate=deleted / lasted_s,
        host_ms=consumer.host_s / deleted * 1000,
        worker_ms=consumer.worker_s / deleted * 1000,
        early=memory[0],
        late=memory[1],
        peak=memory[2],
        gets=last.stats.gets / last.stats.deletes,
        server_ms=server.all_s / deleted * 1000,
        server_cores=server.all_s / watched_s,
        foreign_cores=max(last.busy_s - first.busy_s - ours_s, 0.0) / watched_s,
        faults=tuple(_faults(messages, last.stats, handled)),
    )


def _faults(messages: int, stats: Stats, handled: int) -> Iterator[str]:
    if stats.deletes != messages:
        yield f"{stats.deletes} deleted of {messages}"
    if handled != messages:
        yield f"{handled} handled of {messages}"
    if stats.again:
        yield f"{stats.again} delivered again"


def _fill(
    consumer: Consumer,
    service: Service,
    messages: int,
    environ: dict[str, str],
    log: IO[bytes],
) -> None:
    if not consumer.sender:
        service.fill(consumer.queue, messages, TEXT)
        return
    command = [python_for(consumer), *consumer.sender, str(messages)]
    with running(command, environ, log, ROOT) as process:
        try:
            code = process.wait(SEND_S)
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"its sender has not ended within {SEND_S:.0f} s") from None
    if code != 0 or service.stats().left != messages:
        raise BenchmarkError(f"its sender left {service.stats().left} of {messages} (code {code})")


def _counted(handled: Path, messages: int) -> None:
    """Wait for the last to be counted, where a consumer deletes before it handles."""
    until = time.monotonic() + COUNT_S
    while total(handled) < messages and time.monotonic() < until:
        time.sleep(LOOK_S)


def _environ(consumer: Consumer, place: Place, handled: Path, service: Service) -> dict[str, str]:
    environ = {
        **{name: value for name, value in os.environ.items() if not _changes_what_runs(name)},
        "PYTHONPATH": str(ROOT),
        "BENCH_CONNECTION": place.connection_string,
        "BENCH_QUEUE": consumer.queue,
        "BENCH_HANDLED": str(handled),
        # dramatiq-azure's own name for it.
        "AZURE_STORAGE_CONNECTION_STR": place.connection_string,
    }
    if consumer.tls:
        environ["SSL_CERT_FILE"] = str(service.certificate)
    return environ


def _changes_what_runs(name: str) -> bool:
    """Whether a variable would send requests or workers another way."""
    return "proxy" in name.lower() or name == "VIRTUAL_ENV"


@contextlib.contextmanager
def _log(folder: Path) -> Iterator[IO[bytes]]:
    """Where the processes write; its last lines are told with what went wrong."""
    file = folder / "log"
    with file.open("ab") as log:
        try:
            yield log
        except BenchmarkError as error:
            lines = file.read_text(errors="replace").splitlines()[-15:]
            raise BenchmarkError("\n  ".join([str(error), *lines])) from None

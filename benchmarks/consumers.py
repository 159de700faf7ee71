"""What is measured: each consumer's command, its queue, and how many messages it gets.

Owns names and commands. How a run goes is `measure`'s, what the commands do is in `peers`.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.service import ROOT, BenchmarkError

QUEUE = "bench"
PEERS_PYTHON = ROOT / "benchmarks" / ".venv" / "bin" / "python"

NOOP = """\
import azure.functions as func

from benchmarks.peers.handled import from_environment

handled = from_environment()


async def main(msg: func.QueueMessage) -> None:
    handled.one()
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens."""

    folder: Path
    connection_string: str
    batch_size: int | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    """Something that empties a queue until it is told to stop."""

    name: str
    title: str
    messages: int
    """How many a run takes that shall last about five seconds."""
    command: Callable[[Place], list[str]]
    """What its Python is given."""
    queue: str = QUEUE
    processes: int = 1
    sender: tuple[str, ...] = ()
    """What sends its messages, before their number; without it they are filled in."""
    needs: str = ""
    """The module without which it cannot run."""
    tls: bool = False


def qtrigger(place: Place) -> list[str]:
    """A project with one function, and the command that runs it, as in production: without HTTP."""
    return [*with_pages(place), "--no-http"]


def with_pages(place: Place) -> list[str]:
    """The same with the dashboard and metrics, as in development; nobody looks at them."""
    root = place.folder / "project"
    folder = root / "functions" / "noop"
    folder.mkdir(parents=True, exist_ok=True)
    host: dict[str, object] = {"version": "2.0"}
    if place.batch_size is not None:
        host["extensions"] = {"queues": {"batchSize": place.batch_size}}
    _write(root / "host.json", host)
    values = {"AzureWebJobsStorage": place.connection_string}
    _write(root / "local.settings.json", {"IsEncrypted": False, "Values": values})
    trigger = {"type": "queueTrigger", "direction": "in", "name": "msg", "queueName": QUEUE}
    _write(folder / "function.json", {"bindings": [trigger | {"connection": ""}]})
    (folder / "__init__.py").write_text(NOOP)
    return ["-m", "qtrigger", "start", str(root), "--emulator", "none", "--log-level", "warning"]


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content))


def _module(module: str, *arguments: str) -> Callable[[Place], list[str]]:
    return lambda _: ["-m", module, *arguments]


def _peer(module: str, *arguments: str) -> Callable[[Place], list[str]]:
    return _module(f"benchmarks.peers.{module}", *arguments)


_CELERY = (
    "-A benchmarks.peers.celery_app worker -P solo -l ERROR -Q celery"
    " --without-gossip --without-mingle --without-heartbeat"
)


_DRAMATIQ = Consumer(
    name="dramatiq",
    title="dramatiq-azure, 1 process, 24 threads",
    messages=2_000,
    command=_module("dramatiq", "benchmarks.peers.dramatiq_app", "-p", "1", "-t", "24"),
    queue="default",
    sender=("-m", "benchmarks.peers.dramatiq_app"),
    needs="dramatiq_azure",
)

ALL = {
    consumer.name: consumer
    for consumer in (
        Consumer("qtrigger", "qtrigger", 40_000, qtrigger),
        Consumer("two-hosts", "qtrigger, two hosts", 60_000, qtrigger, processes=2),
        Consumer("http", "qtrigger, its dashboard and metrics on", 40_000, with_pages),
        Consumer("tls", "qtrigger over TLS", 25_000, qtrigger, tls=True),
        Consumer("sdk-sync", "azure-storage-queue, plain loop", 5_000, _peer("sdk_sync")),
        Consumer("sdk-async", "azure-storage-queue, asyncio", 7_000, _peer("sdk_async")),
        Consumer(
            "sdk-tuned",
            "azure-storage-queue, asyncio, tuned",
            11_000,
            _peer("sdk_async", "--tuned"),
        ),
        Consumer("by-hand", "aiohttp alone, signed by hand", 40_000, _peer("by_hand")),
        Consumer(
            name="celery",
            title="Celery, solo",
            messages=2_000,
            command=_module("celery", *_CELERY.split()),
            queue="celery",
            sender=("-m", "benchmarks.peers.celery_app"),
            needs="celery",
        ),
        _DRAMATIQ,
        dataclasses.replace(
            _DRAMATIQ,
            name="dramatiq-2",
            title="dramatiq-azure, 2 processes, 24 threads each",
            messages=4_000,
            command=_module("dramatiq", "benchmarks.peers.dramatiq_app", "-p", "2", "-t", "24"),
        ),
    )
}


def python_for(consumer: Consumer) -> str:
    """The interpreter that has what it needs. Raises BenchmarkError when none has."""
    if not consumer.needs or importlib.util.find_spec(consumer.needs):
        return sys.executable
    if PEERS_PYTHON.exists():
        return str(PEERS_PYTHON)
    raise BenchmarkError(
        f"{consumer.name} needs {consumer.needs}: `make bench ONLY={consumer.name}` brings it"
    )

"""What is measured: each consumer's command, its queue, and how many messages it gets.

Owns names and commands. How a run goes is `measure`'s, what the commands do is in `peers`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

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
    queue: str = QUEUE
    processes: int = 1
    sender: tuple[str, ...] = ()
    """The command that sends its messages, before their number; without one they are filled in."""
    queues: tuple[str, ...] = ()
    """Others that it wants to find."""
    needs: str = ""
    """The module without which it cannot run."""
    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tls: bool = False


def qtrigger(place: Place) -> list[str]:
    """A project with one function, and the command that runs it."""
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
    start = ["-m", "qtrigger", "start", str(root), "--emulator", "none", "--log-level", "warning"]
    return [sys.executable, *start]


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content))


def _peer(module: str, *arguments: str) -> Callable[[Place], list[str]]:
    return lambda _: [sys.executable, "-m", f"benchmarks.peers.{module}", *arguments]


ALL = {
    consumer.name: consumer for consumer in (Consumer("qtrigger", "qtrigger", 40_000, qtrigger),)
}


def python_for(consumer: Consumer) -> str:
    """The interpreter that has what it needs. Raises BenchmarkError when none has."""
    if not consumer.needs or importlib.util.find_spec(consumer.needs):
        return sys.executable
    if PEERS_PYTHON.exists():
        return str(PEERS_PYTHON)
    raise BenchmarkError(f"{consumer.name} needs {consumer.needs}: make bench-setup brings it")

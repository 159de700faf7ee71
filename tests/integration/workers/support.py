"""What the worker tests share: specs from function folders, messages, started workers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from qtrigger.clock import SystemClock
from qtrigger.invocation import (
    Failed,
    Invocation,
    Outcome,
    Ran,
    Succeeded,
    TriggerMessage,
)
from qtrigger.testing.probe import Probe
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.process import PythonWorker
from qtrigger.workers.worker import FunctionSpec

PROJECTS = Path(__file__).parents[2] / "projects"
CONTRACT = PROJECTS / "contract"
TRIGGER = {"name": "msg", "type": "queueTrigger", "direction": "in"}
RETURN = {"name": "$return", "type": "queue", "direction": "out"}
INSERTED = datetime(2026, 12, 1, 10, 0, 0, 123456, tzinfo=UTC)
NEVER = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)

_numbers = count(1)


def spec_of(
    directory: Path, *, script: str = "__init__.py", outputs: str = "azure"
) -> FunctionSpec:
    bindings = json.loads((directory / "function.json").read_text("utf-8"))["bindings"]
    return FunctionSpec(
        name=directory.name,
        directory=directory,
        script_file=directory / script,
        entry_point="main",
        bindings=tuple(bindings),
        concurrency=24,
        outputs=outputs,
    )


def specs_of(root: Path) -> list[FunctionSpec]:
    return [spec_of(file.parent) for file in sorted((root / "functions").glob("*/function.json"))]


def write_function(
    root: Path,
    name: str,
    code: str,
    *,
    bindings: Sequence[Mapping[str, Any]] = (TRIGGER,),
    outputs: str = "azure",
) -> FunctionSpec:
    """A function folder with that code, and its spec."""
    directory = root / "functions" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "__init__.py").write_text(textwrap.dedent(code), "utf-8")
    (directory / "function.json").write_text(json.dumps({"bindings": list(bindings)}), "utf-8")
    return spec_of(directory, outputs=outputs)


def invocation(
    function: str, body: bytes | str = b"", *, timeout_s: float | None = None
) -> Invocation:
    number = next(_numbers)
    message = TriggerMessage(
        id=f"message-{number}",
        body=body.encode() if isinstance(body, str) else body,
        dequeue_count=2,
        inserted=INSERTED,
        expires=NEVER,
        next_visible=INSERTED,
        pop_receipt="receipt",
    )
    return Invocation(
        id=f"invocation-{number}",
        function=function,
        messages=(message,),
        max_dequeue_count=5,
        timeout_s=timeout_s,
    )


@dataclass
class Workshop:
    """Makes process workers for one project, and ends them all."""

    root: Path
    env: Mapping[str, str] = field(default_factory=dict)
    interpreter: Path = Path(sys.executable)
    deadlines: Deadlines = field(default_factory=Deadlines)
    probe: Probe = field(default_factory=Probe)
    made: list[PythonWorker] = field(default_factory=list)

    def make(self) -> PythonWorker:
        worker = PythonWorker(
            interpreter=self.interpreter,
            root=self.root,
            env={**os.environ, **self.env},
            clock=SystemClock(),
            events=self.probe,
            deadlines=self.deadlines,
        )
        self.made.append(worker)
        return worker

    async def close(self) -> None:
        for worker in self.made:
            await worker.stop(0.0)


def outcome(ran: Ran) -> Outcome:
    (only,) = ran.outcomes
    return only


def written(ran: Ran) -> dict[str, list[bytes]]:
    """What a run that succeeded wrote, by binding."""
    succeeded = outcome(ran)
    assert isinstance(succeeded, Succeeded), succeeded
    return {o.binding: [item.body for item in o.items] for o in succeeded.outputs}


def returned(ran: Ran) -> list[bytes]:
    return written(ran)["$return"]


def failure(ran: Ran) -> Failed:
    failed = outcome(ran)
    assert isinstance(failed, Failed), failed
    return failed


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what no event tells, at most half a minute."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.001)

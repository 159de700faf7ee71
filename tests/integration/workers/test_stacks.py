"""A worker process says where the code of a run stands, without stopping it."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.events import UserLog
from qtrigger.invocation import Succeeded
from tests.integration.workers.support import Workshop, invocation, until
from tests.integration.workers.test_process_end import BLOCKS, started

AWAITS = """
    import asyncio, os

    async def main(msg: str):
        print("waiting", flush=True)
        await outer(msg)

    async def outer(path):
        while not os.path.exists(path):
            await asyncio.sleep(0.005)
"""

HOLDS_THE_LOOP = """
    import os, time

    async def main(msg: str):
        print("blocking", flush=True)
        hold(msg)

    def hold(path):
        while not os.path.exists(path):
            time.sleep(0.005)
"""


@pytest.mark.parametrize(
    ("code", "said", "names"),
    [
        (BLOCKS, "blocking", ["main"]),
        (AWAITS, "waiting", ["main", "outer"]),
        (HOLDS_THE_LOOP, "blocking", ["main", "hold"]),
    ],
    ids=["plain", "awaits", "holds the loop"],
)
async def test_a_run_under_way_says_where_it_stands_and_goes_on(
    workshop: Workshop, code: str, said: str, names: list[str]
) -> None:
    worker = await started(workshop, ("slow", code))
    flag = workshop.root / "flag"
    run = invocation("slow", str(flag))
    task = asyncio.create_task(worker.invoke(run))
    await until(lambda: any(said in line.message for line in workshop.probe.of(UserLog)))

    stack = await worker.where(run.id)
    flag.touch()

    found = [line.rpartition(" in ")[2] for line in stack.splitlines() if " in " in line]
    # What the innermost of them calls in the library is there as well, or has just returned.
    assert found[: len(names)] == names
    assert "qtrigger/workers" not in stack
    assert (await task).outcomes == (Succeeded(),)
    assert await worker.where(run.id) == ""

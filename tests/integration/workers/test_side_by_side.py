"""Plain functions that wait, with nothing set: as many side by side as a host may give them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from qtrigger.assembly import function_spec
from qtrigger.cli.projects import load
from qtrigger.clock import SystemClock
from qtrigger.testing.probe import Probe
from tests.integration.workers.support import RETURN, TRIGGER, invocation, returned, write_function
from tests.integration.workers.test_decorated import ENVIRON

CODE = """
    import os, threading, time

    everybody = threading.Barrier(24)

    def main(msg: str) -> str:
        everybody.wait(30)
        time.sleep(1)
        return str(os.getpid())
"""


async def test_twenty_four_plain_functions_that_sleep_a_second_take_about_one(
    tmp_path: Path,
) -> None:
    """What batchSize and newBatchThreshold allow by default, in one worker process."""
    names = {"queueName": "asks", "connection": "AzureWebJobsStorage"}
    (tmp_path / "host.json").write_text('{"version": "2.0"}')
    write_function(tmp_path, "sleeps", CODE, bindings=({**TRIGGER, **names}, {**RETURN, **names}))
    clock, probe = SystemClock(), Probe()
    loaded = await load(tmp_path, ENVIRON, "Development", clock=clock, sink=probe)
    pool, _ = loaded.open_workers(1, clock, probe)
    await pool.start([function_spec(each) for each in loaded.project.functions])
    began = time.monotonic()

    ran = await asyncio.gather(*(pool.invoke(invocation("sleeps")) for _ in range(24)))

    took_s = time.monotonic() - began
    await pool.stop(0.0)
    await loaded.close()
    assert len({returned(one)[0] for one in ran}) == 1
    assert took_s < 12  # one after the other they take 24 s

"""A sign of life each minute."""

from __future__ import annotations

import asyncio

from qtrigger.events import Heartbeat
from qtrigger.telemetry.heartbeat import beat
from qtrigger.telemetry.line import line_of
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe


async def test_each_minute_the_counts_since_the_start_are_told() -> None:
    clock, probe, counts = ManualClock(), Probe(), {"succeeded": 0, "failed_tries": 0}
    beating = asyncio.ensure_future(beat(clock, probe, lambda: dict(counts)))

    await clock.advance(59.0)
    assert probe.of(Heartbeat) == []
    counts["succeeded"] = 1204
    await clock.advance(61.0)
    beating.cancel()

    texts = [line_of(event).text for event in probe.of(Heartbeat)]
    assert texts == ["1,204 ok · 0 failed · up 1 min", "1,204 ok · 0 failed · up 2 min"]

"""How often a process's peak memory is looked at."""

from __future__ import annotations

from qtrigger.testing.clock import ManualClock
from qtrigger.workers.memory import PeakMemory


class Readings:
    """The peak that a process has at each moment, and when it was asked for."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.kib = 1000
        self.looks: list[float] = []

    def read(self, _pid: int) -> int:
        self.looks.append(self._clock.monotonic())
        return self.kib


async def test_a_peak_that_does_not_grow_is_looked_at_ever_more_rarely_down_to_every_8_s() -> None:
    clock = ManualClock()
    readings = Readings(clock)

    PeakMemory(clock, 1, readings.read)
    await clock.advance(40.0)

    assert readings.looks == [0, 1, 3, 7, 15, 23, 31, 39]


async def test_a_peak_that_has_grown_is_looked_at_a_second_later() -> None:
    clock = ManualClock()
    readings = Readings(clock)
    PeakMemory(clock, 1, readings.read)
    await clock.advance(16.0)
    readings.looks.clear()

    readings.kib = 2000
    await clock.advance(9.0)

    assert readings.looks == [23, 24]


async def test_a_process_that_has_ended_is_not_looked_at_again() -> None:
    clock = ManualClock()
    readings = Readings(clock)
    peak = PeakMemory(clock, 1, readings.read)

    peak.end()
    await clock.advance(60.0)

    assert readings.looks == [0]

"""Pauses by hand: what is written holds listeners, over restarts, and what runs goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from qtrigger.events import FunctionPaused, FunctionResumed, HostLog, HostReady, InvocationFinished
from qtrigger.host import Host
from qtrigger.pauses import Pause, PauseFile
from tests.unit.test_host import FadingWorkers, House, quick


class Paused:
    """A house whose functions can be paused, as another process would do it."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.file = PauseFile(folder / "state")
        self.house = House(dict.fromkeys(names or ("slow", "quick"), self.work))
        self.house.pauses = self.file
        self.runs: list[str] = []
        self.run_s = 0.0

    async def work(self, msg: str) -> None:
        self.runs.append(msg)
        await self.house.clock.sleep(self.run_s)

    async def pause(self, name: str, *, for_s: float | None = None, reason: str = "") -> None:
        now = self.house.clock.utcnow()
        until = None if for_s is None else now + timedelta(seconds=for_s)
        pause = Pause(function=name, since=now, until=until, reason=reason, by="ann@box")
        await self.house.clock.run(self.file.pause(pause, self.house.clock))

    async def resume(self, name: str) -> None:
        await self.house.clock.run(self.file.resume(name, self.house.clock))

    async def stop(self, host: Host) -> None:
        await self.house.clock.run(host.stop("test", up_to_s=1.0, at_once=asyncio.Event()))

    def untouched(self, queue: str) -> int:
        """The messages there that nobody has received."""
        return [each.dequeue_count for each in self.house.service.peek_all(queue)].count(0)


@pytest.fixture
def paused(tmp_path: Path) -> Paused:
    return Paused(tmp_path)


async def test_a_paused_function_is_asked_for_no_more_within_a_second(paused: Paused) -> None:
    await paused.house.put("slow")
    await paused.house.put("quick")
    host = await paused.house.start_host()
    await paused.house.clock.advance(5.0)

    await paused.pause("Slow", reason="the bank is down")
    await paused.house.clock.advance(1.0)
    await paused.house.put("slow", "a", "b")
    await paused.house.put("quick", "c")
    await paused.house.clock.advance(300.0)

    assert (paused.runs, paused.untouched("slow")) == (["c"], 2)
    (event,) = paused.house.probe.of(FunctionPaused)
    assert (event.function, event.by, event.reason) == ("slow", "ann@box", "the bank is down")
    await paused.stop(host)


async def test_what_is_in_hand_at_a_pause_goes_on_to_its_end(paused: Paused) -> None:
    paused.run_s = 30.0
    await paused.house.put("slow", "a")
    host = await paused.house.start_host()
    await paused.house.clock.advance(1.0)

    await paused.pause("slow")
    await paused.house.clock.advance(60.0)

    assert [each.disposition for each in paused.house.probe.of(InvocationFinished)] == ["acked"]
    await paused.stop(host)


async def test_what_an_answer_under_way_at_a_pause_brings_is_run(paused: Paused) -> None:
    """It was received, which costs it a try, whether it runs or not."""
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    paused.house.service.slow("receive", 2.0, queue="slow")
    host = await paused.house.start_host()
    await paused.house.clock.advance(0.1)

    await paused.pause("slow")
    await paused.house.clock.advance(10.0)

    assert paused.runs == ["a"]
    await paused.stop(host)


async def test_a_pause_before_the_request_keeps_it_from_being_made(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    paused.house.service.slow("exists", 5.0, queue="slow")
    host = await paused.house.start_host()
    await paused.house.clock.advance(0.1)

    await paused.pause("slow")
    await paused.house.clock.advance(60.0)

    assert (paused.runs, paused.untouched("slow")) == ([], 1)
    await paused.stop(host)


async def test_a_pause_outlives_the_host_and_holds_from_the_start(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    await paused.pause("slow", for_s=3600.0)

    host = await paused.house.start_host()
    await paused.house.clock.advance(60.0)

    assert (paused.runs, paused.untouched("slow")) == ([], 1)
    (slow,) = [
        each for each in paused.house.probe.of(HostReady)[0].functions if each.name == "slow"
    ]
    assert slow.state == "paused"
    assert slow.why == "by ann@box until 2026-01-01 01:00:00 UTC"
    assert paused.house.probe.of(FunctionPaused) == []
    await paused.stop(host)


async def test_a_resumed_function_is_polled_at_once(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    await paused.pause("slow")
    host = await paused.house.start_host()
    await paused.house.clock.advance(60.0)

    await paused.resume("slow")
    await paused.house.clock.advance(1.0)

    assert paused.runs == ["a"]
    (event,) = paused.house.probe.of(FunctionResumed)
    assert (event.function, event.cause, event.held) == ("slow", "hand", ())
    await paused.stop(host)


async def test_a_pause_ends_by_itself_when_its_time_is_over(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    await paused.pause("slow", for_s=90.0)
    host = await paused.house.start_host()

    await paused.house.clock.advance(89.0)
    assert paused.runs == []
    await paused.house.clock.advance(2.0)

    assert paused.runs == ["a"]
    assert [each.cause for each in paused.house.probe.of(FunctionResumed)] == ["time"]
    await paused.stop(host)


async def test_a_function_polls_only_when_no_reason_for_a_pause_is_left(tmp_path: Path) -> None:
    paused = Paused(tmp_path)
    workers = FadingWorkers(paused.house.functions, clock=paused.house.clock)
    host = paused.house.host(workers)
    await paused.house.put("slow")
    await paused.house.put("quick")
    await paused.house.clock.run(host.start(workers=1, interpreter="this one", began_at=0.0))
    await paused.house.clock.advance(1.0)
    await paused.pause("slow")
    await paused.house.clock.advance(1.0)
    workers.fade("slow")
    await paused.house.put("slow", "a")

    workers.fade()
    await paused.house.clock.advance(10.0)
    assert paused.runs == []
    assert paused.house.probe.of(FunctionResumed)[0].held == ("hand",)
    await paused.resume("slow")
    await paused.house.clock.advance(1.0)

    assert paused.runs == ["a"]
    await paused.stop(host)


async def test_a_paused_function_has_nothing_to_do_for_exit_when_idle(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick", "b")
    await paused.pause("slow")

    await paused.house.clock.run(paused.house.supervisor(idle_s=10.0).run(), limit_s=60.0)

    assert (paused.runs, paused.untouched("slow")) == (["b"], 1)


async def test_a_stop_ends_the_wait_of_a_paused_function(paused: Paused) -> None:
    await paused.pause("slow")
    host = await paused.house.start_host()
    await paused.house.clock.advance(1.0)
    began_at = paused.house.clock.monotonic()

    await paused.stop(host)

    assert paused.house.clock.monotonic() - began_at < 1.0


async def test_a_broken_file_is_one_warning_and_pauses_nothing(paused: Paused) -> None:
    await paused.pause("slow")
    paused.file.path.write_text('{"version": 1, "paused"')
    await paused.house.put("slow", "a")
    await paused.house.put("quick")

    host = await paused.house.start_host()
    await paused.house.clock.advance(60.0)

    assert paused.runs == ["a"]
    (told,) = paused.house.probe.of(HostLog)
    assert "pauses.json cannot be read" in told.message
    assert "qtrigger pause FUNCTION" in told.message
    await paused.stop(host)


async def test_a_file_that_breaks_later_takes_no_pause_back(paused: Paused) -> None:
    await paused.pause("slow")
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    host = await paused.house.start_host()
    content = paused.file.path.read_text()

    paused.file.path.write_text(content[:20])
    await paused.house.clock.advance(60.0)

    assert paused.runs == []
    (told,) = paused.house.probe.of(HostLog)
    assert "so what was paused stays so" in told.message

    await paused.resume("slow")
    await paused.house.clock.advance(60.0)
    assert paused.runs == ["a"]
    await paused.stop(host)


async def test_another_generation_knows_the_pause_too(paused: Paused) -> None:
    await paused.house.put("slow", "a")
    await paused.house.put("quick")
    await paused.pause("slow")
    supervisor = paused.house.supervisor()
    task = asyncio.create_task(supervisor.run())
    await paused.house.clock.advance(5.0)

    supervisor.request_reload()
    await paused.house.clock.advance(60.0)

    assert paused.untouched("slow") == 1
    assert len(paused.house.probe.of(HostReady)) == 2
    supervisor.request_stop("test")
    await paused.house.clock.run(task)


async def test_a_host_without_pauses_looks_for_none() -> None:
    house = House({"quick": quick})
    await house.put("quick", "a")
    host = await house.start_host()
    await house.clock.advance(1.0)

    assert house.service.peek_all("quick") == []
    await house.clock.run(host.stop("test", up_to_s=1.0, at_once=asyncio.Event()))

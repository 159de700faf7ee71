"""How a host stands: each function's state and why, its counts, and what is on its queue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qtrigger.events import BreakerOpened, FunctionLoadFailed, ReloadRejected
from qtrigger.happened import Happened
from qtrigger.host import Host
from qtrigger.listener import BROKEN, UNLOADED
from qtrigger.pauses import Pause, PauseFile
from qtrigger.project.model import Problem, Severity
from qtrigger.standing import NO_ANSWER, Standing
from qtrigger.telemetry.sinks import FanOut
from qtrigger.testing.clock import START
from tests.unit.test_host import House, quick


class Process:
    pid = 42
    running = 3
    silent_s = 0.0

    def ask(self) -> None:
        pass


class Pool:
    processes: Sequence[Process] = (Process(),)


class Stand:
    """A host of a house, and how it stands."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.happened = Happened(house.clock)
        self.standing = Standing(
            self.happened, version="1.2", clock=house.clock, held_kib=lambda _pid: 10
        )
        house.probe = FanOut(house.probe, self.happened)  # type: ignore[assignment]
        self.host: Host | None = None

    async def start(self) -> None:
        self.host = await self.house.start_host()
        self.standing.now(self.host, Pool())
        await self.house.clock.advance(1.0)

    async def document(self, *, queues: bool = False) -> Any:
        asking = asyncio.ensure_future(self.standing.document(queues=queues))
        return await self.house.clock.run(asking)

    async def function(self, name: str, *, queues: bool = False) -> Any:
        found = await self.document(queues=queues)
        return next(each for each in found["functions"] if each["name"] == name)

    async def stop(self) -> None:
        assert self.host is not None
        stopping = self.host.stop("test", up_to_s=1.0, at_once=asyncio.Event())
        await self.house.clock.run(asyncio.ensure_future(stopping))
        self.happened.close()


async def ok(msg: str) -> None:
    """Do nothing."""


async def bad(msg: str) -> None:
    raise ValueError("no card")


async def test_a_process_is_starting_then_ready_then_draining() -> None:
    stand = Stand(House({"charge": ok}))
    assert (await stand.document())["state"] == "starting"

    await stand.start()
    ready = await stand.document()
    await stand.stop()

    assert (ready["state"], ready["qtrigger"], ready["generation"]) == ("ready", "1.2", 1)
    (worker,) = ready["workers"]
    assert worker == {"pid": 42, "running": 3, "memory_bytes": 10_240, "stands_still": False}
    assert (await stand.document())["state"] == "draining"


async def test_what_has_become_of_messages_is_counted_by_function() -> None:
    stand = Stand(House({"charge": ok, "refund": bad}))
    await stand.house.put("charge", "a", "b")
    await stand.house.put("refund", "c")
    await stand.start()

    charge, refund = await stand.function("charge"), await stand.function("refund")
    await stand.stop()

    assert (charge["succeeded"], charge["failed"], charge["last_error"]) == (2, 0, None)
    assert charge["last_success"] is not None
    assert (refund["succeeded"], refund["failed"], refund["poisoned"]) == (0, 5, 1)
    assert refund["last_success"] is None
    assert refund["last_error"]["type"] == "ValueError"
    assert refund["last_error"]["message"] == "no card"


async def test_the_rate_is_that_of_the_last_minute() -> None:
    stand = Stand(House({"charge": ok}))
    await stand.start()
    await stand.house.put("charge", *map(str, range(60)))
    await stand.house.clock.advance(59.0)
    busy = (await stand.function("charge"))["per_second"]
    await stand.house.clock.advance(120.0)
    idle = (await stand.function("charge"))["per_second"]
    await stand.stop()

    assert busy == pytest.approx(1.0, abs=0.05)
    assert idle == 0.0


async def test_ours_are_told_from_what_others_hide() -> None:
    """103 messages are not visible: three are worked on here, a hundred were sent for later."""
    house, release = House({}), asyncio.Event()

    async def slow(msg: str) -> None:
        await release.wait()

    house.functions["charge"] = slow
    await house.put("charge", "1", "2", "3")
    queue = house.service.queue("charge")
    for number in range(100):
        await queue.send(str(number), delay_s=3600.0)
    stand = Stand(house)
    await stand.start()

    found = await stand.function("charge", queues=True)
    release.set()
    await stand.stop()

    assert (found["messages"]["ours"], found["messages"]["hidden"]) == (3, 100)
    assert (found["running"], found["messages"]["waiting"]) == (3, 0)


async def test_what_waits_is_told_with_the_age_of_the_oldest(tmp_path: Path) -> None:
    house = House({"charge": ok})
    house.pauses = await paused(tmp_path, house)
    await house.put("charge", "a", "b")
    stand = Stand(house)
    await stand.start()
    await house.clock.advance(90.0)

    found = await stand.function("charge", queues=True)
    await stand.stop()

    messages = found["messages"]
    assert (messages["waiting"], messages["hidden"], messages["more"]) == (2, 0, False)
    assert messages["oldest_s"] == pytest.approx(91.0, abs=1.0)


async def test_with_more_than_a_peek_shows_nothing_is_said_of_hidden_ones(tmp_path: Path) -> None:
    house = House({"charge": ok})
    house.pauses = await paused(tmp_path, house)
    await house.put("charge", *map(str, range(40)))
    stand = Stand(house)
    await stand.start()

    messages = (await stand.function("charge", queues=True))["messages"]
    await stand.stop()

    assert (messages["waiting"], messages["more"], messages["hidden"]) == (40, True, None)


async def paused(folder: Path, house: House) -> PauseFile:
    file = PauseFile(folder / "state")
    pause = Pause(function="charge", since=START, reason="the bank is down", by="ann@box")
    await file.pause(pause, house.clock)
    return file


async def test_each_state_of_a_function_comes_with_why(tmp_path: Path) -> None:
    house = House({"charge": ok, "refund": ok, "gone": ok, "off": ok}, disabled=("off",))
    house.pauses = await paused(tmp_path, house)
    await house.put("charge")
    await house.put("refund")
    stand = Stand(house)
    await stand.start()
    assert stand.host is not None

    states = {
        each["name"]: (each["state"], each["why"]) for each in (await stand.document())["functions"]
    }
    assert states["charge"] == ("paused", "by ann@box until resumed: the bank is down")
    assert states["refund"] == ("ready", "")
    assert states["gone"] == ("queue missing", "queue 'gone' does not exist yet")
    assert states["off"][0] == "disabled"

    refund = next(each for each in stand.host.listeners if each.function == "refund")
    stand.happened.emit(
        BreakerOpened(
            function="refund",
            queue="refund",
            failures=10,
            messages=4,
            error_type="OSError",
            error="down",
            pause_s=60.0,
            probe=False,
        )
    )
    refund.pause(BROKEN)
    found = await stand.function("refund")
    assert found["state"] == "breaker open"
    assert found["why"] == "10 failures in a row, OSError: down"

    stand.happened.emit(FunctionLoadFailed(function="refund", place="", message="no module x"))
    refund.pause(UNLOADED)
    found = await stand.function("refund")
    assert (found["state"], found["why"]) == ("failed", "no module x")
    await stand.stop()


async def test_a_service_that_does_not_answer_costs_two_seconds_and_no_more() -> None:
    house = House({"charge": ok})
    await house.put("charge")
    stand = Stand(house)
    await stand.start()
    began = house.clock.monotonic()
    stuck = asyncio.Event()

    async def never(_count: int = 0) -> Any:
        await stuck.wait()

    assert stand.host is not None
    faulty(stand.host, peek=never)

    found = await stand.function("charge", queues=True)
    took_s = house.clock.monotonic() - began
    await stand.stop()

    assert found["messages"]["problem"] == NO_ANSWER
    assert took_s == pytest.approx(2.0, abs=0.1)


async def test_who_looks_often_does_not_ask_the_service_as_often() -> None:
    house = House({"charge": ok})
    await house.put("charge")
    stand = Stand(house)
    await stand.start()
    asked: list[int] = []

    async def peek(count: int) -> Sequence[Any]:
        asked.append(count)
        return ()

    assert stand.host is not None
    faulty(stand.host, peek=peek)
    for _ in range(5):
        await stand.document(queues=True)
    await house.clock.advance(3.0)
    await stand.document(queues=True)
    await stand.stop()

    assert len(asked) == 2


def faulty(host: Host, **verbs: Any) -> None:
    """Give the listeners another queue to be looked at."""

    class Other:
        name = "charge"

        async def approximate_count(self) -> int:
            return 0

    other = Other()
    for name, verb in verbs.items():
        setattr(other, name, verb)
    for listener in host.listeners:
        listener.queue = other  # type: ignore[assignment]


async def test_a_reload_and_its_rejection_are_seen_by_who_waits() -> None:
    stand = Stand(House({"charge": ok}))
    waiting = asyncio.ensure_future(stand.happened.moved())
    await asyncio.sleep(0)
    stand.happened.emit(ReloadRejected(message="host.json is broken"))

    await asyncio.wait_for(waiting, 5.0)

    assert (stand.happened.rejected, stand.happened.rejection) == (1, "host.json is broken")
    stand.happened.close()


class Still:
    """Looks that have found a worker which stands still."""

    silent = (42,)
    problems = ("worker 42 has not answered for 20 s",)


async def test_a_worker_that_stands_still_is_named() -> None:
    stand = Stand(House({"charge": ok}))
    await stand.start()
    before = await stand.document()

    stand.standing.looked_after_by(Still())
    after = await stand.document()
    await stand.stop()

    assert (before["problems"], before["workers"][0]["stands_still"]) == ([], False)
    assert after["problems"] == ["worker 42 has not answered for 20 s"]
    assert after["workers"][0]["stands_still"]


async def test_a_script_that_cannot_be_read_is_said_with_its_place() -> None:
    """Nobody knows its functions then, so that no function's line could say it."""
    stand = Stand(House({"quick": quick}))
    await stand.start()
    assert stand.host is not None
    fault = Problem(
        severity=Severity.ERROR, message="SyntaxError: oh", file="function_app.py", line=3
    )
    remark = replace(fault, severity=Severity.WARNING, message="by the way")
    stand.host.project = replace(stand.host.project, problems=(fault, remark), unread=True)

    found = await stand.document()
    assert found["problems"] == []  # nothing stands still
    assert found["faults"] == ["function_app.py:3: SyntaxError: oh"]

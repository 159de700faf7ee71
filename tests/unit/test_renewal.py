"""When a project is loaded anew, and what that is given up for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from qtrigger.errors import ExitCode, ProjectError, QtriggerError
from qtrigger.events import HostReady, ReloadRejected, ReloadStarted
from qtrigger.host import Host
from qtrigger.project.model import HostConfig
from qtrigger.renewal import STUCK_S, Asked
from qtrigger.supervisor import Supervisor
from tests.unit.test_host import House, quick


class Saves:
    """A `ChangeSource` whose files are saved by the test."""

    def __init__(self) -> None:
        self._saved: set[str] = set()
        self._some = asyncio.Event()
        self.closed = False
        self.fails = False

    def save(self, *files: str) -> None:
        self._saved.update(files)
        self._some.set()

    async def changed(self) -> frozenset[str]:
        await self._some.wait()
        if self.fails:
            raise OSError("no more file events")
        self._some.clear()
        saved, self._saved = self._saved, set()
        return frozenset(saved)

    async def close(self) -> None:
        self.closed = True


class Reloads:
    """Loads take two seconds; notes which began, were given up and were carried out."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.saves = Saves()
        self.begun: list[Asked] = []
        self.done: list[Asked] = []
        self.given_up = 0
        self.at_once = 0
        self.most_at_once = 0
        self.error: QtriggerError | None = None
        self.takes_s = 2.0
        self.requirements = 0
        self.supervisor = Supervisor(
            house.start_host,
            shutdown_timeout_s=None,
            exit_when_idle_s=None,
            clock=house.clock,
            sink=house.probe,
            counts=dict,
            terminal_gone=lambda: False,
            changes=self.saves,
            renew=self.renew,
            requirements=self._requirements_changed,
        )
        self.running = asyncio.create_task(self.supervisor.run())

    async def renew(self, host: Host, asked: Asked) -> Host:
        self.begun.append(asked)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.house.clock.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        finally:
            self.at_once -= 1
        if self.error is not None:
            raise self.error
        self.done.append(asked)
        return host

    async def stop(self) -> None:
        self.supervisor.request_stop("done")
        assert await self.house.clock.run(self.running) is ExitCode.OK
        assert self.saves.closed

    def _requirements_changed(self) -> None:
        self.requirements += 1


@pytest.fixture
async def reloads() -> Reloads:
    reloads = Reloads(House({"quick": quick}))
    await reloads.house.clock.advance(1.0)
    return reloads


async def save_each(reloads: Reloads, files: Sequence[str], every_s: float) -> None:
    for file in files:
        reloads.saves.save(file)
        await reloads.house.clock.advance(every_s)


async def test_a_save_is_a_reload(reloads: Reloads) -> None:
    await save_each(reloads, ["a.py"], 3.0)

    (asked,) = reloads.done
    assert (asked.files, asked.by_hand) == (frozenset({"a.py"}), False)
    await reloads.stop()


async def test_a_reload_is_given_up_for_newer_changes_and_begun_anew_with_all(
    reloads: Reloads,
) -> None:
    await save_each(reloads, [f"{number}.py" for number in range(20)], 0.2)
    await reloads.house.clock.advance(3.0)

    assert reloads.given_up == 19
    (asked,) = reloads.done
    assert len(asked.files) == 20
    assert asked.last_at - asked.since == pytest.approx(3.8)
    assert reloads.most_at_once == 1
    await reloads.stop()


async def test_where_changes_do_not_end_reloads_are_carried_out_all_the_same(
    reloads: Reloads,
) -> None:
    """A function may write files that it could also read at its import."""
    await save_each(reloads, ["log.txt"] * 100, 0.2)

    assert 2 <= len(reloads.done) <= 4
    await reloads.house.clock.advance(5.0)
    assert reloads.begun[-1] is reloads.done[-1]
    await reloads.stop()


async def test_an_import_that_hangs_is_given_up_for_each_save_that_may_mend_it(
    reloads: Reloads,
) -> None:
    reloads.takes_s = 600.0
    await save_each(reloads, ["a.py"], 20.0)
    await save_each(reloads, ["a.py"], 3.0)
    assert (reloads.given_up, len(reloads.begun)) == (1, 2)

    reloads.takes_s = 2.0
    await save_each(reloads, ["b.py"], 3.0)

    assert reloads.given_up == 2
    assert [asked.files for asked in reloads.done] == [frozenset({"a.py", "b.py"})]
    assert reloads.most_at_once == 1
    await reloads.stop()


async def test_a_slow_import_is_carried_out_where_changes_do_not_end(reloads: Reloads) -> None:
    """It looks as if it hung each time that it is begun."""
    reloads.takes_s = 7.0
    await save_each(reloads, ["log.txt"] * 20, 6.0)

    assert reloads.done
    await reloads.stop()


async def test_a_first_start_that_hangs_is_begun_anew_for_a_save() -> None:
    house, saves = House({"quick": quick}), Saves()
    begun, hangs = 0, True

    async def start() -> Host:
        nonlocal begun
        begun += 1
        if hangs:
            await house.clock.sleep(600.0)
        return await house.start_host()

    supervisor = house.supervisor(start=start, changes=saves)
    running = asyncio.create_task(supervisor.run())
    await house.clock.advance(1.0)
    saves.save("a.py")
    await house.clock.advance(STUCK_S)
    assert begun == 2
    await house.clock.advance(20.0)
    hangs = False
    saves.save("b.py")
    await house.clock.advance(1.0)

    assert begun == 3
    assert [event.files for event in house.probe.of(ReloadStarted)] == [["a.py"], ["b.py"]]
    assert len(house.probe.of(HostReady)) == 1
    supervisor.request_stop("done")
    assert await house.clock.run(running) is ExitCode.OK


async def test_a_hundred_saves_end_in_the_last_state_one_load_at_a_time(reloads: Reloads) -> None:
    """host#9335, under the manual clock."""
    await save_each(reloads, [f"{number}.py" for number in range(100)], 0.02)
    await reloads.house.clock.advance(3.0)

    (asked,) = reloads.done
    assert len(asked.files) == 100
    assert reloads.most_at_once == 1
    await reloads.stop()


async def test_what_is_to_be_installed_is_told_of_and_reloads_nothing(reloads: Reloads) -> None:
    await save_each(reloads, ["requirements.txt"], 3.0)
    assert (reloads.requirements, reloads.begun) == (1, [])

    reloads.saves.save("a.py", "requirements.txt")
    await reloads.house.clock.advance(3.0)

    assert reloads.requirements == 2
    assert [asked.files for asked in reloads.done] == [frozenset({"a.py"})]
    await reloads.stop()


async def test_a_rejection_is_said_once_until_something_else_is_wrong(reloads: Reloads) -> None:
    def said() -> list[str]:
        return [event.message for event in reloads.house.probe.of(ReloadRejected)]

    reloads.error = ProjectError("host.json:3: broken")
    await save_each(reloads, ["host.json", "a.py"], 3.0)
    assert said() == ["host.json:3: broken"]

    reloads.error = ProjectError("host.json:4: broken")
    await save_each(reloads, ["host.json"], 3.0)
    assert said() == ["host.json:3: broken", "host.json:4: broken"]

    reloads.supervisor.request_reload()
    await reloads.house.clock.advance(3.0)
    assert said()[2:] == ["host.json:4: broken"]

    reloads.error = None
    await save_each(reloads, ["host.json"], 3.0)
    reloads.error = ProjectError("host.json:4: broken")
    await save_each(reloads, ["host.json"], 3.0)
    assert len(said()) == 4
    await reloads.stop()


async def test_a_wish_by_hand_is_a_reload_and_is_kept_beside_changes(reloads: Reloads) -> None:
    reloads.saves.save("a.py")
    await reloads.house.clock.advance(1.0)
    reloads.supervisor.request_reload()
    await reloads.house.clock.advance(3.0)

    (asked,) = reloads.done
    assert (asked.files, asked.by_hand) == (frozenset({"a.py"}), True)
    await reloads.stop()


async def test_a_stop_gives_a_reload_up(reloads: Reloads) -> None:
    reloads.saves.save("a.py")
    await reloads.house.clock.advance(1.0)

    await reloads.stop()

    assert (reloads.given_up, reloads.done) == (1, [])


@pytest.mark.parametrize("after_s", [1.0, 29.0])
async def test_a_stop_takes_the_time_for_it_once_whatever_reload_is_under_way(
    after_s: float,
) -> None:
    """A host that was replaced is draining, another drains, and a third is being loaded."""

    async def hangs(msg: str) -> None:
        await house.clock.sleep(3600.0)

    house = House({"hangs": hangs})
    await house.put("hangs", "a")
    supervisor = house.supervisor()
    running = asyncio.create_task(supervisor.run())
    await house.clock.advance(1.0)
    for _ in range(3):
        await house.put("hangs", "more")
        supervisor.request_reload()
        await house.clock.advance(1.0)
    await house.clock.advance(after_s)

    asked_at = house.clock.monotonic()
    supervisor.request_stop("done")
    assert await house.clock.run(running) is ExitCode.OK

    assert house.clock.monotonic() - asked_at == pytest.approx(
        HostConfig().shutdown_timeout_s, abs=1.0
    )


async def test_a_source_of_changes_that_fails_costs_the_watching_alone(reloads: Reloads) -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: told.append(context["message"])
    )
    reloads.saves.fails = True
    await save_each(reloads, ["a.py"], 3.0)

    assert told == ["the project is watched no more"]
    reloads.supervisor.request_reload()
    await reloads.house.clock.advance(3.0)
    assert len(reloads.done) == 1
    reloads.supervisor.request_stop("done")
    assert await reloads.house.clock.run(reloads.running) is ExitCode.OK

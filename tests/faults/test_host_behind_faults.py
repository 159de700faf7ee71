"""A host whose queue service misbehaves for a while: nothing is lost, and it mends by itself.

Each kind of fault strikes each verb in turn, each in front of an account of its own, while
functions succeed, fail, outlive their leases, write outputs and poison.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from qtrigger.events import QueueStateChanged, ThrottlingBegan
from qtrigger.queues.account import emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.rest import RestQueueService
from qtrigger.testing.probe import Probe
from tests.faults.house import (
    CLOCK,
    LIMIT_S,
    LONGEST_POLL_WAIT_S,
    REQUEST_S,
    TEXTS,
    House,
    behind_proxy,
    put,
    texts,
    until,
)
from tests.faults.proxy import VERBS, Answer, Drop, Fault, FaultProxy, Hang, Lose, Reset, Slow

STRIKES = 3

FAULTS: list[Fault] = [
    Drop(),
    Hang(),
    Reset(),
    Lose(),
    Slow(0.3),
    Answer(500, "InternalError"),
    Answer(503, "ServerBusy", {"Retry-After": "1"}),
    Answer(403, "AuthorizationPermissionMismatch"),
    Answer(200, "", {"Content-Type": "text/html"}, b"<html>Sign in to the network</html>"),
]


def name_of(fault: Fault) -> str:
    return f"{fault.status}" if isinstance(fault, Answer) else type(fault).__name__.lower()


async def through(fault: Fault, verb: str) -> None:
    """Let `fault` strike `verb` a few times, and hold the whole account to its rules."""
    async with behind_proxy() as (house, service):
        await put(service, TEXTS)
        house.proxy.script(fault, verb=verb, times=STRIKES)
        began = CLOCK.monotonic()
        await house.start()
        await until(lambda: not texts(service, "orders"), house.probe)
        took_s = CLOCK.monotonic() - began
        assert await house.stop() == 0
        assert house.proxy.struck[verb] >= 1

        assert set(house.done) == {text for text in TEXTS if not text.startswith("never")}
        assert set(texts(service, "orders-poison")) == {t for t in TEXTS if t.startswith("never")}
        assert set(texts(service, "receipts")) == set(house.done)
        check_lines(house.probe)
        requests = sum(house.proxy.requests.values())
        assert requests <= 25 * took_s + 3 * sum(house.runs.values()) + 20, house.proxy.requests


def check_lines(probe: Probe) -> None:
    """One line for each change, and no more lines than a spell has changes."""
    told = [(each.state, each.message) for each in probe.of(QueueStateChanged)]
    assert all(a != b for a, b in pairwise(told)), told
    assert len(told) <= 2 * STRIKES, told


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
async def test_a_spell_of_any_fault_on_any_one_verb_loses_nothing(fault: Fault) -> None:
    async with asyncio.TaskGroup() as group:
        for verb in VERBS:
            group.create_task(through(fault, verb), name=f"{name_of(fault)} {verb}")


async def test_a_service_that_is_away_at_the_start_is_served_once_it_is_there() -> None:
    async with behind_proxy() as (house, service):
        await put(service, ["plain-1"])
        await house.proxy.down()
        await house.start()
        await house.probe.wait_for(QueueStateChanged)
        assert house.state == "unavailable"

        await house.proxy.up()
        came_back = CLOCK.monotonic()
        await until(lambda: not texts(service, "orders"), house.probe)

        assert CLOCK.monotonic() - came_back < LONGEST_POLL_WAIT_S + REQUEST_S
        assert [each.state for each in house.probe.of(QueueStateChanged)] == ["unavailable", "ok"]
        await house.stop()


@pytest.mark.parametrize("fault", [Hang(), Answer(503, "ServerBusy")], ids=name_of)
async def test_an_outage_of_every_verb_in_the_middle_of_work_loses_nothing(fault: Fault) -> None:
    async with behind_proxy() as (house, service):
        await put(service, TEXTS)
        await house.start()
        await until(lambda: sum(house.done.values()) >= 3, house.probe)

        house.proxy.script(fault)
        await CLOCK.sleep(1.5)
        asked = sum(house.proxy.requests.values())
        house.proxy.mend()
        await until(lambda: not texts(service, "orders"), house.probe)

        assert asked < 200
        assert set(house.done) | set(texts(service, "orders-poison")) == set(TEXTS)
        assert house.state == "ok"
        await house.stop()


async def test_a_fifth_of_all_requests_answered_busy_loses_nothing_and_floods_no_log() -> None:
    messages = [f"plain-{n}" for n in range(120)]
    async with behind_proxy() as (house, service):
        await put(service, messages)
        house.proxy.script(Answer(503, "ServerBusy"), chance=0.2)
        await house.start()
        await until(lambda: not texts(service, "orders"), house.probe)
        await house.stop()

        assert set(house.done) == set(messages)
        assert house.probe.of(QueueStateChanged) == []
        assert len(house.probe.of(ThrottlingBegan)) == 1
        (limits,) = house.throttling
        assert limits.busy == house.proxy.struck.total() > 30
        assert limits.requests == house.proxy.requests.total()


async def test_azurite_behind_faults_loses_nothing(azurite: AzuriteProcess) -> None:
    messages = [f"plain-{n}" for n in range(60)] + ["never-1", "once-1", "slow-1"]
    direct = RestQueueService(emulator_account(azurite.port), CLOCK)
    queue, poison = direct.queue("behind-faults"), direct.queue("behind-faults-poison")
    await queue.create()
    for text in messages:
        await queue.send(text)
    async with FaultProxy(azurite.port, seed=3) as proxy:
        house = House(proxy, queue=queue.name)
        for fault in FAULTS[:5]:
            proxy.script(fault, chance=0.05)
        proxy.script(Answer(503, "ServerBusy"), chance=0.1)
        await house.start()
        async with CLOCK.timeout(LIMIT_S):
            while await queue.approximate_count():
                await CLOCK.sleep(0.1)
        assert await house.stop() == 0

    poisoned = {message.text for message in await poison.receive(32, 60.0)}
    await direct.close()
    assert "never-1" in poisoned
    assert set(house.done) | poisoned == set(messages)
    assert proxy.struck.total() > 10


async def test_a_stop_during_an_outage_has_an_end_and_loses_nothing() -> None:
    async with behind_proxy() as (house, service):
        await put(service, TEXTS)
        await house.start()
        await until(lambda: sum(house.done.values()) >= 3, house.probe)
        house.proxy.script(Hang())
        began = CLOCK.monotonic()

        await house.stop(up_to_s=1.0)

        assert CLOCK.monotonic() - began < 10.0
        held = set(texts(service, "orders")) | set(texts(service, "orders-poison"))
        assert held | set(house.done) == set(TEXTS)

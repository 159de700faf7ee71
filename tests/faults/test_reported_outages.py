"""What users ran into when polls go wrong over a real connection: the host stays up and mends."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from qtrigger.events import InvocationFinished, QueueStateChanged, ThrottlingBegan
from tests.faults.house import (
    CLOCK,
    LONGEST_POLL_WAIT_S,
    OPTIONS,
    REQUEST_S,
    House,
    behind_proxy,
    put,
    texts,
    until,
)
from tests.faults.proxy import Answer, Drop, Fault, Hang, Reset

SPELL_S = 1.2
XML = b"<?xml version='1.0' encoding='utf-8'?><QueueMessagesList><QueueMess"
FAULTS: dict[str, Fault] = {
    "400": Answer(400, "InvalidQueryParameterValue"),
    "403": Answer(403, "AuthorizationFailure"),
    "405": Answer(405, "UnsupportedHttpVerb"),
    "409": Answer(409, "QueueDisabled"),
    "412": Answer(412, "ConditionNotMet"),
    "429": Answer(429),
    "500": Answer(500, "InternalError"),
    "503": Answer(503, "ServerBusy"),
    "truncated": Reset(),
    "half a document": Answer(200, "", {"Content-Type": "application/xml"}, XML),
    "no XML": Answer(200, "", {"Content-Type": "text/html"}, b"<html>Sign in</html>"),
    "bare 400": Answer(400),
}
LASTING = ("400", "403", "405", "409", "412", "bare 400")
BUSY = ("429", "503")


async def through_a_spell(name: str, verb: str) -> None:
    # No fault here is silence, and none of our own must be taken for one.
    async with behind_proxy(request_s=10.0) as (house, service):
        await put(service, ["plain-0"])
        await house.start()
        # Done with: a fault that met its output would cost it tries.
        await until(lambda: house.done["plain-0"] == 1, house.probe)
        await until(lambda: not texts(service, "orders"), house.probe)
        house.proxy.script(FAULTS[name], verb=verb)
        for text in ("plain-1", "never-1", "slow-1"):
            await service.queue("orders").send(text)
        await CLOCK.sleep(SPELL_S)
        house.proxy.mend()

        await until(lambda: not texts(service, "orders"), house.probe)

        assert set(house.done) == {"plain-0", "plain-1", "slow-1"}
        assert set(texts(service, "orders-poison")) == {"never-1"}
        await until(lambda: house.state == "ok", house.probe)
        assert await house.stop() == 0
        told = [event.state for event in house.probe.of(QueueStateChanged)]
        if verb == "receive":
            expected = [] if name in BUSY else ["failing" if name in LASTING else "unavailable"]
            assert told == expected + ["ok"] * len(expected), (name, told)
        else:
            assert told in ([], ["degraded", "ok"]), (name, told)
        assert len(house.probe.of(ThrottlingBegan)) == (name in BUSY), name


@pytest.mark.parametrize("verb", ["receive", "delete", "update", "send"])
async def test_any_answer_to_any_verb_leaves_the_host_up_and_is_one_line_at_each_change(
    verb: str,
) -> None:
    async with asyncio.TaskGroup() as group:
        for name in FAULTS:
            group.create_task(through_a_spell(name, verb), name=name)


@pytest.mark.parametrize("fault", [Hang(), Drop()], ids=["half-open", "closed"])
async def test_a_connection_that_died_while_idle_costs_one_time_out_and_one_interval(
    fault: Fault,
) -> None:
    async with behind_proxy() as (house, service):
        await put(service, ["plain-1"])
        await house.start()
        await until(lambda: house.done["plain-1"] == 1, house.probe)
        house.proxy.script(fault, verb="receive", times=1)
        await service.queue("orders").send("plain-2")
        began = CLOCK.monotonic()

        await until(lambda: house.done["plain-2"] == 1, house.probe)

        assert CLOCK.monotonic() - began < REQUEST_S + 3 * LONGEST_POLL_WAIT_S + 0.5
        await house.stop()


async def test_a_few_polls_that_time_out_burn_no_try_and_are_no_storm_of_lines() -> None:
    messages = [f"plain-{n}" for n in range(60)]
    async with behind_proxy() as (house, service):
        await put(service, [])
        house.proxy.script(Answer(500, "OperationTimedOut"), verb="receive", chance=0.1)
        house.proxy.script(Hang(), verb="receive", chance=0.05)
        await house.start()
        for text in messages:
            await service.queue("orders").send(text)
            await CLOCK.sleep(0.05)
        await until(lambda: set(house.done) == set(messages), house.probe)
        await until(lambda: not texts(service, "orders"), house.probe)
        assert await house.stop() == 0

        runs = house.probe.of(InvocationFinished)
        assert {run.dequeue_count for run in runs} == {1}
        assert len(runs) == len(messages)
        assert len(house.probe.of(QueueStateChanged)) <= 2
        assert len(house.probe.of(ThrottlingBegan)) <= 1
        assert house.proxy.struck["receive"] > 0


async def test_eleven_functions_share_connections_that_are_bounded_and_kept() -> None:
    options = replace(OPTIONS, batch_size=16, new_batch_threshold=8)
    async with behind_proxy() as (other, service):
        house = House(other.proxy, functions=11, options=options, lease_s=30.0, request_s=20.0)
        for queue in house.queues:
            await service.queue(queue).create()
            for number in range(24):
                await service.queue(queue).send(f"plain-{queue}-{number}")
        await house.start()

        await until(lambda: not any(texts(service, queue) for queue in house.queues), house.probe)

        assert await house.stop() == 0
        assert len(house.done) == 264
        # Each of the 11 has 24 in processing at most, and the client has 128 connections at most.
        assert house.proxy.most_open <= 128
        assert house.proxy.accepted <= 2 * house.proxy.most_open

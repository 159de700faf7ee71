"""Functions and outputs on several storage accounts: each connection is its own account's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

from qtrigger.assembly import Assembly
from qtrigger.invocation import Invocation, Output, OutputItem, Ran, Succeeded
from qtrigger.project.model import FunctionDefinition, HostConfig, QueueOutput
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe
from tests.unit.harness import definition, output

FIRST, SECOND = (
    Account(name=name, endpoint=f"http://{name}", credential=Sas(token=""))
    for name in ("first", "second")
)


def on(account: Account, name: str, queue: str, to: QueueOutput) -> FunctionDefinition:
    """A function on that account's queue which passes its message on."""
    function = definition(name, queue, outputs=(to,))
    return replace(function, trigger=replace(function.trigger, account=account))


async def test_a_message_goes_from_one_account_to_the_other_and_back() -> None:
    """Both have queues of the same names; a wake-up finds the right one of two listeners."""
    clock, ran = ManualClock(), []
    accounts = {each: MemoryQueueService(clock, account=each.name) for each in (FIRST, SECOND)}

    async def run(invocation: Invocation) -> Ran:
        (message,) = invocation.messages
        ran.append((invocation.function, clock.monotonic()))
        success = Succeeded(
            outputs=(Output(binding="out", items=(OutputItem(body=message.body),)),)
        )
        return Ran(outcomes=(success,), duration_s=0.0)

    assembly = Assembly(
        HostConfig(),
        services=QueueServices(lambda account: accounts[account]),
        run=run,
        clock=clock,
        sink=Probe(),
        random=Random(1),
        changed=lambda: None,
    )
    there = on(FIRST, "there", "orders", replace(output("out", "orders"), account=SECOND))
    back = on(SECOND, "back", "orders", replace(output("out", "done"), account=FIRST))
    listeners = [assembly.listener(function) for function in (there, back)]
    for service in accounts.values():
        await service.queue("orders").create()
    polling = [asyncio.ensure_future(listener.run()) for listener in listeners]
    await clock.advance(300.0)
    await accounts[FIRST].queue("orders").send("a")
    listeners[0].wake()

    await clock.advance(0.5)

    assert ran == [("there", 300.0), ("back", 300.0)]
    assert [message.text for message in accounts[FIRST].peek_all("done")] == ["a"]
    assert "done" not in accounts[SECOND].names()
    assert accounts[FIRST].peek_all("orders") == accounts[SECOND].peek_all("orders") == []
    for listener in listeners:
        listener.stop_polling()
    await clock.run(asyncio.wait(polling))

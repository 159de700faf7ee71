"""One generation: warm before polling, and the stop ladder down to handing messages back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from qtrigger.assembly import within
from qtrigger.errors import ExitCode, ProjectError, QueueUnavailable
from qtrigger.events import (
    FunctionResumed,
    HostReady,
    HostStopped,
    HostStopping,
    InvocationFinished,
    ReloadRejected,
)
from qtrigger.host import Host
from qtrigger.invocation import Interrupted, Invocation, Ran
from qtrigger.pauses import Pauses
from qtrigger.project.model import HostConfig, Project
from qtrigger.project.options import OwnOptions
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.supervisor import Supervisor
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe
from qtrigger.traffic import TrafficOfAll
from qtrigger.workers.inline import InlineWorker
from qtrigger.workers.worker import FunctionSpec, Loaded
from tests.unit.harness import definition, output

TRIGGER = {"type": "queueTrigger", "direction": "in", "name": "msg", "queueName": "q"}

RETURN = {"type": "queue", "direction": "out", "name": "$return", "queueName": "q"}

Functions = dict[str, Callable[..., Any]]


class OwnConnection:
    """One host's connection to the account: closing it leaves the queues to the others."""

    def __init__(self, service: MemoryQueueService) -> None:
        self.queue = service.queue

    async def close(self) -> None:
        """Nothing of its own to close."""


class House:
    """A memory account, a manual clock, and hosts whose functions run in this process."""

    def __init__(
        self,
        functions: Functions,
        *,
        disabled: tuple[str, ...] = (),
        output: str = "",
        own: OwnOptions | None = None,
        max_concurrent: int | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.probe = Probe()
        self.functions = functions
        self.disabled = disabled
        self.output = output
        self.own = own or OwnOptions()
        self.max_concurrent = max_concurrent
        self.terminal_gone = False
        self.pauses: Pauses | None = None
        self.traffic = TrafficOfAll()

    def host(self, workers: InlineWorker | None = None) -> Host:
        worker = workers or InlineWorker(self.functions, clock=self.clock)
        return Host(
            self._project(),
            services=QueueServices(lambda _account: OwnConnection(self.service)),
            workers=worker,
            clock=self.clock,
            sink=self.probe,
            random=Random(1),
            pauses=self.pauses,
            traffic=self.traffic,
        )

    async def start_host(self) -> Host:
        host = self.host()
        await host.start(workers=1, interpreter="this one", began_at=0.0)
        return host

    async def put(self, queue: str, *texts: str) -> None:
        client = self.service.queue(queue)
        await client.create()
        for text in texts:
            await client.send(text)

    def supervisor(
        self,
        *,
        idle_s: float | None = None,
        start: Callable[[], Any] | None = None,
        **further: Any,
    ) -> Supervisor:
        return Supervisor(
            start or self.start_host,
            shutdown_timeout_s=None,
            exit_when_idle_s=idle_s,
            clock=self.clock,
            sink=self.probe,
            counts=dict,
            terminal_gone=lambda: self.terminal_gone,
            **further,
        )

    def starts_once_then(self, error: Exception) -> Callable[[], Awaitable[Host]]:
        """Start a host the first time, and raise `error` at each time after that."""
        starts = [self.start_host]

        async def start() -> Host:
            if not starts:
                raise error
            return await starts.pop()()

        return start

    async def reload_in_vain(self, supervisor: Supervisor) -> asyncio.Task[ExitCode]:
        """Run, ask for a reload, and give the host that was there before a message to work on."""
        task = asyncio.create_task(supervisor.run())
        await self.clock.advance(1.0)
        supervisor.request_reload()
        await self.clock.advance(1.0)
        await self.put("quick", "a")
        await self.clock.advance(60.0)
        return task

    def _project(self) -> Project:
        definitions = [
            replace(
                definition(
                    name, name, outputs=(output("$return", self.output),) if self.output else ()
                ),
                bindings=(TRIGGER, RETURN) if self.output else (TRIGGER,),
                disabled="setting X" if name in self.disabled else "",
                own=self.own,
            )
            for name in self.functions
        ]
        return Project(
            root=Path("/nowhere"),
            environment="Development",
            host=HostConfig(shutdown_timeout_s=30.0, max_concurrent=self.max_concurrent),
            settings={},
            functions=tuple(definitions),
            failed=(),
            problems=(),
        )


async def quick(msg: str) -> None:
    """Do nothing."""


def never(_stopped: asyncio.Event) -> Callable[..., Any]:
    async def waits(msg: str) -> None:
        await asyncio.Event().wait()

    return waits


async def test_a_function_that_does_not_load_is_not_polled_and_the_others_run() -> None:
    async def wrong(other: str) -> None:
        """Its parameter has no binding."""

    house = House({"good": quick, "wrong": wrong})
    await house.put("good", "a")
    await house.put("wrong", "b")

    host = await house.start_host()
    await house.clock.advance(5.0)

    assert house.service.counts("wrong").visible == 1
    assert house.service.peek_all("wrong")[0].dequeue_count == 0
    assert house.service.peek_all("good") == []
    states = {each.name: each.state for each in house.probe.of(HostReady)[0].functions}
    assert states == {"good": "ready", "wrong": "failed"}
    await house.clock.run(host.stop("test", up_to_s=1.0, at_once=asyncio.Event()))


class FadingWorkers(InlineWorker):
    """Runs functions until the test takes some away."""

    faded: frozenset[str] = frozenset()

    def watch(self, unable: Callable[[AbstractSet[str]], None]) -> None:
        self.tell_unable = unable

    def fade(self, *names: str) -> None:
        self.faded = frozenset(names)
        self.tell_unable(self.faded)

    async def invoke(self, invocation: Invocation) -> Ran:
        if invocation.function in self.faded:
            return Ran(outcomes=(Interrupted(by="load"),), duration_s=0.0)
        return await super().invoke(invocation)


async def test_a_function_that_workers_lose_is_not_polled_until_they_have_it_again() -> None:
    house = House({"lost": quick, "quick": quick})
    workers = FadingWorkers(house.functions, clock=house.clock)
    host = house.host(workers)
    await house.put("lost")
    await house.put("quick")
    await house.clock.run(host.start(workers=1, interpreter="this one", began_at=0.0))
    await house.clock.advance(1.0)

    workers.fade("lost")
    await house.put("lost", "a")
    await house.put("quick", "b")
    await house.clock.advance(300.0)

    assert [event.function for event in house.probe.of(InvocationFinished)] == ["quick"]
    (message,) = house.service.peek_all("lost")
    assert message.dequeue_count <= 1
    await house.clock.run(host.idle(1.0))

    workers.fade()
    await house.clock.advance(1.0)

    assert [event.function for event in house.probe.of(InvocationFinished)][-1] == "lost"
    assert [event.function for event in house.probe.of(FunctionResumed)] == ["lost"]
    await house.clock.run(host.stop("test", up_to_s=1.0, at_once=asyncio.Event()))


class NarrowWorkers(InlineWorker):
    """Has room for three runs of the function `narrow`."""

    async def start(self, functions: Sequence[FunctionSpec]) -> Loaded:
        return replace(await super().start(functions), at_once={"narrow": 3})


async def test_no_more_is_taken_than_workers_have_room_for() -> None:
    """Else messages wait here under their leases while another host is idle."""

    async def narrow(msg: str) -> None:
        await asyncio.Event().wait()

    house = House({"narrow": narrow})
    host = house.host(NarrowWorkers(house.functions, clock=house.clock))
    await house.put("narrow", *"abcdefgh")
    await house.clock.run(host.start(workers=1, interpreter="this one", began_at=0.0))
    await house.clock.advance(60.0)

    assert host.running == 3
    assert [each.concurrency for each in house.probe.of(HostReady)[0].functions] == [3]
    assert [each.dequeue_count for each in house.service.peek_all("narrow")].count(0) == 5
    await house.clock.run(host.stop("test", up_to_s=0.0, at_once=asyncio.Event()))


@pytest.mark.parametrize(
    ("at_once", "batch_size", "threshold"),
    [(None, 16, 8), (99, 16, 8), (24, 16, 8), (20, 10, 10), (2, 1, 1), (1, 1, 0)],
)
def test_the_room_is_filled_again_when_half_of_it_is_free(
    at_once: int | None, batch_size: int, threshold: int
) -> None:
    options = within(definition("charge", "orders"), at_once).options

    assert (options.batch_size, options.new_batch_threshold) == (batch_size, threshold)


async def test_a_disabled_function_is_listed_and_not_polled() -> None:
    house = House({"good": quick, "off": quick}, disabled=("off",))
    await house.put("off", "a")

    host = await house.start_host()
    await house.clock.advance(5.0)

    (off,) = [each for each in house.probe.of(HostReady)[0].functions if each.name == "off"]
    assert (off.state, off.why) == ("disabled", "setting X")
    assert house.service.counts("off").visible == 1
    await house.clock.run(host.stop("test", up_to_s=1.0, at_once=asyncio.Event()))


async def test_stopping_waits_for_what_runs_and_then_hands_the_rest_back() -> None:
    async def slow(msg: str) -> None:
        await house.clock.sleep(float(msg))

    house = House({"slow": slow})
    await house.put("slow", "5", "500")
    host = await house.start_host()
    await house.clock.advance(1.0)

    left = await house.clock.run(host.stop("SIGTERM", up_to_s=30.0, at_once=asyncio.Event()))

    assert left == 0
    assert house.clock.monotonic() == pytest.approx(31.0, abs=0.5)
    assert [each.disposition for each in house.probe.of(InvocationFinished)] == [
        "acked",
        "released",
    ]
    assert house.service.counts("slow").visible == 1
    assert house.probe.of(HostStopping)[0].running == 2


async def test_leaving_at_once_does_not_wait_for_the_drain() -> None:
    house = House({"never": never(asyncio.Event())})
    await house.put("never", "a")
    host = await house.start_host()
    await house.clock.advance(1.0)
    at_once = asyncio.Event()
    house.clock.call_later(2.0, at_once.set)

    left = await house.clock.run(host.stop("SIGINT", up_to_s=30.0, at_once=at_once))

    assert (left, house.service.counts("never").visible) == (0, 1)
    assert house.clock.monotonic() < 5.0


async def test_what_the_service_does_not_take_back_is_counted_as_left() -> None:
    house = House({"never": never(asyncio.Event())})
    await house.put("never", "a")
    house.service.fail("update", QueueUnavailable("down"), times=None)
    host = await house.start_host()
    await house.clock.advance(1.0)

    left = await house.clock.run(host.stop("SIGTERM", up_to_s=1.0, at_once=asyncio.Event()))

    assert left == 1
    assert house.clock.monotonic() < 10.0


async def test_leases_are_renewed_while_draining() -> None:
    async def slow(msg: str) -> None:
        await house.clock.sleep(900.0)

    house = House({"slow": slow})
    await house.put("slow", "a")
    host = await house.start_host()
    await house.clock.advance(1.0)

    await house.clock.run(host.stop("SIGTERM", up_to_s=1000.0, at_once=asyncio.Event()))

    assert [each.disposition for each in house.probe.of(InvocationFinished)] == ["acked"]


async def test_exit_when_idle_ends_with_zero_once_everything_is_done() -> None:
    async def slow(msg: str) -> None:
        await house.clock.sleep(20.0)

    house = House({"slow": slow, "quick": quick})
    await house.put("slow", "a", "b")
    await house.put("quick", *"abc")

    code = await house.clock.run(house.supervisor(idle_s=3.0).run())

    assert code is ExitCode.OK
    assert 23.0 <= house.clock.monotonic() < 90.0
    assert house.service.peek_all("slow") == house.service.peek_all("quick") == []
    assert house.probe.of(HostStopped)[0].reason == "idle"


async def test_a_queue_that_cannot_be_reached_is_not_idle() -> None:
    house = House({"quick": quick})
    await house.put("quick")
    house.service.fail("receive", QueueUnavailable("down"), times=None)
    task = asyncio.ensure_future(house.supervisor(idle_s=3.0).run())

    await house.clock.advance(600.0)
    assert not task.done()
    house.service.mend()

    assert await house.clock.run(task) is ExitCode.OK


async def test_a_stop_request_drains_and_a_second_one_leaves() -> None:
    house = House({"never": never(asyncio.Event())})
    await house.put("never", "a")
    supervisor = house.supervisor()
    house.clock.call_later(1.0, lambda: supervisor.request_stop("SIGTERM"))
    house.clock.call_later(3.0, lambda: supervisor.request_stop("SIGTERM"))

    code = await house.clock.run(supervisor.run())

    assert code is ExitCode.OK
    assert house.clock.monotonic() < 10.0
    assert house.service.counts("never").visible == 1


async def test_a_reload_starts_the_new_host_before_the_old_one_stops() -> None:
    async def slow(msg: str) -> None:
        await house.clock.sleep(10.0)

    house = House({"slow": slow})
    await house.put("slow", "a")
    supervisor = house.supervisor()
    task = asyncio.ensure_future(supervisor.run())
    await house.clock.advance(1.0)
    house.functions = {"slow": slow, "added": quick}
    await house.put("added", "b")

    supervisor.request_reload()
    await house.clock.advance(1.0)
    assert len(house.probe.of(HostReady)) == 2
    assert house.service.peek_all("added") == []
    supervisor.request_stop("SIGTERM")

    assert await house.clock.run(task) is ExitCode.OK
    assert house.service.peek_all("slow") == []


async def test_a_reload_that_cannot_be_done_changes_nothing() -> None:
    house = House({"quick": quick})
    await house.put("quick")
    supervisor = house.supervisor(start=house.starts_once_then(ProjectError("host.json:3: broken")))

    task = await house.reload_in_vain(supervisor)

    assert [event.message for event in house.probe.of(ReloadRejected)] == ["host.json:3: broken"]
    assert house.service.peek_all("quick") == []
    supervisor.request_stop("SIGTERM")
    assert await house.clock.run(task) is ExitCode.OK


async def test_a_stop_request_while_starting_ends_the_start() -> None:
    house = House({"quick": quick})
    ended: list[str] = []

    async def start() -> Host:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("start")
        raise AssertionError

    supervisor = house.supervisor(start=start)
    house.clock.call_later(1.0, lambda: supervisor.request_stop("SIGTERM"))

    assert await house.clock.run(supervisor.run()) is ExitCode.OK
    assert ended == ["start"]


async def test_a_message_whose_outputs_hang_is_handed_back_by_a_stop() -> None:
    async def writes(msg: str) -> str:
        return msg

    house = House({"writes": writes}, output="receipts")
    await house.put("writes", "a")
    house.service.slow("send", 9000.0, times=None)
    host = await house.start_host()
    await house.clock.advance(1.0)

    left = await house.clock.run(host.stop("SIGTERM", up_to_s=1.0, at_once=asyncio.Event()))

    assert (left, house.service.counts("writes").visible) == (0, 1)
    assert house.clock.monotonic() < 15.0


async def test_a_defect_in_a_listener_drains_the_host_and_is_raised() -> None:
    async def slow(msg: str) -> None:
        await house.clock.sleep(20.0)

    house = House({"slow": slow, "other": quick})
    await house.put("slow", "a")
    task = asyncio.ensure_future(house.supervisor().run())
    await house.clock.advance(1.0)

    house.service.fail("receive", LookupError("a defect"), queue="other")  # type: ignore[arg-type]
    house.service.make("other")

    with pytest.raises(LookupError, match="a defect"):
        await house.clock.run(task)
    assert house.service.peek_all("slow") == []
    assert len(house.probe.of(HostStopped)) == 1


async def test_a_defect_while_reloading_leaves_the_healthy_host_running() -> None:
    house = House({"quick": quick})
    await house.put("quick")
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: told.append(context["message"])
    )
    supervisor = house.supervisor(start=house.starts_once_then(RecursionError("a defect")))

    task = await house.reload_in_vain(supervisor)

    assert len(house.probe.of(ReloadRejected)) == len(told) == 1
    assert house.service.peek_all("quick") == []
    supervisor.request_stop("SIGTERM")
    assert await house.clock.run(task) is ExitCode.OK


async def test_ready_says_how_long_it_took_from_the_asking_on() -> None:
    house = House({"quick": quick})
    await house.clock.advance(2.5)
    host = await house.clock.run(house.start_host())

    (ready,) = house.probe.of(HostReady)
    assert ready.after_s == 2.5
    await house.clock.run(host.stop("done", up_to_s=0.0, at_once=asyncio.Event()))


async def test_a_hang_up_reloads_and_stops_once_the_terminal_is_gone() -> None:
    house = House({"quick": quick})
    supervisor = house.supervisor()
    running = asyncio.create_task(supervisor.run())
    await house.clock.advance(1.0)

    supervisor.hang_up()
    await house.clock.advance(1.0)
    assert len(house.probe.of(HostReady)) == 2

    house.terminal_gone = True
    supervisor.hang_up()
    assert await house.clock.run(running) == ExitCode.OK
    assert house.probe.of(HostStopping)[-1].reason == "the terminal was closed"


class Stuck(InlineWorker):
    """Workers that cannot be stopped."""

    async def stop(self, grace_s: float) -> None:
        await super().stop(grace_s)
        raise RuntimeError("they do not stop")


async def test_a_replaced_host_that_cannot_be_stopped_is_told_while_the_next_one_runs() -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: told.append(context["message"])
    )
    house = House({"quick": quick})
    workers = [InlineWorker(house.functions, clock=house.clock)]
    workers.append(Stuck(house.functions, clock=house.clock))

    async def start() -> Host:
        host = house.host(workers.pop())
        await host.start(workers=1, interpreter="this one", began_at=0.0)
        return host

    supervisor = house.supervisor(start=start)
    running = asyncio.create_task(supervisor.run())
    await house.clock.advance(1.0)
    supervisor.request_reload()
    await house.clock.advance(40.0)

    assert told == ["a host that was replaced: they do not stop"]
    assert not running.done()
    supervisor.request_stop("done")
    assert await house.clock.run(running) == ExitCode.OK

"""A host that goes on with a project loaded anew: what stays, what is replaced, what is held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from qtrigger.difference import Difference, difference, same_house, standing
from qtrigger.errors import ExitCode
from qtrigger.events import FunctionResumed, InvocationFinished
from qtrigger.host import Host
from qtrigger.pauses import Pause, Written
from qtrigger.project.model import FunctionDefinition, HostConfig, Project, QueueOptions
from qtrigger.queues.account import Account, Sas
from qtrigger.renewal import Asked
from qtrigger.workers.inline import InlineWorker
from qtrigger.workers.worker import Loaded, LoadFailure
from tests.unit.test_host import House, quick
from tests.unit.test_renewal import Saves

Change = Callable[[FunctionDefinition], FunctionDefinition]


class Renewed:
    """A host whose project is loaded anew with other functions."""

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        self.house = House(functions)
        self.clock = self.house.clock
        self.host: Host | None = None

    async def start(self) -> Host:
        self.host = await self.clock.run(self.house.start_host())
        return self.host

    def project(self, *, change: Change | None = None, **fields: Any) -> Project:
        project = self.house._project()
        functions = tuple(map(change, project.functions)) if change else project.functions
        return replace(project, **{"functions": functions, **fields})

    async def renew(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        *,
        broken: tuple[str, ...] = (),
        change: Change | None = None,
        **fields: Any,
    ) -> None:
        """Go on with those functions; `broken` ones could not be loaded."""
        assert self.host is not None
        if functions is not None:
            self.house.functions = functions
        workers = InlineWorker(self.house.functions, clock=self.clock)
        project = self.project(change=change, **fields)
        await workers.start([_spec(each) for each in project.functions])
        failures = {name: LoadFailure(message="no") for name in broken}
        self.host.renew(project, workers, Loaded(failures=failures), up_to_s=30.0)
        await self.clock.advance(1.0)

    def ran(self) -> list[str]:
        return [event.function for event in self.house.probe.of(InvocationFinished)]

    async def stop(self) -> None:
        assert self.host is not None
        await self.clock.run(self.host.stop("done", up_to_s=0.0, at_once=asyncio.Event()))


def _spec(function: FunctionDefinition) -> Any:
    from qtrigger.assembly import function_spec

    return function_spec(function)


def taking(seconds: float, done: list[str], mark: str, clock: Any) -> Callable[..., Any]:
    async def slow(msg: str) -> None:
        await clock.sleep(seconds)
        done.append(mark)

    return slow


async def test_a_listener_whose_function_is_as_before_goes_on_and_asks_at_once() -> None:
    renewed = Renewed({"charge": quick, "refund": quick})
    await renewed.house.put("charge")
    host = await renewed.start()
    await renewed.clock.advance(600.0)
    before = host.listeners
    await renewed.house.put("charge", "a")

    await renewed.renew()

    assert host.listeners == before
    assert renewed.ran() == ["charge"]
    await renewed.stop()


async def test_what_runs_finishes_on_the_old_code_and_the_next_is_on_the_new() -> None:
    done: list[str] = []
    renewed = Renewed({})
    renewed.house.functions = {"charge": taking(10.0, done, "old", renewed.clock)}
    await renewed.house.put("charge", "a")
    host = await renewed.start()
    await renewed.clock.advance(1.0)

    for version in ("new", "newest"):
        await renewed.renew({"charge": taking(1.0, done, version, renewed.clock)})
    assert (host.running_before, len(host.leaving)) == (1, 1)
    await renewed.house.put("charge", "b")
    await renewed.clock.advance(60.0)

    assert sorted(done) == ["newest", "old"]
    assert (host.running_before, len(host.leaving)) == (0, 0)
    await renewed.stop()


async def test_a_changed_function_has_another_listener_and_the_others_keep_theirs() -> None:
    def fewer(function: FunctionDefinition) -> FunctionDefinition:
        options = QueueOptions(batch_size=1, message_encoding="none")
        return replace(function, options=options) if function.name == "charge" else function

    renewed = Renewed({"charge": quick, "refund": quick})
    host = await renewed.start()
    charge, refund = host.listeners

    await renewed.renew(change=fewer)

    assert {each.function: each in (charge, refund) for each in host.listeners} == {
        "charge": False,
        "refund": True,
    }
    await renewed.house.put("charge", "a")
    await renewed.clock.advance(60.0)
    assert renewed.ran() == ["charge"]
    await renewed.stop()


async def test_messages_of_a_removed_function_finish_and_no_more_are_taken() -> None:
    done: list[str] = []
    renewed = Renewed({})
    renewed.house.functions = {
        "charge": taking(10.0, done, "charge", renewed.clock),
        "refund": quick,
    }
    await renewed.house.put("charge", "a")
    host = await renewed.start()
    await renewed.clock.advance(1.0)

    await renewed.renew({"refund": quick, "added": quick})
    await renewed.house.put("charge", "b")
    await renewed.house.put("added", "c")
    assert host.running == 1
    await renewed.clock.advance(60.0)

    assert done == ["charge"]
    assert [each.dequeue_count for each in renewed.house.service.peek_all("charge")] == [0]
    assert renewed.house.service.peek_all("added") == []
    assert host.running == 0
    await renewed.stop()


async def test_a_broken_function_is_held_and_goes_on_when_it_is_mended() -> None:
    done: list[str] = []
    renewed = Renewed({})
    renewed.house.functions = {
        "charge": taking(10.0, done, "old", renewed.clock),
        "refund": quick,
    }
    await renewed.house.put("charge", "a")
    await renewed.house.put("refund")
    host = await renewed.start()
    await renewed.clock.advance(1.0)
    before = host.listeners

    await renewed.renew(broken=("charge",))
    assert host.broken == {"charge"}
    await renewed.house.put("charge", "b")
    await renewed.house.put("refund", "c")
    await renewed.clock.advance(60.0)
    assert done == ["old"]
    assert sorted(renewed.ran()) == ["charge", "refund"]
    assert [each.dequeue_count for each in renewed.house.service.peek_all("charge")] == [0]

    await renewed.renew({**renewed.house.functions, "charge": quick})
    assert host.listeners == before
    assert renewed.ran()[2:] == ["charge"]
    assert renewed.house.probe.of(FunctionResumed) == []
    await renewed.stop()


async def test_what_an_answer_brings_just_when_its_function_breaks_runs_on_the_old_code() -> None:
    """Else it would come back, with a try less."""
    renewed = Renewed({"charge": quick})
    await renewed.house.put("charge")
    renewed.house.service.slow("receive", 3.0, times=None)
    host = await renewed.start()
    await renewed.clock.advance(1.0)
    await renewed.house.put("charge", "a")

    await renewed.renew({}, broken=("charge",))
    await renewed.clock.advance(10.0)

    (event,) = renewed.house.probe.of(InvocationFinished)
    assert event.disposition == "acked"
    assert len(host.leaving) == 0
    await renewed.stop()


async def test_of_a_script_that_cannot_be_imported_all_functions_are_held() -> None:
    renewed = Renewed({"charge": quick, "refund": quick})
    host = await renewed.start()
    before = host.listeners
    project = renewed.project(functions=(), unread=True)

    for _ in range(2):
        host.renew(project, None, Loaded(), up_to_s=30.0)
        await renewed.house.put("charge", "a")
        await renewed.clock.advance(60.0)
        assert renewed.ran() == []
        assert host.broken == {"charge", "refund"}
    await renewed.renew()

    assert (host.listeners, host.broken) == (before, frozenset())
    assert renewed.ran() == ["charge", "charge"]
    await renewed.stop()


class PausedByHand:
    """`Pauses` under which the function `charge` is paused."""

    def stamp(self) -> object:
        return 1

    def read(self) -> Written:
        return Written(pauses={"charge": Pause(function="charge", since=datetime.now(UTC))})


async def test_a_paused_function_stays_paused_when_its_listener_is_replaced() -> None:
    renewed = Renewed({"charge": quick})
    renewed.house.pauses = PausedByHand()
    host = await renewed.start()
    (before,) = host.listeners

    await renewed.renew(change=lambda each: replace(each, entry_point="run"))
    await renewed.house.put("charge", "a")
    await renewed.clock.advance(60.0)

    (listener,) = host.listeners
    assert listener is not before
    assert list(listener.paused) == ["hand"]
    assert renewed.ran() == []
    await renewed.stop()


async def test_as_long_as_two_generations_finish_their_runs_a_reload_waits() -> None:
    """host#9335: a bound on what reloads leave behind, however long functions run."""
    done: list[str] = []
    renewed = Renewed({})
    renewed.house.functions = {"charge": taking(20.0, done, "0", renewed.clock)}
    saves = Saves()
    most = 0

    async def renew(host: Host, asked: Asked) -> Host:
        nonlocal most
        renewed.host = host
        version = str(int(asked.last_at))
        renewed.house.functions = {"charge": taking(20.0, done, version, renewed.clock)}
        workers = InlineWorker(renewed.house.functions, clock=renewed.clock)
        project = renewed.project()
        await workers.start([_spec(each) for each in project.functions])
        host.renew(project, workers, Loaded(), up_to_s=30.0)
        most = max(most, len(host.leaving))
        return host

    supervisor = renewed.house.supervisor(changes=saves, renew=renew)
    running = asyncio.create_task(supervisor.run())
    await renewed.house.put("charge", "first")
    for _ in range(20):
        await renewed.clock.advance(1.0)
        saves.save("charge/__init__.py")
        await renewed.house.put("charge", "next")
    await renewed.clock.advance(100.0)

    assert most == 2
    assert len(done) == 21
    assert len(renewed.house.probe.of(InvocationFinished)) == 21
    supervisor.request_stop("done")
    assert await renewed.clock.run(running) is ExitCode.OK


def names(**given: tuple[str, ...]) -> Difference:
    nothing: dict[str, tuple[str, ...]] = dict.fromkeys(
        ("added", "removed", "changed", "broken", "mended", "live"), ()
    )
    return Difference(**{**nothing, **given})


def test_what_has_become_of_functions_is_told_apart() -> None:
    before = Renewed({"same": quick, "gone": quick, "breaks": quick, "other": quick}).project()
    after = Renewed({"same": quick, "breaks": quick, "other": quick, "new": quick}).project(
        change=lambda each: replace(each, entry_point="run") if each.name == "other" else each
    )

    found = difference(
        standing(before, frozenset({"was_broken"})), standing(after, frozenset({"breaks"}))
    )

    assert found == names(
        added=("new",),
        removed=("gone", "was_broken"),
        changed=("other",),
        broken=("breaks",),
        live=("new", "other", "same"),
    )
    mended = difference(standing(before, frozenset({"same"})), standing(before, frozenset()))
    assert mended.mended == ("same",)


@pytest.mark.parametrize(
    ("change", "host", "same"),
    [
        (None, None, True),
        (lambda each: replace(each, entry_point="run"), None, True),
        (None, HostConfig(shutdown_timeout_s=30.0, lease_s=60.0), False),
        (
            lambda each: replace(
                each,
                trigger=replace(
                    each.trigger,
                    account=Account(name="b", endpoint="http://b", credential=Sas(token="")),
                ),
            ),
            None,
            False,
        ),
    ],
)
def test_a_host_goes_on_where_host_json_and_the_connections_are_as_before(
    change: Change | None, host: HostConfig | None, same: bool
) -> None:
    renewed = Renewed({"charge": quick})
    before = renewed.project()
    after = renewed.project(change=change, **({"host": host} if host else {}))

    assert same_house(before, after) is same

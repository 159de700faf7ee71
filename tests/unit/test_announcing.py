"""What a service manager hears, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from qtrigger.announcing import FIRST_POLLS_S, STATUS_S, Announcing
from qtrigger.events import (
    FunctionState,
    HostReady,
    HostStopping,
    Reloaded,
    ReloadRejected,
    ReloadStarted,
)
from qtrigger.systemd import Notifier
from qtrigger.testing.clock import ManualClock

READY = HostReady(
    functions=[
        FunctionState(name=name, queue="q", connection="c", state=state)
        for name, state in (("charge", "ready"), ("refund", "failed"))
    ],
    workers=1,
    interpreter="",
    after_s=1.0,
)
RELOADED = Reloaded(
    files=(),
    live=(),
    ready=3,
    added=(),
    removed=(),
    changed=(),
    broken=(),
    mended=(),
    took_s=0.1,
    running_before=0,
)


class Heard(Notifier):
    """Keeps what is said."""

    def __init__(self, *, listens: bool = True, watchdog_s: float | None = 60.0) -> None:
        super().__init__("", watchdog_s)
        self.said: list[str] = []
        self._listens = listens

    @property
    def listens(self) -> bool:
        return self._listens

    def tell(self, *assignments: str) -> None:
        self.said.extend(assignments)

    def take(self) -> list[str]:
        said, self.said = self.said, []
        return said


class Listener:
    def __init__(self) -> None:
        self.polled = asyncio.Event()


class Service:
    def __init__(self, heard: Heard) -> None:
        self.clock = ManualClock()
        self.heard = heard
        self.listeners = [Listener(), Listener()]
        self.problems: list[str] = []
        self.announcing = Announcing(
            heard,
            listeners=lambda: self.listeners,
            counts=lambda: {"succeeded": 1204, "failed_tries": 3, "poisoned": 1},
            problems=lambda: self.problems,
            clock=self.clock,
        )

    async def get_ready(self) -> None:
        self.announcing.emit(READY)
        for listener in self.listeners:
            listener.polled.set()
        await self.clock.advance(0.0)
        self.heard.take()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service(Heard())
    yield made
    made.announcing.close()


async def test_it_is_ready_once_every_queue_was_polled(service: Service) -> None:
    service.announcing.emit(READY)
    first, second = service.listeners
    first.polled.set()
    await service.clock.advance(1.0)
    assert "READY=1" not in service.heard.said

    second.polled.set()
    await service.clock.advance(0.0)

    assert service.heard.take() == [
        "READY=1",
        "STATUS=ready: 1 function, 1,204 ok, 3 failed, 1 poisoned",
    ]


async def test_a_queue_that_does_not_answer_holds_it_up_for_a_while_only(service: Service) -> None:
    service.announcing.emit(READY)

    await service.clock.advance(FIRST_POLLS_S - 1.0)
    assert "READY=1" not in service.heard.said
    await service.clock.advance(1.0)

    assert "READY=1" in service.heard.said


@pytest.mark.parametrize("end", [RELOADED, ReloadRejected(message="m")])
async def test_a_reload_begins_and_ends_whatever_becomes_of_it(
    service: Service, end: Reloaded | ReloadRejected
) -> None:
    await service.get_ready()

    service.announcing.emit(ReloadStarted(files=()))
    (began,) = service.heard.take()
    service.announcing.emit(end)

    assert began.startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert service.heard.take()[0] == "READY=1"


async def test_a_stop_asks_for_the_time_of_its_drain(service: Service) -> None:
    await service.get_ready()

    service.announcing.emit(HostStopping(reason="SIGTERM", running=2, up_to_s=120.0))

    assert service.heard.take()[:2] == ["STOPPING=1", "EXTEND_TIMEOUT_USEC=135000000"]


async def test_a_host_that_a_reload_has_replaced_stops_nothing(service: Service) -> None:
    await service.get_ready()

    service.announcing.emit(HostStopping(reason="reload", running=2, up_to_s=120.0))

    assert service.heard.take() == []


async def test_a_stop_before_it_is_ready_stays_one(service: Service) -> None:
    service.announcing.emit(READY)
    service.announcing.emit(HostStopping(reason="SIGTERM", running=0, up_to_s=1.0))

    await service.clock.advance(FIRST_POLLS_S)

    assert "READY=1" not in service.heard.said


async def test_its_status_is_told_now_and_then(service: Service) -> None:
    await service.get_ready()

    await service.clock.advance(3 * STATUS_S)

    assert len(service.heard.take()) == 3


async def test_while_something_stands_still_no_sign_of_life_is_given(service: Service) -> None:
    await service.get_ready()
    service.announcing.looked()
    assert service.heard.take() == ["WATCHDOG=1"]

    service.problems = ["worker 7 has not answered for 20 s"]
    service.announcing.looked()

    assert service.heard.take() == ["STATUS=ready, but worker 7 has not answered for 20 s"]


async def test_without_a_watchdog_no_sign_of_life_is_given() -> None:
    service = Service(Heard(watchdog_s=None))

    service.announcing.looked()

    assert service.heard.take() == []
    service.announcing.close()


async def test_without_a_manager_nothing_is_done() -> None:
    service = Service(Heard(listens=False))

    service.announcing.emit(READY)
    await service.clock.advance(60.0)

    assert service.heard.take() == []
    service.announcing.close()

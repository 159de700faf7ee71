"""Notices of poisoned messages: what they say, their pace, and that they hold nothing up."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from qtrigger.events import MessagePoisoned, NoticeFailed, NoticesDropped
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Outcome,
    Rejected,
    TimedOut,
    TriggerMessage,
    WorkerLost,
)
from qtrigger.notices import TellingError
from qtrigger.project.model import QueueOptions
from qtrigger.project.options import OwnOptions, PoisonNotice
from qtrigger.telemetry.lines import line_of
from qtrigger.testing.clock import START, ManualClock
from tests.unit.harness import PLAIN, Bench, fail, succeed
from tests.unit.test_host import House

ONCE = replace(PLAIN, max_dequeue_count=1)
TOLD = OwnOptions(on_poison=PoisonNotice(command=("./tell",)))
WITH_BODY = OwnOptions(on_poison=PoisonNotice(command=("./tell",), include_body=True))


class FakeTeller:
    """Keeps what it is told, and when; takes `takes_s` and raises `error`, if any."""

    def __init__(self, *, takes_s: float = 0.0, error: Exception | None = None) -> None:
        self.who = "program ./tell"
        self.told: list[dict[str, Any]] = []
        self.at: list[float] = []
        self.cancelled = 0
        self.most_at_once = 0
        self.clock: ManualClock | None = None
        self._takes_s = takes_s
        self._error = error
        self._at_once = 0

    async def tell(self, document: str) -> None:
        assert self.clock is not None
        self.at.append(self.clock.monotonic())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await self.clock.sleep(self._takes_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self._at_once -= 1
        if self._error:
            raise self._error
        self.told.append(json.loads(document))


def bench_with(*tellers: FakeTeller, **given: Any) -> Bench:
    options = {"options": ONCE, "own": TOLD, **given}
    bench = Bench(options.pop("body", fail), tellers=tellers, **options)
    for teller in tellers:
        teller.clock = bench.clock
    return bench


def ends_with(outcome: Outcome) -> Any:
    async def body(_message: TriggerMessage) -> Outcome:
        return outcome

    return body


async def test_a_notice_says_which_message_where_it_went_and_why() -> None:
    teller = FakeTeller()
    bench = bench_with(teller)
    await bench.start("secret body")

    await bench.clock.advance(1.0)

    (poisoned,) = bench.probe.of(MessagePoisoned)
    assert teller.told == [
        {
            "schema_version": 1,
            "function": "charge",
            "queue": "orders",
            "poison_queue": "orders-poison",
            "message_id": poisoned.message_id,
            "invocation_id": bench.invocations[0].id,
            "reason": "tries",
            "detail": "",
            "error": {"type": "ValueError", "message": "no"},
            "dequeue_count": 1,
            "max_dequeue_count": 1,
            "inserted": START.isoformat(),
            "time": START.isoformat(),
            "dropped": 0,
        }
    ]
    await bench.stop()


@pytest.mark.parametrize(
    ("outcome", "error", "reason"),
    [
        (
            Failed(error=ErrorDetail(type="KeyError", message="'id'")),
            {"type": "KeyError", "message": "'id'"},
            "tries",
        ),
        (
            TimedOut(after_s=90.0),
            {"type": "TimedOut", "message": "timed out after 90 s (functionTimeout)"},
            "tries",
        ),
        (
            WorkerLost(how="exit code 3", alone=True),
            {"type": "WorkerLost", "message": "the worker process ended: exit code 3"},
            "tries",
        ),
        (Rejected(reason="no such customer"), None, "rejected"),
    ],
    ids=["failed", "timed out", "worker lost", "rejected"],
)
async def test_a_notice_says_how_the_last_run_ended(
    outcome: Outcome, error: dict[str, str] | None, reason: str
) -> None:
    teller = FakeTeller()
    bench = bench_with(teller, body=ends_with(outcome))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert [(each["error"], each["reason"]) for each in teller.told] == [(error, reason)]
    await bench.stop()


@pytest.mark.parametrize(
    ("encoding", "text", "body"),
    [
        ("base64", "aMOpbGxv", {"body": "héllo", "body_encoding": "text"}),
        ("base64", "/w==", {"body": "/w==", "body_encoding": "base64"}),
        ("base64", "no base64!", {"body": "no base64!", "body_encoding": "undecoded"}),
        ("none", "héllo", {"body": "héllo", "body_encoding": "text"}),
    ],
)
async def test_the_body_is_told_only_when_it_is_wanted(
    encoding: str, text: str, body: dict[str, str]
) -> None:
    teller = FakeTeller()
    options = QueueOptions(message_encoding=encoding, max_dequeue_count=1)
    bench = bench_with(teller, own=WITH_BODY, options=options)
    await bench.start(text)

    await bench.clock.advance(1.0)

    (told,) = teller.told
    assert {key: told[key] for key in ("body", "body_encoding")} == body
    await bench.stop()


async def test_nobody_is_told_before_the_message_was_settled_and_of_none_that_was_not_moved() -> (
    None
):
    teller = FakeTeller()
    bench = bench_with(teller)
    bench.service.slow("delete", 30.0)
    await bench.start("a")

    await bench.clock.advance(29.0)
    before = list(teller.told)
    await bench.clock.advance(2.0)

    assert (before, len(teller.told)) == ([], 1)
    await bench.stop()


async def test_what_is_left_where_it_is_for_want_of_a_poison_queue_is_no_news() -> None:
    teller = FakeTeller()
    options = QueueOptions(max_dequeue_count=1)
    bench = bench_with(teller, queue="orders-poison", options=options)
    await bench.start("no base64!")

    await bench.clock.advance(1.0)

    assert (teller.told, len(bench.probe.of(MessagePoisoned))) == ([], 1)
    await bench.stop()


async def test_success_is_no_news() -> None:
    teller = FakeTeller()
    bench = bench_with(teller, body=succeed)
    await bench.start(*"abc")

    await bench.clock.advance(1.0)

    assert teller.told == []
    await bench.stop()


async def test_a_teller_that_hangs_holds_no_message_up_and_is_ended_after_ten_seconds() -> None:
    teller = FakeTeller(takes_s=3600.0)
    bench = bench_with(teller)
    await bench.start(*"abcdefgh")

    await bench.clock.advance(1.0)
    assert (bench.left(), len(bench.left("orders-poison"))) == ([], 8)
    await bench.clock.advance(100.0)

    assert (teller.cancelled, teller.most_at_once) == (8, 1)
    assert [round(at) for at in teller.at] == [0, 10, 20, 30, 40, 50, 60, 70]
    failed = bench.probe.of(NoticeFailed)
    assert "it did not end within 10 s" in line_of(failed[0]).text
    assert len(failed) == 8
    await bench.stop()


async def test_ten_notices_begin_at_once_and_one_a_second_after_them() -> None:
    teller = FakeTeller()
    bench = bench_with(teller)
    await bench.start(*map(str, range(15)))

    await bench.clock.advance(60.0)

    assert [round(at) for at in teller.at] == [0] * 10 + [1, 2, 3, 4, 5]
    await bench.stop()


async def test_beyond_a_hundred_that_wait_notices_are_dropped_and_the_next_one_says_how_many() -> (
    None
):
    teller = FakeTeller(takes_s=9.0)
    bench = bench_with(teller)
    await bench.start(*map(str, range(130)))

    await bench.clock.advance(2000.0)

    assert len(teller.told) == 100
    assert [each["dropped"] for each in teller.told if each["dropped"]] == [30]
    (dropped,) = bench.probe.of(NoticesDropped)
    assert (dropped.count, dropped.reason) == (30, "full")
    assert len(bench.left("orders-poison")) == 130
    await bench.stop()


async def test_a_teller_that_fails_is_one_warning_each_and_the_next_are_told_all_the_same() -> None:
    failing = FakeTeller(error=TellingError("it answered 500, 3 times", "see who listens"))
    other = FakeTeller()
    bench = bench_with(failing, other)
    await bench.start(*"ab")

    await bench.clock.advance(5.0)

    lines = [line_of(event) for event in bench.probe.of(NoticeFailed)]
    assert len(lines) == 2
    assert lines[0].text == (
        "program ./tell was not told of the poisoned message: it answered 500, 3 times"
    )
    assert lines[0].hint == "see who listens"
    assert len(other.told) == 2
    await bench.stop()


async def test_a_defect_in_a_teller_is_told_without_its_text() -> None:
    teller = FakeTeller(error=RuntimeError("https://hooks.example/s3cret"))
    bench = bench_with(teller)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (failed,) = bench.probe.of(NoticeFailed)
    assert failed.message == "a defect of qtrigger: RuntimeError"
    await bench.stop()


async def test_a_stop_sends_what_waits_without_its_pace() -> None:
    teller = FakeTeller(takes_s=0.1)
    bench = bench_with(teller)
    await bench.start(*map(str, range(30)))
    await bench.clock.advance(0.2)
    await bench.stop()

    await bench.clock.run(bench.notices.stop(30.0))

    assert len(teller.told) == 30
    assert bench.clock.monotonic() < 6.0
    assert bench.probe.of(NoticesDropped) == []


@pytest.mark.parametrize(("left_s", "told"), [(30.0, 5), (2.5, 2), (0.0, 0), (-1.0, 0)])
async def test_a_stop_waits_five_seconds_at_most_and_then_says_how_many_were_not_told(
    left_s: float, told: int
) -> None:
    teller = FakeTeller(takes_s=0.9)
    bench = bench_with(teller)
    await bench.start(*map(str, range(12)))
    await bench.clock.advance(0.1)
    await bench.stop()
    before = len(teller.told)
    began = bench.clock.monotonic()

    await bench.clock.run(bench.notices.stop(left_s))

    assert len(teller.told) - before == told
    assert bench.clock.monotonic() - began <= 5.0
    (dropped,) = bench.probe.of(NoticesDropped)
    assert (dropped.count, dropped.reason) == (12 - len(teller.told), "stopped")
    assert "nobody was told of" in line_of(dropped).text


async def test_what_is_poisoned_after_the_stop_is_counted_as_untold() -> None:
    teller = FakeTeller()
    bench = bench_with(teller)
    await bench.notices.stop(5.0)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert teller.told == []
    assert [each.count for each in bench.probe.of(NoticesDropped)] == [1]
    await bench.stop()


async def test_a_function_that_wants_no_notices_has_no_part_in_them() -> None:
    bench = Bench(fail)

    assert bench.notices.of(bench.function, None) is None
    assert bench.notices.of(bench.function, lambda _function: [FakeTeller()]) is None


@pytest.mark.parametrize(
    ("up_to_s", "forced", "told"),
    [(30.0, False, 5), (3.0, False, 3), (30.0, True, 0)],
    ids=["five seconds at most", "within the shutdown's time", "at once"],
)
async def test_a_host_tells_at_its_stop_what_it_has_time_for(
    up_to_s: float, forced: bool, told: int
) -> None:
    async def charge(msg: str) -> None:
        raise ValueError(msg)

    house = House({"charge": charge})
    teller = FakeTeller(takes_s=0.9)
    teller.clock = house.clock
    host = house.host()
    host.project = replace(
        host.project,
        functions=tuple(replace(each, own=TOLD, options=ONCE) for each in host.project.functions),
    )
    await house.put("charge", *map(str, range(12)))
    await host.start(
        workers=1, interpreter="", began_at=0.0, open_tellers=lambda _function: [teller]
    )
    await house.clock.advance(0.1)
    at_once = asyncio.Event()
    if forced:
        at_once.set()

    await house.clock.run(host.stop("SIGTERM", up_to_s=up_to_s, at_once=at_once))

    assert len(teller.told) == told
    assert [each.count for each in house.probe.of(NoticesDropped)] == [12 - told]
    assert len(house.service.peek_all("charge-poison")) == 12

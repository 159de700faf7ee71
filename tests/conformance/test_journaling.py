"""What the journal keeps of a function's messages: every failed try with its reason, no body."""

from __future__ import annotations

from dataclasses import replace

from qtrigger.events import UserLog
from qtrigger.hiding import Hiding
from qtrigger.invocation import ErrorDetail, Failed, Outcome, Rejected, TimedOut, WorkerLost
from qtrigger.journal import FailedTry, PoisonCopy
from qtrigger.journaling import (
    MOST_ENDED,
    MOST_LINES,
    MOST_OF_A_LINE,
    MOST_OF_LINES,
    MOST_RUNS,
    Journaling,
)
from qtrigger.project.model import QueueOptions, RetryPolicy
from qtrigger.testing.clock import START
from tests.unit.harness import PLAIN, Bench, Body, fail

TWICE = replace(PLAIN, max_dequeue_count=2)
ONCE = replace(PLAIN, max_dequeue_count=1)
SECRET = "c2VjcmV0LWtleS1vZi10aGUtYWNjb3VudA=="


class Kept:
    """What a journal was given."""

    def __init__(self) -> None:
        self.records: list[FailedTry | PoisonCopy] = []
        self.hiding = Hiding()
        self.journaling = Journaling(
            self.records.append, now=lambda: START, plain=self.hiding.plain
        )
        self.journaling.on = True

    def of(self, bench: Bench) -> Kept:
        """Let it hear what has happened there."""
        for event in bench.probe.events:
            self.journaling.emit(event)
        bench.probe.events.clear()
        return self

    @property
    def tries(self) -> list[FailedTry]:
        return [each for each in self.records if isinstance(each, FailedTry)]

    @property
    def copies(self) -> list[PoisonCopy]:
        return [each for each in self.records if isinstance(each, PoisonCopy)]


def always(outcome: Outcome) -> Body:
    async def body(_message: object) -> Outcome:
        return outcome

    return body


def line(invocation_id: str, text: str, *, logger: str = "orders") -> UserLog:
    return UserLog(
        function="charge",
        invocation_id=invocation_id,
        message_id="m",
        level=30,
        logger=logger,
        message=text,
    )


async def test_each_failed_try_is_kept_and_the_copy_by_the_id_that_it_has_there() -> None:
    bench = Bench(fail, options=TWICE)
    await bench.start("a")
    message_id = bench.service.peek_all("orders")[0].id

    await bench.clock.advance(5.0)

    kept = Kept().of(bench)
    assert [(each.dequeue_count, each.outcome) for each in kept.tries] == [
        (1, "failed"),
        (2, "failed"),
    ]
    assert {each.message_id for each in kept.tries} == {message_id}
    assert (kept.tries[0].error_type, kept.tries[0].error_message) == ("ValueError", "no")
    (copy,) = kept.copies
    assert copy.poison_id == bench.service.peek_all("orders-poison")[0].id != message_id
    assert (copy.message_id, copy.poison_queue, copy.function) == (
        message_id,
        "orders-poison",
        "charge",
    )


async def test_a_message_that_succeeds_leaves_nothing() -> None:
    bench = Bench()
    await bench.start("a", "b")

    await bench.clock.advance(5.0)

    assert Kept().of(bench).records == []


async def test_every_way_to_fail_has_its_word() -> None:
    ways: dict[Outcome, tuple[str, str]] = {
        TimedOut(after_s=5.0): ("timed_out", "TimedOut"),
        WorkerLost(how="signal 9 (SIGKILL)", alone=True): ("worker_lost", "WorkerLost"),
        Rejected(reason="no card"): ("rejected", "Rejected"),
    }
    for outcome, words in ways.items():
        bench = Bench(always(outcome), options=ONCE)
        await bench.start("a")
        await bench.clock.advance(2.0)
        kept = Kept().of(bench)
        assert [(each.outcome, each.error_type) for each in kept.tries] == [words]
        assert len(kept.copies) == 1


async def test_an_undecodable_text_is_kept_without_the_text() -> None:
    bench = Bench(options=QueueOptions())
    await bench.start("no base64, and private")

    await bench.clock.advance(2.0)

    kept = Kept().of(bench)
    (found,) = kept.tries
    assert (found.outcome, found.invocation_id) == ("undecodable", "")
    assert "base64" in found.error_message
    assert "private" not in repr(kept.records)
    assert len(kept.copies) == 1


async def test_a_message_whose_tries_died_elsewhere_says_so() -> None:
    bench = Bench(options=ONCE)
    await bench.queue.create()
    await bench.queue.send("a")
    await bench.queue.receive(1, 1.0)
    await bench.clock.advance(1.0)
    await bench.start()

    await bench.clock.advance(2.0)

    kept = Kept().of(bench)
    (found,) = kept.tries
    assert found.outcome == "used_up"
    assert "left no result here" in found.error_message
    assert len(kept.copies) == 1


async def test_the_runs_of_a_retry_policy_are_kept_one_by_one() -> None:
    policy = RetryPolicy(strategy="fixedDelay", max_retries=2, minimum_s=1.0, maximum_s=1.0)
    bench = Bench(fail, options=ONCE, retry=policy)
    await bench.start("a")

    await bench.clock.advance(10.0)

    assert len(Kept().of(bench).tries) == 3


def ran(kept: Kept, bench: Bench, *lines: UserLog) -> FailedTry:
    """Let a run log those lines and fail; what is kept of it."""
    for each in lines:
        kept.journaling.emit(each)
    return kept.of(bench).tries[-1]


async def failed_once() -> tuple[Bench, str]:
    bench = Bench(fail, options=ONCE)
    await bench.start("a")
    await bench.clock.advance(2.0)
    return bench, bench.invocations[0].id


async def test_the_last_lines_of_the_run_stand_with_it_and_no_others() -> None:
    bench, run = await failed_once()
    others = [line(f"other-{number}", "not this") for number in range(MOST_RUNS // 2)]
    own = [line(run, f"line {number}") for number in range(MOST_LINES + 10)]

    found = ran(Kept(), bench, *own, *others, line(run, "printed", logger="stdout"))

    assert len(found.lines) == MOST_LINES
    assert found.lines[-2:] == (f"WARNING orders: line {MOST_LINES + 9}", "printed")


async def test_lines_are_cut_to_their_bound_the_last_ones_stay() -> None:
    bench, run = await failed_once()

    found = ran(Kept(), bench, *(line(run, "x" * 5000) for _ in range(30)), line(run, "last"))

    assert sum(map(len, found.lines)) <= MOST_OF_LINES
    assert found.lines[-1] == "WARNING orders: last"


async def test_a_message_of_a_list_has_the_lines_of_its_run_after_another_was_told() -> None:
    bench, run = await failed_once()
    (finished,) = [e for e in bench.probe.events if type(e).__name__ == "InvocationFinished"]
    kept = Kept()

    found = ran(kept, bench, line(run, "of both"))
    kept.journaling.emit(finished)

    assert found.lines == kept.tries[-1].lines == ("WARNING orders: of both",)


async def test_lines_of_runs_that_never_end_are_given_up() -> None:
    kept = Kept()
    for number in range(MOST_RUNS + MOST_ENDED):
        kept.journaling.emit(line(f"run-{number}", "hm"))
    bench, _ = await failed_once()

    assert kept.of(bench).tries[0].lines == ()
    assert len(kept.journaling._lines) == MOST_RUNS


async def test_no_key_of_ours_is_kept_wherever_it_shows() -> None:
    error = ErrorDetail(
        type="AuthError", message=f"key {SECRET} refused", traceback=f"…\nAuthError: key {SECRET}"
    )
    bench = Bench(always(Failed(error=error)), options=ONCE)
    await bench.start("a")
    await bench.clock.advance(2.0)
    kept = Kept()
    kept.hiding.learn([SECRET, "", "ab"])

    # The second is so long that it is cut in the midst of the key.
    long = f"{'x' * (MOST_OF_A_LINE - 10)}{SECRET}"
    run = bench.invocations[0].id
    found = ran(kept, bench, line(run, f"trying {SECRET}"), line(run, long))

    assert SECRET[:8] not in repr(kept.records)
    assert found.error_message == "key (hidden) refused"


async def test_a_project_that_wants_no_journal_has_none() -> None:
    bench, run = await failed_once()
    kept = Kept()
    kept.journaling.on = False
    kept.journaling.emit(line(run, "hm"))

    assert kept.of(bench).records == []

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest

from qtrigger.admin.dashboard.recent import (
    MOST_OF_TEXTS,
    MOST_OTHERS,
    MOST_RUNS,
    MOST_SUCCEEDED,
    Recent,
)
from qtrigger.admin.dashboard.run import Run
from qtrigger.admin.dashboard.series import SPAN_S, Series
from qtrigger.events import InvocationFinished, UserLog
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Outcome,
    Output,
    OutputItem,
    Rejected,
    Succeeded,
)
from qtrigger.testing.clock import ManualClock


def finished(
    outcome: Outcome | None = None,
    *,
    run: str = "run",
    function: str = "charge",
    took: float = 0.04,
) -> InvocationFinished:
    return InvocationFinished(
        function=function,
        queue="orders",
        invocation_id=run,
        message_id=f"message-{run}",
        dequeue_count=1,
        max_dequeue_count=5,
        duration_s=took,
        waited_s=0.0,
        outcome=outcome or Succeeded(),
        disposition="acked",
    )


def line(text: str, *, run: str = "run", logger: str = "shop") -> UserLog:
    return UserLog(
        function="charge",
        invocation_id=run,
        message_id="m",
        level=logging.INFO,
        logger=logger,
        message=text,
    )


def raised(text: str, traceback: str = "") -> Failed:
    return Failed(error=ErrorDetail(type="ValueError", message=text, traceback=traceback))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def texts_kept(runs: Iterator[Run]) -> int:
    return sum(each.texts.size for each in runs if each.texts is not None)


def test_a_place_that_no_page_could_send_is_made_sendable(clock: ManualClock) -> None:
    recent = Recent(clock, lambda text: text.replace("s3cret", "(hidden)"))
    error = ErrorDetail(type="E", message="m", place="/srv/s3cret/\udcff.py:1")
    recent.emit(finished(Failed(error=error)))
    (run,) = recent.runs("charge")
    assert run.texts is not None
    run.texts.place.encode()
    assert "s3cret" not in run.texts.place


def test_the_last_two_hundred_runs_are_kept_newest_first(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    for number in range(250):
        recent.emit(finished(run=str(number)))
    runs = list(recent.runs("charge"))
    assert len(runs) == MOST_SUCCEEDED
    assert (runs[0].invocation_id, runs[0].number, runs[-1].invocation_id) == ("249", 250, "50")


def test_a_run_has_its_error_and_its_own_lines(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    recent.emit(line("one", run="a"))
    recent.emit(line("other", run="b"))
    recent.emit(line("printed", run="a", logger="stdout"))
    recent.emit(finished(raised("no", "Traceback …"), run="a"))
    recent.emit(finished(run="b"))
    succeeded, failed = recent.runs("charge")
    assert failed.outcome == "failed"
    assert failed.texts is not None
    assert failed.texts.lines == ("INFO shop: one", "printed")
    assert (failed.texts.error_type, failed.texts.traceback) == ("ValueError", "Traceback …")
    assert succeeded.texts is not None
    assert succeeded.texts.lines == ("INFO shop: other",)


def test_no_output_of_a_run_is_held(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    outputs = (Output(binding="out", items=(OutputItem(body=b"secret body"),)),)
    recent.emit(finished(Succeeded(outputs=outputs)))
    (run,) = recent.runs("charge")
    assert run.texts is None
    assert "secret body" not in repr(run)


def test_secrets_are_hidden_before_anything_is_cut(clock: ManualClock) -> None:
    recent = Recent(clock, lambda text: text.replace("KEY" * 10, "(hidden)"))
    recent.emit(line("x" * 990 + "KEY" * 10))
    recent.emit(finished(raised("it was " + "KEY" * 10, "KEY" * 10)))
    recent.emit(finished(Rejected(reason="KEY" * 10)))
    for run in recent.runs("charge"):
        assert "KEY" not in str(run)


def test_texts_of_all_functions_together_have_a_bound(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    names = [f"f{number}" for number in range(40)]
    for number in range(60):
        for name in names:
            text = raised("m" * 5000, "t" * 50_000)
            recent.emit(finished(text, run=f"{name}-{number}", function=name))
    kept = sum(texts_kept(recent.runs(name)) for name in names)
    assert MOST_OF_TEXTS * 0.3 < kept <= MOST_OF_TEXTS / 2
    newest, *_, oldest = recent.runs("f0")
    assert newest.texts is not None
    assert newest.texts.traceback
    assert oldest.texts is not None
    assert (oldest.texts.left_out, oldest.texts.error_type) == (True, "ValueError")


def test_texts_of_runs_that_are_no_longer_kept_make_room(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    for number in range(MOST_SUCCEEDED):
        recent.emit(line("one", run=str(number)))
        recent.emit(finished(run=str(number)))
    assert texts_kept(recent.runs("charge")) > 0
    for number in range(MOST_SUCCEEDED):
        recent.emit(finished(run=f"later {number}"))
    assert texts_kept(recent.runs("charge")) == 0
    assert recent._functions["charge"].succeeded.size == 0


def test_a_failure_outlives_any_number_of_runs_that_succeed(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    recent.emit(finished(raised("no", "Traceback …"), run="bad"))
    for number in range(3 * MOST_SUCCEEDED):
        recent.emit(line("fine", run=str(number)))
        recent.emit(finished(run=str(number)))
    *others, last = recent.runs("charge")
    assert len(others) == MOST_SUCCEEDED
    assert [each.number for each in others] == sorted((e.number for e in others), reverse=True)
    assert last.texts is not None
    assert (last.invocation_id, last.texts.traceback) == ("bad", "Traceback …")


def test_failures_have_a_bound_as_well(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    for number in range(2 * MOST_OTHERS):
        recent.emit(finished(raised("no"), run=str(number)))
    assert len(list(recent.runs("charge"))) == MOST_OTHERS


def test_lines_of_runs_that_never_end_have_a_bound(clock: ManualClock) -> None:
    recent = Recent(clock, str)
    for number in range(MOST_RUNS + 100):
        recent.emit(line("x" * 5000, run=str(number)))
    assert len(recent._lines) == MOST_RUNS


def test_a_message_costs_microseconds_and_no_more(clock: ManualClock) -> None:
    recent, event = Recent(clock, str), finished()
    best = 1e9
    for _ in range(12):  # the least of several: another process may have had the processor
        began = time.process_time()
        for _ in range(5000):
            recent.emit(event)
        best = min(best, (time.process_time() - began) / 5000)
    assert best < 5e-6  # one on a processor of its own; twice that where others share it


def test_counts_are_of_the_last_seconds_alone() -> None:
    series = Series(1000)
    series.count(1000, 0.1, False)
    series.count(1001, 0.1, True)
    assert (series.ended(1001, 300), series.failed(1001, 300)) == (2, 1)
    assert (series.ended(1300, 300), series.failed(1300, 300)) == (1, 1)
    assert series.ended(1302, 300) == 0
    assert series.ended(1000 + 2 * SPAN_S, SPAN_S) == 0


def test_points_are_whole_ten_seconds() -> None:
    series = Series(1000)
    for second in range(1000, 1025):
        series.count(second, 0.1, second == 1005)
    ended, failed = series.points(1025)
    assert ended[-2:] == [10, 10]
    assert failed[-2:] == [1, 0]
    ended, _ = series.points(1031)
    assert ended[-3:] == [10, 10, 5]


@pytest.mark.parametrize("took", [0.0005, 0.004, 0.05, 0.9, 12.0, 300.0])
def test_a_quantile_is_off_by_an_eighth_at_most(took: float) -> None:
    series = Series(0)
    series.count(0, took, False)
    (found,) = series.quantiles(0, (0.95,))
    assert found is not None
    assert found == pytest.approx(took, rel=0.13)


def test_quantiles_are_of_the_share_that_is_asked_for() -> None:
    series = Series(0)
    for number in range(100):
        series.count(0, 0.01 if number < 90 else 1.0, False)
    middle, slow = series.quantiles(0, (0.5, 0.95))
    assert middle == pytest.approx(0.01, rel=0.13)
    assert slow == pytest.approx(1.0, rel=0.13)
    assert Series(0).quantiles(0, (0.5,)) == [None]


def test_durations_have_a_gap_where_nothing_ran() -> None:
    series = Series(0)
    series.count(5, 0.01, False)
    series.count(45, 1.0, False)
    ((*_, first, gap, last),) = series.durations(45, (0.5,))
    assert first == pytest.approx(0.01, rel=0.13)
    assert gap is None
    assert last == pytest.approx(1.0, rel=0.13)


def test_no_duration_is_too_short_or_too_long_to_count() -> None:
    series = Series(0)
    for took in (0.0, 1e-9, 1e7):
        series.count(0, took, False)
    assert series.ended(0, 1) == 3

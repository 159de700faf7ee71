"""A fault is said when it is new, and once."""

from __future__ import annotations

from qtrigger.cli.told import News, Told
from qtrigger.events import Finding, FunctionLoadFailed
from qtrigger.project.model import Problem, Severity
from qtrigger.testing.probe import Probe

WRONG = Problem(severity=Severity.ERROR, message="wrong", file="host.json", line=3)
ODD = Problem(severity=Severity.WARNING, message="odd", file="host.json", line=4)
UNLOADED = FunctionLoadFailed(function="charge", place="charge/__init__.py:2", message="no")


def test_what_a_load_finds_is_held_back_until_it_is_to_be_said() -> None:
    probe = Probe()
    news = News(probe, Told())

    news.emit(UNLOADED)
    assert probe.events == []
    assert news.of_errors([])
    news.tell([WRONG])

    assert [type(event) for event in probe.events] == [Finding, FunctionLoadFailed]


def test_a_fault_that_was_said_is_news_again_only_after_it_was_mended() -> None:
    probe, told = Probe(), Told()
    for problems in ([WRONG, ODD], [WRONG], [], [WRONG]):
        news = News(probe, told)
        if problems:
            news.emit(UNLOADED)
        news.tell(problems)

    assert [event.message for event in probe.of(Finding)] == ["wrong", "odd", "wrong"]
    assert len(probe.of(FunctionLoadFailed)) == 2


def test_a_warning_or_a_known_error_is_nothing_to_wait_for() -> None:
    probe, told = Probe(), Told()
    News(probe, told).tell([WRONG])
    news = News(probe, told)

    assert not news.of_errors([WRONG, ODD])


def test_a_failure_of_a_later_worker_is_said_at_once_and_known_at_the_next_reload() -> None:
    probe, told = Probe(), Told()
    news = News(probe, told)
    news.tell([])
    news.emit(UNLOADED)
    assert probe.events == [UNLOADED]

    later = News(probe, told)
    later.emit(UNLOADED)
    later.tell([])

    assert probe.events == [UNLOADED]

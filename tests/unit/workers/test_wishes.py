"""Which exceptions ask for something other than a failure."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from qtrigger import ends
from qtrigger.workers.python.failures import Describer
from qtrigger.workers.python.wishes import Wishes, WishRefused

HERE = str(Path(__file__).parent)


def wish_of(
    error: BaseException, root: str = HERE, told: list[tuple[str, str]] | None = None
) -> dict[str, Any] | None:
    def notice(kind: str, text: str) -> None:
        if told is not None:
            told.append((kind, text))

    return Wishes(Describer(root)).of(error, notice)


class Later(Exception):
    __qtrigger__ = "later"

    def __init__(self, delay: Any = None) -> None:
        super().__init__(delay)
        if delay is not None:
            self.delay = delay


class Reject(Exception):
    __qtrigger__ = "reject"

    def __init__(self, text: str = "", reason: Any = None) -> None:
        super().__init__(text)
        self.reason = reason


class Unfit(Reject):
    pass


class Mute(Reject):
    def __str__(self) -> str:
        raise RuntimeError


class Breaks(Later):
    @property
    def delay(self) -> float:
        raise RuntimeError


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError


def test_a_marked_later_asks_for_a_delay() -> None:
    assert wish_of(Later(90)) == {"end": "later", "delay": 90.0}
    assert wish_of(Later(timedelta(minutes=2))) == {"end": "later", "delay": 120.0}


def test_a_marked_reject_or_a_class_derived_from_it_gives_its_reason_or_its_text() -> None:
    assert wish_of(Reject(reason="no such order")) == {"end": "reject", "reason": "no such order"}
    assert wish_of(Unfit("no such order")) == {"end": "reject", "reason": "no such order"}
    assert wish_of(Reject(reason="\ud800")) == {"end": "reject", "reason": r"\ud800"}


def named(name: str, **members: Any) -> BaseException:
    """An exception of a class of that name that this module defines."""
    error = type(name, (Exception,), {"__module__": __name__, **members})("no such order")
    assert isinstance(error, BaseException)
    return error


def test_a_class_of_the_project_is_known_by_its_name_and_attributes() -> None:
    assert wish_of(named("Later", delay=30)) == {"end": "later", "delay": 30.0}
    assert wish_of(named("Reject")) == {"end": "reject", "reason": "no such order"}


def test_a_class_derived_from_one_of_that_name_is_known_too() -> None:
    derived = type("Unfit", (type(named("Reject", reason="too old")),), {})

    assert wish_of(derived()) == {"end": "reject", "reason": "too old"}


@pytest.mark.parametrize("mark", ["", None])
def test_an_empty_mark_makes_it_a_failure_like_any_other(mark: object) -> None:
    assert wish_of(named("Later", delay=30, __qtrigger__=mark)) is None
    assert wish_of(named("Reject", __qtrigger__=mark)) is None
    derived = type("Unfit", (type(named("Reject")),), {"__qtrigger__": mark})
    assert wish_of(derived()) is None


def test_a_later_without_a_delay_is_somebodys_own_exception() -> None:
    assert wish_of(named("Later")) is None


def test_an_unmarked_later_whose_delay_cannot_be_read_is_a_failure_that_says_why() -> None:
    with pytest.raises(WishRefused, match="Later with a delay of type str"):
        wish_of(named("Later", delay="soon"))
    with pytest.raises(WishRefused, match="its delay cannot be read: ZeroDivisionError"):
        wish_of(named("Later", delay=property(lambda _self: 1 / 0)))


def test_a_class_of_an_installed_package_counts_only_with_a_mark(tmp_path: Path) -> None:
    elsewhere = str(tmp_path)

    assert wish_of(named("Reject"), elsewhere) is None
    assert wish_of(named("Later", delay=30), elsewhere) is None
    assert wish_of(named("Reject", __qtrigger__="reject"), elsewhere) is not None
    assert wish_of(named("Reject", __module__="nowhere")) is None


def test_the_ready_made_ones_count_wherever_they_are_installed(tmp_path: Path) -> None:
    later, reject = ends.Later(timedelta(minutes=1)), ends.Reject("too old")

    assert wish_of(later, str(tmp_path)) == {"end": "later", "delay": 60.0}
    assert wish_of(reject, str(tmp_path)) == {"end": "reject", "reason": "too old"}


def test_a_rejection_by_name_alone_is_told_with_how_to_opt_out() -> None:
    told: list[tuple[str, str]] = []

    wish_of(named("Later", delay=1), told=told)
    wish_of(Reject("marked"), told=told)
    assert told == []
    wish_of(named("Reject"), told=told)

    ((kind, text),) = told
    assert kind == "rejected-by-name"
    assert f"{__name__}.Reject" in text
    assert '__qtrigger__ = ""' in text


@pytest.mark.parametrize("mark", [True, 1, "yes", "later"])
def test_another_mark_is_none(mark: object) -> None:
    assert wish_of(named("Reject", __qtrigger__=mark)) is None


def test_the_mark_belongs_to_the_class_of_that_name() -> None:
    assert wish_of(named("Wrong", __qtrigger__="reject")) is None
    error = named("Reject", __module__="nowhere")
    error.__qtrigger__ = "reject"  # type: ignore[attr-defined]
    assert wish_of(error) is None


@pytest.mark.parametrize("delay", [math.inf, math.nan, -1, 8 * 86400, "soon", True])
def test_a_delay_that_cannot_be_is_refused(delay: Any) -> None:
    with pytest.raises(WishRefused, match="the function raised Later with a delay of"):
        wish_of(Later(delay))


def test_a_delay_that_is_not_there_is_refused() -> None:
    with pytest.raises(WishRefused, match="raised Later without a delay"):
        wish_of(Later())
    with pytest.raises(WishRefused, match="raised Breaks, and its delay cannot be read"):
        wish_of(Breaks())


def test_a_reason_that_cannot_be_shown_still_rejects() -> None:
    assert wish_of(Mute()) == {
        "end": "reject",
        "reason": "its text cannot be shown: __str__ raised RuntimeError",
    }
    assert wish_of(Reject(reason=Unprintable())) == {
        "end": "reject",
        "reason": "its reason cannot be shown: RuntimeError",
    }

"""Which exceptions ask for something other than a failure."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from qtrigger.workers.python.wishes import WishRefused, wish_of


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


def test_a_class_of_that_name_without_the_mark_is_a_failure_like_any_other() -> None:
    for name in ("Later", "Reject"):
        assert wish_of(type(name, (Exception,), {"delay": 5})("requeue, please")) is None


@pytest.mark.parametrize("mark", [True, 1, "yes", "later"])
def test_another_mark_is_none(mark: object) -> None:
    assert wish_of(type("Reject", (Exception,), {"__qtrigger__": mark})()) is None


def test_the_mark_belongs_to_the_class_of_that_name() -> None:
    assert wish_of(type("Wrong", (Exception,), {"__qtrigger__": "reject"})()) is None
    error = type("Reject", (Exception,), {})()
    error.__qtrigger__ = "reject"
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

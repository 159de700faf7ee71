"""The collector of cycles rests while a command comes up, and no longer."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import pytest

from qtrigger.cli.collector import LOOKS, resting_collector


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)  # Python's own; a test before may have run a command
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
    gc.enable()


def test_cycles_are_collected_again_after_the_body_even_when_it_raises() -> None:
    with contextlib.suppress(ValueError), resting_collector():
        while_inside = gc.isenabled()
        raise ValueError

    assert not while_inside
    assert gc.isenabled()


def test_it_looks_less_often_afterwards() -> None:
    gc.set_threshold(700, 10, 10)

    with resting_collector():
        pass

    assert gc.get_threshold() == LOOKS
    assert LOOKS[0] > 700


def test_what_was_made_by_the_end_of_the_body_is_left_alone_and_what_comes_later_is_not() -> None:
    with resting_collector():
        made = [object()]
    later = [object()]

    tracked = {id(each) for each in gc.get_objects()}
    assert id(made) not in tracked
    assert id(later) in tracked

"""Who may take how many of the slots that functions share."""

from __future__ import annotations

from qtrigger.slots import Slots


def nobody() -> None:
    """Called when there may be a slot."""


def test_free_slots_are_divided_among_those_in_line_the_first_ones_first() -> None:
    slots = Slots(3)
    first, second, other = slots.share(), slots.share(), slots.share()
    first.wait(nobody)
    second.wait(nobody)

    assert (slots.for_one(first), slots.for_one(second)) == (2, 1)
    assert slots.for_one(other) == 1

    other.asked(1)
    assert (slots.for_one(first), slots.for_one(second), slots.for_one(other)) == (1, 1, 0)


def test_who_is_not_in_line_takes_nothing_from_those_who_are() -> None:
    slots = Slots(1)
    waiting, other = slots.share(), slots.share()
    waiting.wait(nobody)

    assert (waiting.most, other.most) == (1, 0)


def test_only_those_for_whom_there_is_a_slot_are_called_and_none_loses_its_place() -> None:
    slots = Slots(2)
    holder, first, second = slots.share(), slots.share(), slots.share()
    holder.asked(2)
    called = list[str]()
    first.wait(lambda: called.append("first"))
    second.wait(lambda: called.append("second"))
    first.wait(lambda: called.append("first again"))

    holder.answered(1, 0)

    assert called == ["first again"]
    assert (slots.for_one(first), slots.for_one(second)) == (1, 0)


def test_who_leaves_the_line_with_a_slot_free_has_the_next_one_called() -> None:
    slots = Slots(1)
    holder, first, second = slots.share(), slots.share(), slots.share()
    holder.asked(1)
    called = list[str]()
    first.wait(nobody)
    second.wait(lambda: called.append("second"))
    holder.answered(1, 0)

    first.wait_no_more()

    assert called == ["second"]
    assert slots.for_one(second) == 1


def test_a_request_asks_for_twice_what_the_last_one_found_and_for_one_at_least() -> None:
    share = Slots(100).share()
    asked = list[int]()

    for found in (1, 2, 4, 3, 0, 0):
        asked.append(share.most)
        share.asked(asked[-1])
        share.answered(asked[-1], found)

    assert asked == [1, 2, 4, 8, 6, 1]

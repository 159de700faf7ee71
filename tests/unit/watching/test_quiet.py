"""When a burst of changes is over."""

from __future__ import annotations

from qtrigger.watching.quiet import Burst


def end_of(changes: list[tuple[float, list[str]]]) -> float:
    """The time at which the burst is over; changes after that are not part of it."""
    first, *others = changes
    burst = Burst(first[0], first[1])
    over_at = first[0] + burst.left_s(first[0])
    for at, paths in others:
        if at >= over_at:
            break
        burst.note(at, paths)
        over_at = at + burst.left_s(at)
    return round(over_at, 3)


def test_one_save_is_over_after_a_tenth_of_a_second() -> None:
    assert end_of([(1.0, ["a.py"])]) == 1.1


def test_writes_of_one_save_are_one_burst() -> None:
    assert end_of([(1.0, ["a.py"]), (1.05, ["a.py"]), (1.1, ["a.py"])]) == 1.2


def test_two_halves_400_ms_apart_are_two_bursts() -> None:
    assert end_of([(1.0, ["a.py"]), (1.4, ["a.py"])]) == 1.1


def test_a_checkout_of_60_files_over_2_s_is_one_burst() -> None:
    changes = [(1.0 + number * 2 / 60, [f"{number}.py"]) for number in range(60)]
    assert end_of(changes) == round(1.0 + 59 * 2 / 60 + 0.3, 3)


def test_after_many_files_a_longer_breath_is_waited_for() -> None:
    many = [f"{number}.py" for number in range(6)]
    assert end_of([(1.0, many), (1.25, ["late.py"])]) == 1.55


def test_files_written_again_and_again_hold_up_the_others_for_three_seconds() -> None:
    changes = [(1.0 + number * 0.05, ["a.json"]) for number in range(200)]
    assert end_of(changes) == 4.0


def test_what_brings_new_files_without_end_holds_up_for_half_a_minute() -> None:
    changes = [(1.0 + number * 0.05, [f"{number}.json"]) for number in range(2000)]
    assert end_of(changes) == 31.0


def test_no_paths_are_no_change() -> None:
    burst = Burst(1.0, ["a.py"])
    burst.note(1.09, [])
    assert burst.left_s(1.1) == 0.0

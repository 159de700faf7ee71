"""Queue names follow the service's rule, and poison queues theirs."""

from __future__ import annotations

import pytest

from qtrigger.project import queue_names


@pytest.mark.parametrize(
    ("name", "lowered"),
    [("orders", "orders"), ("Orders", "orders"), ("a-1", "a-1"), ("9" * 63, "9" * 63)],
)
def test_a_valid_name_is_taken_in_small_letters(name: str, lowered: str) -> None:
    assert queue_names.checked(name) == lowered


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "is empty"),
        ("ab", "has 2 characters"),
        ("a" * 64, "has 64 characters"),
        ("a_b", "an underscore"),
        ("foo.bar", '"."'),
        ("a b", "a blank"),
        ("ünikat", '"ü"'),
        ("a\nb", "U\\+000A"),
        ("a--b", "two hyphens"),
        ("-ab", "begin nor end"),
        ("ab-", "begin nor end"),
    ],
)
def test_an_invalid_name_is_refused_with_the_rule_it_breaks(name: str, said: str) -> None:
    with pytest.raises(queue_names.QueueNameError, match=said):
        queue_names.checked(name)


def test_the_poison_queue_has_the_name_and_a_suffix() -> None:
    assert queue_names.poison_queue("orders") == "orders-poison"
    assert queue_names.poison_queue("a" * 56) == "a" * 56 + "-poison"


def test_there_is_no_poison_queue_of_a_poison_queue_or_of_too_long_a_name() -> None:
    assert queue_names.poison_queue("orders-poison") is None
    assert queue_names.poison_queue("a" * 57) is None

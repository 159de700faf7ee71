"""A short chaos: whatever is done to the hosts, every message is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.account import Kill, settle_account
from tests.chaos.chaos import run
from tests.chaos.hosts import told_of
from tests.chaos.project import Run


@pytest.mark.timeout(180)
async def test_a_short_chaos_balances(tmp_path: Path) -> None:
    # Beside other tests, deletes may lag: what this window lets pass, a run by hand finds.
    account, story = await run(10.0, 1, tmp_path, settling_s=4.0)

    assert account.balances, "\n".join([*story, *account.lines()])
    assert account.sent > 150


def test_an_outage_explains_a_second_run_and_one_long_past_does_not() -> None:
    runs = [
        Run(text="a", worker=1, host=2, began=10.0, ended=11.0),
        Run(text="a", worker=3, host=4, began=15.0, ended=16.0),
    ]

    for outage, unexplained in (((10.5, 13.0), []), ((2.0, 4.0), ["a"])):
        account = settle_account({"a": "1"}, {"a": runs}, (), (), [], (), [outage])
        assert [run.text for run in account.unexplained] == unexplained


def test_an_account_counts_second_copies_and_copies_of_what_was_processed() -> None:
    run_once = Run(text="a", worker=1, host=2, began=0.0, ended=1.0)
    account = settle_account({"a": "1", "b": "2"}, {"a": [run_once]}, ["a", "b", "b"], (), [], ())

    assert (account.processed, account.poisoned) == (1, 1)
    assert (account.poisoned_too, account.copied_again) == (1, 1)
    assert account.balances


def test_an_account_tells_lost_from_left_and_poisoned() -> None:
    run_once = Run(text="a", worker=1, host=2, began=0.0, ended=1.0)
    account = settle_account(
        {"a": "1", "b": "2", "c": "3", "d": "4"}, {"a": [run_once]}, {"b"}, {"c"}, [], ()
    )

    assert (account.sent, account.processed, account.poisoned) == (4, 1, 1)
    assert (account.lost, account.left) == (["d"], ["c"])
    assert not account.balances


@pytest.mark.parametrize(
    ("kills", "struck", "why"),
    [
        ([Kill(1, 0.5)], (), "in flight at the kill of their worker"),
        ([Kill(2, 1.5)], (), "in flight at the kill of their host"),
        ([Kill(9, 0.5)], ("1",), "whose renewal or delete met a fault"),
        ([Kill(1, 1.5, by_itself=True)], (), "in flight beside a function that ended their worker"),
        ([Kill(1, 90.0)], (), ""),
    ],
)
def test_an_account_says_why_a_message_was_processed_twice(
    kills: list[Kill], struck: tuple[str, ...], why: str
) -> None:
    runs = [
        Run(text="a", worker=1, host=2, began=0.0, ended=1.0),
        Run(text="a", worker=3, host=4, began=5.0, ended=6.0),
    ]
    account = settle_account({"a": "1"}, {"a": runs}, (), (), kills, struck)

    assert account.twice == ({why: 1} if why else {})
    assert [run.text for run in account.unexplained] == ([] if why else ["a"])
    assert account.balances is bool(why)


def test_what_a_host_said_of_a_message_explains_its_second_run(tmp_path: Path) -> None:
    (tmp_path / "host-1.log").write_text(
        "10:00:00  SETTLE   work      0123abcd  could not be acked: it did not answer.\n"
        "10:00:00  ok       work      4567abcd  try 1  1 ms\n"
    )
    runs = [
        Run(text="a", worker=1, host=2, began=0.0, ended=1.0),
        Run(text="a", worker=3, host=4, began=5.0, ended=6.0),
    ]

    for message_id, unexplained in (("0123abcd-9", 0), ("4567abcd-9", 1)):
        account = settle_account(
            {"a": message_id}, {"a": runs}, (), (), [], (), told=told_of(tmp_path)
        )
        assert len(account.unexplained) == unexplained

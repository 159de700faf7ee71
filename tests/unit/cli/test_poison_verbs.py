"""`qtrigger poison`: what was poisoned and why; moved back, deleted, or written to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qtrigger.errors import QueueUnavailable
from qtrigger.journal import FailedTry, PoisonCopy
from qtrigger.journal_file import JournalWriter
from tests.unit.cli.account import in_base64
from tests.unit.cli.desk import Desk
from tests.unit.project.folder import TRIGGER

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
ORIGINAL = "0ddba11c-0000-4000-8000-000000000001"


@contextmanager
def journal(desk: Desk) -> Iterator[JournalWriter]:
    """The journal of the desk's project; what was put is on disk afterwards."""
    warnings: list[str] = []
    writer = JournalWriter(desk.root / ".qtrigger", warn=warnings.append, now=NOW.timestamp)
    yield writer
    writer.close(5.0)
    assert warnings == []


def note(
    desk: Desk,
    copy_id: str,
    original: str,
    *,
    function: str = "charge",
    queue: str = "orders",
    error: str = "LookupError",
    poison_queue: str = "orders-poison",
) -> None:
    """Write that a message failed twice, and which its copy is."""
    with journal(desk) as writer:
        for number in (1, 2):
            writer.put(
                FailedTry(
                    function=function,
                    queue=queue,
                    message_id=original,
                    invocation_id=f"run-{number}",
                    dequeue_count=number,
                    at=NOW,
                    duration_s=0.25,
                    outcome="failed",
                    error_type=error,
                    error_message=f"no such customer ({number})",
                    place="functions/charge/__init__.py:8",
                    traceback=f"Traceback of try {number}\n  deep",
                    lines=(f"INFO looking {number}",),
                )
            )
        writer.put(
            PoisonCopy(
                poison_id=copy_id,
                poison_queue=poison_queue,
                message_id=original,
                function=function,
                queue=queue,
                at=NOW,
            )
        )


def share_poison_queue(desk: Desk) -> None:
    desk.folder.host(qtrigger={"poisonQueueName": "failed"})


def columns(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("  ") if cell.strip()]
        for line in text.splitlines()[1:]
    ]


def test_the_list_says_why_each_message_failed_as_the_journal_has_it(desk: Desk) -> None:
    known, unknown = desk.account.put("orders-poison", '{"id": 1}', "two")
    note(desk, known, ORIGINAL)

    said = desk("poison", "list")

    first, second = columns(said.stdout)
    assert first[:2] == [known[:8], "charge"]
    assert first[3:] == ["2", "LookupError: no such customer (2)", '{"id": 1}']
    assert second[:2] + second[3:] == [unknown[:8], "charge", "-", "-", "two"]
    assert "orders-poison: 2 of 2" in said.stderr
    assert "shipments-poison is empty" in said.stderr
    assert desk.account.tries("orders-poison") == [0, 0]


@pytest.mark.parametrize("name", ["charge", "CHARGE", "orders", "orders-poison"])
def test_a_poison_queue_is_named_by_its_function_its_queue_or_itself(desk: Desk, name: str) -> None:
    desk.account.put("orders-poison", "one")
    desk.account.put("shipments-poison", "two")

    assert [row[-1] for row in columns(desk("poison", "list", name).stdout)] == ["one"]


def test_a_name_that_means_no_poison_queue_is_refused_with_those_there_are(desk: Desk) -> None:
    assert "charge, ship, orders-poison" in desk("poison", "list", "chrage", code=2).stderr


def test_beyond_what_a_queue_shows_the_list_says_so(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(40)))

    said = desk("poison", "list", "charge")

    assert len(columns(said.stdout)) == 32
    assert "32 of about 40; a queue shows no more than its first 32" in said.stderr


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["--contains", "three"], ["three"]),
        (["--error", "KeyError"], ["two"]),
        (["--error", "keyerror", "--error", "LookupError"], ["one", "two"]),
        (["--older-than", "1h"], []),
        (["--limit", "2"], ["one", "two"]),
        (["--contains", "o", "--error", "KeyError"], ["two"]),
    ],
)
def test_messages_are_picked_by_what_is_known_of_them(
    desk: Desk, flags: list[str], found: list[str]
) -> None:
    one, two, _ = desk.account.put("orders-poison", "one", "two", "three")
    note(desk, one, ORIGINAL)
    note(desk, two, "b0a710ad-0000-4000-8000-000000000002", error="app.KeyError")

    listed = desk.json("poison", "list", "charge", *flags)

    assert [each["body"] for each in listed["messages"]] == found


def test_one_message_is_shown_with_its_body_and_each_try(desk: Desk) -> None:
    (known,) = desk.account.put("orders-poison", '{"id": 1}')
    note(desk, known, ORIGINAL)

    for given in (known, known[:8], ORIGINAL, ORIGINAL[:8]):
        said = desk("poison", "show", given).stdout

        assert f"message   {known} in orders-poison" in said
        assert f"original  {ORIGINAL} in orders" in said
        assert '{"id": 1}' in said
        assert said.count("LookupError: no such customer") == 2
        assert "    Traceback of try 2\n      deep" in said
        assert "    INFO looking 1" in said


def test_a_message_that_is_gone_is_shown_from_the_journal_alone(desk: Desk) -> None:
    note(desk, "c0ffee00-0000-4000-8000-000000000003", ORIGINAL)

    shown = desk.json("poison", "show", ORIGINAL[:8])

    assert shown["message"] is None
    assert [each["try"] for each in shown["tries"]] == [1, 2]


@pytest.mark.parametrize("given", ["feedface", "abc", "feedface-0000-4000-8000-000000000003"])
def test_an_id_that_nobody_knows_is_refused(desk: Desk, given: str) -> None:
    desk("poison", "show", given, code=2)


def test_a_beginning_that_several_ids_have_is_refused(desk: Desk) -> None:
    note(desk, "c0ffee00-0000-4000-8000-000000000001", "abcd0000-0000-4000-8000-000000000001")
    note(desk, "c0ffee00-0000-4000-8000-000000000002", "abcd0000-0000-4000-8000-000000000002")

    assert "several ids begin with abcd" in desk("poison", "show", "abcd", code=2).stderr


@pytest.mark.parametrize("text", [in_base64('{"id": 1}'), "never decoded {", " ", "ZXJ yb3I="])
def test_a_requeue_leaves_the_text_as_it_is(desk: Desk, text: str) -> None:
    desk.account.put_raw("orders-poison", text)

    assert desk("poison", "requeue", "charge", "--yes").stdout == "moved 1\n"

    assert desk.account.texts("orders") == [text]
    assert desk.account.texts("orders-poison") == []


def test_who_requeues_a_text_that_comes_straight_back_is_warned_beforehand(desk: Desk) -> None:
    desk.account.put_raw("orders-poison", '{"plain": 1}')

    said = desk("poison", "requeue", "charge", "--dry-run")

    assert said.stdout == "would requeue 1 message from orders-poison to orders\n"
    assert "come straight back" in said.stderr
    assert desk.account.tries("orders-poison") == [0]


def test_nothing_is_moved_or_deleted_without_being_asked_for(desk: Desk) -> None:
    desk.account.put("orders-poison", "one", "two")

    for verb, deed in (("requeue", "requeue 2 messages"), ("purge", "delete 2 messages")):
        assert f"say --yes to {deed}" in desk("poison", verb, "charge", code=2).stderr
        assert "would" in desk("poison", verb, "charge", "--dry-run").stdout
    assert desk.account.tries("orders-poison") == [0, 0]


def test_all_poison_queues_are_requeued_when_none_is_named(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(50)))
    desk.account.put("shipments-poison", "x")

    said = desk("poison", "requeue", "--yes")

    assert said.stdout == "orders-poison: moved 50\nshipments-poison: moved 1\n"
    assert sorted(map(int, desk.account.bodies("orders"))) == list(range(50))
    assert desk.account.bodies("shipments") == ["x"]


def test_a_requeue_of_nothing_makes_no_queue(desk: Desk) -> None:
    assert desk("poison", "requeue", "--yes").stdout == "moved 0\n"
    assert desk.account.service.names() == []


def test_one_message_is_moved_and_no_more_are_taken_than_stand_before_it(desk: Desk) -> None:
    ids = desk.account.put("orders-poison", *"abcdef")

    assert desk("poison", "requeue", "--id", ids[2][:8], "--yes").stdout == "moved 1\n"

    assert desk.account.bodies("orders") == ["c"]
    assert desk.account.bodies("orders-poison") == ["a", "b", "d", "e", "f"]
    assert sum(desk.account.tries("orders-poison")) <= 2
    assert desk.account.visible("orders-poison") == 5


def test_a_message_that_is_not_there_takes_none(desk: Desk) -> None:
    desk.account.put("orders-poison", "a", "b")

    said = desk("poison", "requeue", "charge", "--contains", "z", "--yes")

    assert said.stdout == "moved 0\n"
    assert desk.account.tries("orders-poison") == [0, 0]


def test_a_filter_beyond_what_a_queue_shows_takes_messages_and_says_so(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(100)))

    said = desk("poison", "requeue", "charge", "--contains", "7", "--yes")

    assert said.stdout == "moved 19\n"
    assert "raises their dequeue counts by one" in said.stderr
    assert set(desk.account.tries("orders-poison")) == {1}
    assert desk.account.visible("orders-poison") == 81


def test_no_more_are_moved_than_the_limit(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(100)))

    assert desk("poison", "requeue", "charge", "--limit", "40", "--yes").stdout == "moved 40\n"
    assert len(desk.account.texts("orders")) == 40
    assert desk.account.visible("orders-poison") == 60


def test_another_queue_can_be_named_to_requeue_to(desk: Desk) -> None:
    desk.account.put("orders-poison", "x")

    desk("poison", "requeue", "charge", "--to", "later", "--yes")

    assert desk.account.bodies("later") == ["x"]
    assert (
        "itself"
        in desk("poison", "requeue", "charge", "--to", "orders-poison", "--yes", code=2).stderr
    )


def test_the_journal_says_where_messages_of_a_shared_poison_queue_belong(desk: Desk) -> None:
    share_poison_queue(desk)
    one, two, _ = desk.account.put("failed", "one", "two", "three")
    note(desk, one, ORIGINAL, poison_queue="failed")
    second = "b0a710ad-0000-4000-8000-000000000002"
    note(desk, two, second, function="ship", queue="shipments", poison_queue="failed")

    said = desk("poison", "requeue", "--yes", code=5)

    assert desk.account.bodies("orders") == ["one"]
    assert desk.account.bodies("shipments") == ["two"]
    assert desk.account.bodies("failed") == ["three"]
    assert said.stdout == "moved 2, left 1 (not known whose they are; name a queue by --to)\n"


def test_without_a_journal_a_shared_poison_queue_needs_to_be_told_where_to(desk: Desk) -> None:
    share_poison_queue(desk)
    desk.account.put("failed", "one")

    assert "--to QUEUE" in desk("poison", "requeue", "--yes", code=2).stderr
    assert desk("poison", "requeue", "--to", "orders", "--yes").stdout == "moved 1\n"


def test_a_poison_queue_that_no_function_has_needs_to_be_told_where_to(desk: Desk) -> None:
    desk.account.put("old-poison", "one")

    assert "--to QUEUE" in desk("poison", "requeue", "old-poison", "--yes", code=2).stderr
    assert desk("poison", "requeue", "old-poison", "--to", "orders", "--yes").stdout == "moved 1\n"


def test_what_the_service_keeps_refusing_ends_with_what_is_left(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(10)))
    desk.account.service.make("orders")
    error = QueueUnavailable("gone", status=500, code="OperationTimedOut")
    desk.account.service.fail("send", error, times=2, queue="orders")

    said = desk("poison", "requeue", "charge", "--yes", code=5)

    assert said.stdout.startswith("moved 8, left 2 (no answer to the copy")
    assert desk.account.visible("orders-poison") == 2


def test_a_purge_deletes_what_fits_and_leaves_the_rest(desk: Desk) -> None:
    desk.account.put("orders-poison", *"abc")

    assert desk("poison", "purge", "charge", "--contains", "b", "--yes").stdout == "deleted 1\n"
    assert desk.account.bodies("orders-poison") == ["a", "c"]

    whole = desk("poison", "purge", "charge", "--yes").stdout
    assert whole == "deleted 2 messages from orders-poison\n"
    assert desk.account.texts("orders-poison") == []


@pytest.mark.parametrize(("count", "tries"), [(3, 0), (70, 1)])
def test_an_export_has_a_line_for_each_message_and_leaves_it_there(
    desk: Desk, tmp_path: Path, count: int, tries: int
) -> None:
    ids = desk.account.put("orders-poison", *map(str, range(count)))
    note(desk, ids[0], ORIGINAL)
    out = tmp_path / "poison.jsonl"

    said = desk("poison", "export", "charge", "--out", str(out))

    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(each["id"] for each in lines) == sorted(ids)
    (first,) = [each for each in lines if each["id"] == ids[0]]
    assert (first["text"], first["body"], first["body_encoding"]) == ("MA==", "0", "text")
    assert (first["queue"], first["function"], first["source"]) == (
        "orders-poison",
        "charge",
        "orders",
    )
    assert (first["original_id"], first["error"]["type"]) == (ORIGINAL, "LookupError")
    assert desk.account.visible("orders-poison") == count
    assert set(desk.account.tries("orders-poison")) == {tries}
    assert ("raises their dequeue counts" in said.stderr) == (tries > 0)


def test_an_export_overwrites_no_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")

    desk("poison", "export", "charge", "--out", str(tmp_path / "there"), code=2)

    assert (tmp_path / "there").read_text() == "mine"


def test_an_export_to_standard_output_has_nothing_else_there(desk: Desk) -> None:
    desk.account.put("orders-poison", *map(str, range(40)))

    lines = desk("poison", "export", "charge", "--out", "-").stdout.splitlines()

    assert len([json.loads(each) for each in lines]) == 40


def test_a_service_that_does_not_answer_ends_with_4(desk: Desk) -> None:
    head, _, tail = desk.account.connection.partition("127.0.0.1:")
    desk.folder.values(AzureWebJobsStorage=f"{head}127.0.0.1:9/{tail.partition('/')[2]}")

    for verb in (["list"], ["requeue", "--yes"], ["purge", "--yes"], ["export", "--out", "-"]):
        assert "cannot connect" in desk("poison", *verb, code=4).stderr


def test_functions_of_another_account_have_their_own_poison_queue(desk: Desk) -> None:
    desk.folder.values(
        AzureWebJobsStorage=desk.account.connection,
        AzureWebJobsOther=desk.account.connection.replace("127.0.0.1", "localhost"),
    )
    desk.folder.function("refund", {**TRIGGER, "connection": "Other"})
    desk.account.put("orders-poison", "x")

    listed = desk.json("poison", "list", "orders")

    assert len(listed["queues"]) == 2

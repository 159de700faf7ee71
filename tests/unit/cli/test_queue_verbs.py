"""`list`, `queues`, `peek`, `purge` and `send`, on a real connection to the built-in emulator."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from qtrigger.cli.functions import Listed, as_table
from qtrigger.cli.main import cli
from tests.unit.cli.desk import Desk
from tests.unit.project.folder import TRIGGER


def rows(text: str) -> list[list[str]]:
    """The cells of a table, by the two blanks between them."""
    return [
        [cell.strip() for cell in line.split("  ") if cell.strip()]
        for line in text.splitlines()[1:]
    ]


def test_the_list_says_of_each_function_its_queue_its_state_and_why(desk: Desk) -> None:
    desk.folder.function("broken", {**TRIGGER, "queueName": "a_b"})
    desk.folder.function("off", {**TRIGGER, "queueName": "other"}, disabled=True)
    desk.folder.function("page", {"type": "httpTrigger", "direction": "in", "name": "req"})
    desk.account.put("orders", "1", "2", "3")

    listed = {row[0]: row for row in rows(desk("list").stdout)}

    assert listed["charge"] == ["charge", "orders", "Storage", "ready", "3"]
    assert listed["ship"][3:] == ["ready", "no queue"]
    assert listed["off"][3] == "disabled"
    assert listed["page"][3] == "not run here"
    assert "httpTrigger" in listed["page"][-1]
    assert listed["broken"][3] == "error"
    assert "underscore" in listed["broken"][-1]
    assert list(listed) == sorted(listed)


def test_the_list_fits_a_terminal_of_eighty_columns() -> None:
    name = "a-function-whose-name-is-so-long-that-nothing-else-has-room-beside-it"
    why = "its queue's name has an underscore, and names of queues are of small letters and digits"
    listed = [Listed(name=name, state="error", why=why), Listed(name="charge", state="ready")]

    lines = as_table(listed, 80).splitlines()

    assert max(map(len, lines)) <= 80
    assert rows("\n".join(lines))[1] == ["charge", "-", "-", "ready", "-"]
    assert " ".join(" ".join(lines).split()).endswith(f"{name}: {why}")


def test_a_paused_function_is_listed_as_paused(desk: Desk) -> None:
    CliRunner().invoke(cli, ["pause", "ship", str(desk.root), "--reason", "audit"])

    (_, ship) = desk.json("list")["functions"]

    assert (ship["name"], ship["state"]) == ("ship", "paused")
    assert ship["why"].endswith("until resumed: audit")


def test_a_list_does_not_need_the_service(desk: Desk) -> None:
    desk.folder.values(AzureWebJobsStorage=_dead(desk.account.connection))

    said = desk("list")

    assert [row[3:5] for row in rows(said.stdout)] == [["ready", "-"], ["ready", "-"]]
    assert said.stderr.count("note: ") == 1


def test_queues_tell_what_waits_what_is_hidden_and_what_was_poisoned(desk: Desk) -> None:
    desk.account.put("orders", *"abcde")
    desk.account.hide("orders", 2)
    desk.account.put("orders-poison", "x")

    found = {row[0]: row[1:] for row in rows(desk("queues").stdout)}

    age = re.compile(r"\d+ s")
    assert [age.sub("AGE", cell) for cell in found["orders"]] == ["charge", "3", "2", "AGE", "1"]
    assert found["orders-poison"][:3] == ["charge (poison)", "1", "0"]
    assert found["shipments"] == ["ship", "no queue", "-", "-", "0"]
    assert "stranger" not in found


def test_beyond_what_a_peek_shows_numbers_are_said_to_be_about(desk: Desk) -> None:
    desk.account.put("orders", *map(str, range(40)))

    orders = rows(desk("queues").stdout)[0]
    described = desk.json("queues")["queues"][0]

    assert orders[2:4] == ["~40", "~"]
    assert (described["messages"], described["waiting"], described["hidden"]) == (40, None, None)


def test_all_queues_of_the_account_can_be_listed(desk: Desk) -> None:
    desk.account.put("stranger", "x")

    found = {row[0]: row[1] for row in rows(desk("queues", "--all").stdout)}

    assert found["stranger"] == "-"
    assert found["orders"] == "charge"


def test_queues_of_an_account_that_does_not_answer_end_with_4(desk: Desk) -> None:
    desk.folder.values(AzureWebJobsStorage=_dead(desk.account.connection))

    said = desk("queues", code=4)

    assert "cannot connect" in said.stderr
    assert rows(said.stdout)[0][2:] == ["-", "-", "-", "-"]


def test_a_watch_needs_a_terminal(desk: Desk) -> None:
    assert "terminal" in desk("queues", "--watch", code=2).stderr


def test_a_peek_shows_bodies_and_changes_nothing(desk: Desk) -> None:
    ids = desk.account.put("orders", '{"id": 1}', "line\nbreak", b"\xff\x00")

    said = desk("peek", "orders")

    assert [row[0] for row in rows(said.stdout)] == [each[:8] for each in ids]
    assert [row[2] for row in rows(said.stdout)] == ["0", "0", "0"]
    assert [row[-1] for row in rows(said.stdout)] == ['{"id": 1}', "line break", "0xff00"]
    assert desk.account.tries("orders") == [0, 0, 0]


def test_a_function_may_be_named_for_its_queue(desk: Desk) -> None:
    desk.account.put("orders", "x")

    said = desk("peek", "Charge", "--raw")

    assert said.stdout == "eA==\n"
    assert "its queue is orders" in said.stderr


@pytest.mark.parametrize(
    ("shape", "shown"),
    [("--raw", "eyJhIjoxfQ=="), ("--hex", "7b 22 61 22 3a 31 7d"), ("--json", '{\n  "a": 1\n}')],
)
def test_bodies_are_shown_alone_in_the_shape_that_is_wanted(
    desk: Desk, shape: str, shown: str
) -> None:
    desk.account.put("orders", '{"a":1}')

    assert desk("peek", "orders", shape).stdout == f"{shown}\n"


def test_a_text_that_does_not_fit_the_encoding_is_hinted_at_as_the_listener_would(
    desk: Desk,
) -> None:
    desk.account.put_raw("orders", '{"a":1}')

    said = desk("peek", "orders")

    assert "(undecoded)" in said.stdout
    assert "it looks like plain JSON" in said.stderr
    assert "qtrigger.functions.charge.messageEncoding auto" in said.stderr


def test_a_peek_at_hidden_messages_says_so(desk: Desk) -> None:
    desk.account.put("orders", "a", "b")
    desk.account.hide("orders", 2)

    assert "none of about 2 in orders is visible" in desk("peek", "orders").stderr


def test_a_peek_at_a_queue_that_is_not_there_ends_with_4(desk: Desk) -> None:
    desk("peek", "orders", code=4)


def test_a_purge_needs_to_be_confirmed_and_a_dry_run_deletes_nothing(desk: Desk) -> None:
    desk.account.put("orders", "a", "b")

    assert "say --yes to delete 2 messages from orders" in desk("purge", "orders", code=2).stderr
    assert desk("purge", "orders", "--dry-run").stdout == "would delete 2 messages from orders\n"
    assert desk.account.bodies("orders") == ["a", "b"]

    assert desk("purge", "orders", "--yes").stdout == "deleted 2 messages from orders\n"
    assert desk.account.texts("orders") == []


def test_a_purge_of_messages_that_are_all_hidden_works_and_says_so(desk: Desk) -> None:
    desk.account.put("orders", *"abc")
    desk.account.hide("orders", 3)

    said = desk("purge", "orders", "--yes").stdout

    assert said.startswith("deleted 3 messages from orders; all of them are hidden")
    assert desk.account.texts("orders") == []


def test_json_is_checked_before_anything_is_sent(desk: Desk) -> None:
    said = desk("send", "orders", "--json", '{"a": 1}', "{a}", code=2)

    assert "text 2 is no JSON" in said.stdout + said.stderr
    assert "orders" not in desk.account.service.names()


def test_a_message_may_show_up_later_and_expire_sooner(desk: Desk) -> None:
    desk("send", "orders", "x", "--delay", "10m", "--ttl", "1h")

    (message,) = desk.account.service.peek_all("orders")
    assert (message.next_visible - message.inserted).total_seconds() == 600
    assert (message.expires - message.inserted).total_seconds() == 3600
    assert (
        "expire unseen"
        in desk("send", "orders", "x", "--delay", "1h", "--ttl", "1m", code=2).stderr
    )


def test_another_encoding_can_be_asked_for(desk: Desk) -> None:
    assert desk("send", "orders", "x", "--encoding", "none").stdout == "sent 1 to orders (none)\n"
    assert desk.account.texts("orders") == ["x"]


def test_a_function_may_be_named_to_send_to_its_queue(desk: Desk) -> None:
    said = desk("send", "ship", "x")

    assert said.stdout == "sent 1 to shipments (base64)\n"
    assert desk.account.bodies("shipments") == ["x"]


def test_a_queue_that_has_a_functions_name_is_the_queue(desk: Desk) -> None:
    desk.folder.function("refund", {**TRIGGER, "queueName": "charge"})

    assert desk("send", "charge", "x").stdout == "sent 1 to charge (base64)\n"


@pytest.mark.parametrize("rate", ["0", "fast", "5/d", "-1"])
def test_what_is_no_rate_is_refused(desk: Desk, rate: str) -> None:
    assert "is no rate" in desk("send", "orders", "x", "--rate", rate, code=2).stderr


def test_no_verb_shows_the_accounts_key(desk: Desk) -> None:
    desk.account.put("orders", "x")
    for line in (("list",), ("queues",), ("queues", "--all"), ("peek", "orders")):
        said = desk(*line)
        assert not {"AccountKey", "Eby8vdM02"} & set(
            re.findall(r"AccountKey|Eby8vdM02", said.stdout + said.stderr)
        )


def _dead(connection: str) -> str:
    head, _, tail = connection.partition("127.0.0.1:")
    return f"{head}127.0.0.1:9/{tail.partition('/')[2]}"


SCRIPT = """
import azure.functions as func
app = func.FunctionApp()
@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
def charge(msg): pass
"""


@pytest.fixture
def broken(desk: Desk) -> Desk:
    """A project whose script with decorators cannot be imported."""
    desk.folder.write("function_app.py", f"{SCRIPT}import of_nobody\n")
    return desk


@pytest.mark.parametrize(
    "verb", [("list",), ("queues",), ("poison", "list"), ("poison", "list", "charge")]
)
def test_what_follows_from_a_broken_script_is_said_after_it(
    broken: Desk, verb: tuple[str, ...]
) -> None:
    said = broken(*verb, code=3)

    first = said.stderr.splitlines()[0]
    assert first.startswith("error: function_app.py:6: ModuleNotFoundError: ")
    for untrue in ("no function", "no queue"):
        assert untrue not in said.stdout + said.stderr


@pytest.mark.parametrize("verb", [("send", "charge", "hi"), ("peek", "charge")])
def test_a_function_of_a_broken_script_is_not_taken_for_a_queue(
    broken: Desk, verb: tuple[str, ...]
) -> None:
    said = broken(*verb, code=3)

    assert said.stderr.startswith("error: function_app.py:6: ModuleNotFoundError: ")
    assert "its queue seems to be orders" in said.stderr
    assert broken.account.service.names() == []


def test_messages_wait_on_the_queue_of_a_broken_script(broken: Desk) -> None:
    broken("send", "orders", "by what is written there")
    broken("send", "other", "as asked", "--connection", "AzureWebJobsStorage")

    assert broken.account.bodies("orders") == ["by what is written there"]
    assert broken.account.bodies("other") == ["as asked"]
    broken.folder.write("function_app.py", "def charge(:\n")
    said = broken("send", "payments", "it cannot be read at all", code=3)
    assert said.stderr.startswith("error: function_app.py:1")


def test_a_function_with_errors_is_not_taken_for_a_queue(desk: Desk) -> None:
    desk.folder.function("refund", {**TRIGGER, "queueName": "a_b"})

    said = desk("send", "refund", "hi", code=3)

    assert "refund is a function" in said.stderr
    assert "functions/refund/function.json:" in said.stderr

"""`qtrigger status`, `reload` and `stop`: what is said of hosts, and with which exit codes."""

from __future__ import annotations

import json
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from typing import Any

import pytest
from click.testing import CliRunner, Result

from qtrigger.cli import standings
from qtrigger.cli.main import cli

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
FUNCTION: Mapping[str, Any] = {
    "name": "charge",
    "queue": "orders",
    "connection": "Storage",
    "state": "ready",
    "why": "",
    "running": 3,
    "settling": 0,
    "slots": 24,
    "per_second": 12.345,
    "succeeded": 1234,
    "failed": 5,
    "poisoned": 1,
    "last_success": "2026-01-01T11:59:52+00:00",
    "last_error": {
        "type": "ValueError",
        "message": "no\ncard",
        "at": "2026-01-01T11:57:55+00:00",
    },
    "messages": {
        "waiting": 12,
        "more": False,
        "ours": 3,
        "hidden": 103,
        "oldest_s": 3605.0,
        "problem": "",
    },
}
STANDING: Mapping[str, Any] = {
    "state": "ready",
    "pid": 42,
    "qtrigger": "1.2",
    "project": "/srv/orders",
    "environment": "Production",
    "uptime_s": 93_784.0,
    "lease_s": 600.0,
    "functions": [FUNCTION],
    "workers": [{"pid": 43, "running": 3, "memory_bytes": 100 * 2**20}],
    "accounts": [{"name": "acme", "throttled": True, "requests": 9, "busy": 3}],
}


class FakeHost:
    """Answers at a socket in a project's state folder as a host would, from given answers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answers: dict[str, Mapping[str, Any]] = {}
        self.asked: list[Mapping[str, Any]] = []
        (root / "host.json").write_text('{"version": "2.0"}')
        (root / ".qtrigger").mkdir()
        host = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                if line := self.rfile.readline():
                    request = json.loads(line)
                    host.asked.append(request)
                    answer = {"version": 1, **host.answers[request["do"]]}
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        path = root / ".qtrigger" / "host-42.sock"
        self.server = ThreadingUnixStreamServer(str(path), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __call__(self, verb: str, *flags: str) -> Result:
        return run(verb, str(self.root), *flags)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, prog_name="qtrigger", standalone_mode=False)


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with tempfile.TemporaryDirectory(prefix="qt") as folder:
        made = FakeHost(Path(folder).resolve())
        yield made
        made.server.shutdown()
        made.server.server_close()


def test_a_standing_is_one_line_a_table_and_what_is_to_be_said() -> None:
    headline, _, header, row, _, *said = standings.as_text(STANDING, NOW).splitlines()

    assert headline == "ready for 1 d 2 h  pid 42  qtrigger 1.2  1 worker, 100 MiB  /srv/orders"
    assert re.split("  +", header) == [
        *("FUNCTION", "STATE", "RUNNING", "PER S", "SUCCEEDED", "FAILED", "POISONED"),
        *("LAST OK", "WAITING", "HIDDEN"),
    ]
    assert re.split("  +", row) == [
        *("charge", "ready", "3/24", "12.3", "1,234", "5", "1"),
        *("8 s", "12 (1 h)", "3 ours, 103 others"),
    ]
    assert said[:2] == [
        "charge: last error 2 min 5 s ago: ValueError: no card",
        "account acme answers that it is busy",
    ]
    assert said[2].endswith(
        "a host that was killed had taken comes back within 10 min (qtrigger.lease)"
    )


def test_transactions_are_told_with_what_they_cost_and_what_makes_fewer() -> None:
    def said(spent: Mapping[str, Any], currency: str | None = "EUR") -> str:
        function = {**FUNCTION, "last_error": None, "messages": None, "transactions": spent}
        standing = {**STANDING, "functions": [function], "accounts": [], "currency": currency}
        return standings.as_text(standing, NOW).splitlines()[-1]

    idle = {
        "transactions": 1800,
        "empty_polls": 1790,
        "over_s": 3600.0,
        "per_day": 43_200.0,
        "cost_per_day": 0.0173,
        "max_polling_interval_s": 2.0,
    }
    busy = {**idle, "empty_polls": 3}
    young = {**idle, "transactions": 1, "over_s": 20.0, "per_day": None, "cost_per_day": None}

    assert said(idle) == (
        "charge: 1,800 transactions in the last hour, some 43,200 a day, which cost 0.02 EUR; "
        "99% are polls that find nothing: a longer maxPollingInterval than 2 s makes fewer"
    )
    assert said(busy) == (
        "charge: 1,800 transactions in the last hour, some 43,200 a day, which cost 0.02 EUR"
    )
    assert said(busy, None) == "charge: 1,800 transactions in the last hour, some 43,200 a day"
    assert said({**busy, "over_s": 150.0, "cost_per_day": 0.00012345}) == (
        "charge: 1,800 transactions in 2 min, some 43,200 a day, which cost 0.00012 EUR"
    )
    assert said(young) == "charge: 1 transaction in 20 s"
    assert "makes fewer" not in said({**idle, "max_polling_interval_s": 60.0})


def test_of_many_functions_those_that_ask_most_are_told() -> None:
    def asking(number: int) -> Mapping[str, Any]:
        spent = {
            "transactions": number,
            "empty_polls": 0,
            "over_s": 3600.0,
            "per_day": number * 24.0,
            "cost_per_day": None,
            "max_polling_interval_s": 60.0,
        }
        quiet = {"last_error": None, "messages": None, "transactions": spent}
        return {**FUNCTION, **quiet, "name": f"f{number}"}

    functions = [asking(number) for number in range(1, 14)]
    standing = {**STANDING, "functions": functions, "accounts": []}

    said = standings.as_text(standing, NOW).splitlines()[-11:]

    assert [line.partition(":")[0] for line in said[:-1]] == [f"f{n}" for n in range(13, 3, -1)]
    assert said[-1] == "3 others: 6 transactions together (--format json has each)"


def test_a_standing_fits_a_terminal_of_eighty_columns() -> None:
    name = "a-function-whose-name-is-so-long-that-nothing-else-has-room-beside-it"
    long = {**FUNCTION, "name": name, "state": "queue missing"}
    standing = {**STANDING, "functions": [FUNCTION, long]}

    text = standings.as_text(standing, NOW, width=80)

    assert max(map(len, text.splitlines())) <= 80
    runs, queues = text.split("\n\n")[1:3]
    assert runs.splitlines()[0].endswith("POISONED  LAST OK")
    assert re.split("  +", queues.splitlines()[1]) == ["charge", "12 (1 h)", "3 ours, 103 others"]
    assert name in text  # where something is said of it, it can be told from others
    assert standings.as_text(standing, NOW, width=200) == standings.as_text(standing, NOW)


def test_what_keeps_a_script_from_being_read_is_said_first() -> None:
    faulty = {**STANDING, "functions": [], "accounts": [], "faults": ["function_app.py:3: oh"]}

    assert standings.as_text(faulty, NOW).splitlines()[-1] == "function_app.py:3: oh"


def test_what_is_not_known_is_a_dash_and_why() -> None:
    messages = {**FUNCTION["messages"], "waiting": None, "hidden": None, "ours": 0}
    messages |= {"oldest_s": None, "problem": "no answer"}
    function = {**FUNCTION, "messages": messages, "last_success": None, "last_error": None}
    function |= {"state": "disabled", "why": "setting X"}

    text = standings.as_text({**STANDING, "functions": [function], "accounts": []}, NOW)

    row, said = text.splitlines()[3], text.splitlines()[5:]
    assert row.split()[2] == "-"
    assert row.split()[-3:] == ["-", "-", "-"]
    assert said == [
        "charge: disabled: setting X",
        "charge: what is on orders is not known: no answer",
    ]


@pytest.mark.parametrize(("state", "code"), [("ready", 0), ("starting", 1), ("draining", 1)])
def test_check_says_nothing_and_means_ready(host: FakeHost, state: str, code: int) -> None:
    host.answers["state"] = {"state": state, "pid": 42}

    said = host("status", "--check")

    assert (said.return_value, said.output) == (code, "")


def test_status_asks_for_the_queues_and_is_one_object_for_programs(host: FakeHost) -> None:
    host.answers["status"] = STANDING

    content = json.loads(host("status", "--format", "json").output)

    assert content == {"schema_version": 1, "hosts": [dict(STANDING)]}
    assert host.asked[-1]["queues"] is True


def test_a_host_that_refuses_is_named(host: FakeHost) -> None:
    host.answers["status"] = {"error": "this host does not know that question"}

    said = host("status")

    assert "host-42.sock refuses: this host does not know that question" in said.output


RELOADED: Mapping[str, Any] = {
    "pid": 42,
    "state": "ready",
    "reloaded": True,
    "rejection": "",
    "none_runs": False,
    "faults": [],
}
FAULT = {"function": "charge", "place": "charge/__init__.py:3", "message": "no such module"}


@pytest.mark.parametrize(
    ("answer", "flags", "code", "text"),
    [
        (RELOADED, ["--wait"], 0, "host 42 has loaded the project anew and is ready"),
        ({**RELOADED, "reloaded": False}, [], 0, "host 42 loads the project anew"),
        (
            {**RELOADED, "reloaded": False, "rejection": "bad file"},
            ["--wait"],
            3,
            "host 42 goes on as before: bad file",
        ),
        (
            {**RELOADED, "none_runs": True, "faults": [FAULT]},
            ["--wait"],
            3,
            "none of its functions can run:\n  charge/__init__.py:3: charge: no such module\n",
        ),
        (
            {**RELOADED, "faults": [FAULT]},
            ["--wait"],
            5,
            "not all of its functions can run:\n  charge/__init__.py:3: charge: no such module\n",
        ),
        (
            {**RELOADED, "reloaded": False, "state": "draining"},
            ["--wait"],
            4,
            "host 42 stops instead",
        ),
    ],
)
def test_a_reload_says_how_it_went(
    host: FakeHost, answer: Mapping[str, Any], flags: list[str], code: int, text: str
) -> None:
    host.answers["reload"] = answer

    said = host("reload", *flags)

    assert (said.return_value, text in said.output) == (code, True)


def test_a_stop_that_leaves_messages_says_how_many(host: FakeHost) -> None:
    no_process = 2**22 + 1  # beyond the largest process id
    counts = {"succeeded": 1000, "failed_tries": 2, "handed_back": 3}
    host.answers["stop"] = {"pid": no_process, "counts": counts, "unsettled": 4}

    said = host("stop", "--wait")

    assert said.return_value == 5
    assert "has ended: 1,000 succeeded, 2 failed tries, 3 handed back" in said.output
    assert "4 messages could not be handed back" in said.output


def test_open_circuit_breakers_are_among_what_is_paused(host: FakeHost) -> None:
    broken = {**FUNCTION, "name": "refund", "state": "breaker open", "why": "10 failures in a row"}
    host.answers["status"] = {**STANDING, "functions": [FUNCTION, broken]}

    text = run("pause", f"{host.root}/").output
    content = json.loads(run("pause", f"{host.root}/", "--format", "json").output)

    assert text.splitlines() == [
        "no function is paused by hand",
        "refund  paused by its circuit breaker in host 42: 10 failures in a row",
    ]
    assert content["breakers"] == [
        {"function": "refund", "host": 42, "why": "10 failures in a row"}
    ]
    assert host.asked[-1]["queues"] is False


def test_a_host_that_does_not_answer_is_not_said_to_be_none(host: FakeHost) -> None:
    host.answers["status"] = {"error": "16 commands wait for its answers already; try again"}

    said = host("status")

    assert said.return_value == 4
    assert "16 commands wait for its answers already" in said.output
    assert "no host" not in said.output


@pytest.mark.parametrize("verb", ["status", "reload", "stop"])
def test_where_no_host_runs_that_is_said(tmp_path: Path, verb: str) -> None:
    said = run(verb, str(tmp_path))

    assert said.return_value == 4
    assert f"no host of {tmp_path} runs here" in said.output
    assert run("status", str(tmp_path), "--check").return_value == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (60, "1 min"), (3665, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_spans_have_two_units_at_most(seconds: float, text: str) -> None:
    assert standings.span(seconds) == text


def test_the_state_folder_is_what_systemd_gives(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of several the first; what is said by hand goes before it."""
    host.answers["state"] = {"state": "ready", "pid": 42}
    project: Callable[..., Result] = lambda *flags: run("status", str(tmp_path), "--check", *flags)  # noqa: E731
    assert project().return_value == 1

    monkeypatch.setenv("STATE_DIRECTORY", f"{host.root / '.qtrigger'}:/elsewhere")

    assert project().return_value == 0
    assert project("--state", str(tmp_path)).return_value == 1

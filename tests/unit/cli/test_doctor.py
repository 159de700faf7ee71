"""`qtrigger doctor`: how each thing stands, and the cure."""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from qtrigger.cli import examine_machine, examine_project
from qtrigger.cli.examined import Examined, State
from qtrigger.cli.main import cli
from qtrigger.queues.azurite_find import Machine
from qtrigger.queues.probe import Found, Listening
from qtrigger.workers.interpreter import Interpreter
from tests.unit.project.folder import ProjectFolder, errors

WORKS = Path(sys.executable)


class Stranger(socketserver.BaseRequestHandler):
    """What holds a port and is no queue service."""

    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.0 200 OK\r\nServer: nginx\r\nContent-Length: 0\r\n\r\n")


def doctor(*arguments: str, env: Mapping[str, str | None] = {}) -> Result:
    clean = {"AzureWebJobsStorage": None, "JOURNAL_STREAM": None, **env}
    return CliRunner().invoke(cli, ["doctor", *arguments], env=clean, standalone_mode=False)


class Told(dict[str, dict[str, Any]]):
    """What is told, by the thing; `code` is the exit code."""

    code: int


def told(*arguments: str, env: Mapping[str, str | None] = {}) -> Told:
    ended = doctor(*arguments, "--format", "json", env=env)
    said = json.loads(ended.stdout)
    assert said["schema_version"] == 1
    found = Told({each["what"]: each for each in said["examined"]})
    found.code = ended.return_value
    return found


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """A project whose emulator listens, if it does, on a port of its own."""
    folder = ProjectFolder(tmp_path)
    folder.function("charge")
    return folder


def test_a_project_in_order_ends_with_zero_and_no_failure(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage=local_service(9))  # nobody listens there

    said = doctor(str(folder.root))

    assert said.return_value == 0, said.output
    header, *lines = said.stdout.splitlines()
    assert header.split() == ["STATE", "WHAT", "FOUND"]
    assert {line.split()[0] for line in lines} <= {"ok", "warn"}


def test_every_thing_is_looked_at(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage=local_service(9))

    found = told(str(folder.root))

    assert {"qtrigger", "packages", "event loop", "emulator", "project's files"} <= found.keys()
    assert {"state folder", "proxy", "functions' Python", "project", "port 9"} <= found.keys()
    assert found["port 9"]["found"] == "free"
    assert found["connection"]["state"] == "ok"
    assert "qtrigger start brings it" in found["connection"]["found"]


def test_an_error_of_the_project_fails_with_where_to_read_it(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage="UseDevelopmentStorage=")

    assert errors(folder.load({}))
    found = told(str(folder.root))
    assert "qtrigger check" in found["project"]["cure"]
    assert found.code == 3


def test_without_a_project_the_machine_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    found = told()

    assert found["project"]["state"] == "warn"
    assert "qtrigger init" in found["project"]["cure"]
    assert "packages" in found
    assert found.code == 0


def test_a_service_that_does_not_answer_fails(folder: ProjectFolder) -> None:
    address = "BlobEndpoint=http://127.0.0.1:9/acme;QueueEndpoint=http://127.0.0.1:9/acme"
    folder.values(AzureWebJobsStorage=f"AccountName=acme;AccountKey=c2VjcmV0;{address}")

    found = told(str(folder.root))

    assert found["connection"]["state"] == "fail"
    assert "c2VjcmV0" not in json.dumps(found)
    assert found.code == 3


def test_an_emulators_port_that_is_anothers_is_told_once(folder: ProjectFolder) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Stranger) as stranger:
        thread = threading.Thread(target=stranger.serve_forever, args=(0.01,))
        thread.start()
        port = stranger.server_address[1]
        folder.values(AzureWebJobsStorage=local_service(port))
        found = told(str(folder.root))
        stranger.shutdown()
        thread.join(10.0)

    assert found[f"port {port}"]["state"] == "fail"
    assert "nginx" in found[f"port {port}"]["found"]
    assert "connection" not in found


def test_nobody_brings_an_emulator_in_production(folder: ProjectFolder) -> None:
    found = told(
        str(folder.root),
        *("--environment", "Production"),
        env={"AzureWebJobsStorage": local_service(9)},
    )

    assert found["connection"]["state"] == "fail"


def test_nothing_is_changed(folder: ProjectFolder) -> None:
    folder.values(AzureWebJobsStorage=local_service(9))
    before = sorted(folder.root.rglob("*"))

    doctor(str(folder.root))

    after = [each for each in folder.root.rglob("*") if "__pycache__" not in each.parts]
    assert sorted(after) == before


def test_a_python_that_cannot_be_started_fails(tmp_path: Path) -> None:
    gone = Interpreter(path=tmp_path / "python", why=".venv in the project")

    found = examine_project.interpreter(gone, tmp_path, {})

    assert found.state is State.FAIL
    assert ".venv in the project" in found.found
    assert "venv" in found.cure


def test_a_python_that_ends_says_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho one >&2\necho broken >&2\nexit 3\n")
    (tmp_path / "python").chmod(0o755)

    found = examine_project.interpreter(
        Interpreter(path=tmp_path / "python", why="x"), tmp_path, {}
    )

    assert found.state is State.FAIL
    assert "status 3: broken" in found.found


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"python": "3.8.10", "library": "1.20.0"}, State.FAIL),
        ({"python": "3.12.1", "library": ""}, State.WARN),
        ({"python": "3.12.1", "library": "1.21.0"}, State.OK),
    ],
)
def test_a_python_is_judged_by_its_age_and_its_library(
    tmp_path: Path, said: dict[str, str], state: State
) -> None:
    (tmp_path / "python").write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n")
    (tmp_path / "python").chmod(0o755)

    found = examine_project.interpreter(
        Interpreter(path=tmp_path / "python", why="x"), tmp_path, {}
    )

    assert found.state is state
    assert said["python"] in found.found
    assert bool(found.cure) is (state is not State.OK)


def test_the_python_of_these_tests_is_in_order(tmp_path: Path) -> None:
    found = examine_project.interpreter(Interpreter(path=WORKS, why="x"), tmp_path, {})

    assert found.state is State.OK, found


@pytest.mark.parametrize(
    ("found", "needed", "holder", "state", "word"),
    [
        (Found(listening=Listening.NOTHING), True, 0, State.OK, "free"),
        (
            Found(listening=Listening.QUEUE_SERVICE, server="Azurite-Queue/3.35.0"),
            *(True, 12, State.OK, "process 12"),
        ),
        (
            Found(listening=Listening.QUEUE_SERVICE, server="Azurite-Queue/3.35.0"),
            *(True, 0, State.OK, "not started by this project"),
        ),
        (Found(listening=Listening.SOMETHING_ELSE, server="nginx"), True, 0, State.FAIL, "nginx"),
        (Found(listening=Listening.SOMETHING_ELSE), False, 0, State.WARN, "no queue service"),
        (Found(listening=Listening.SILENT), True, 0, State.FAIL, "gives no answer"),
    ],
)
def test_a_port_is_free_ours_or_anothers(
    found: Found, needed: bool, holder: int, state: State, word: str
) -> None:
    port = examine_project.of_port(10001, found, holder, needed=needed)

    assert (port.state, word in port.found) == (state, True)


@pytest.mark.parametrize(
    ("seconds", "state", "word"),
    [
        (0, State.OK, "agrees"),
        (-45, State.OK, "45 s behind"),
        (61, State.WARN, "61 s ahead"),
        (-899, State.WARN, "899 s behind"),
        (900, State.FAIL, "900 s ahead"),
    ],
)
async def test_a_clock_may_be_a_minute_off_and_never_fifteen(
    folder: ProjectFolder, seconds: int, state: State, word: str
) -> None:
    async def skew(endpoint: str) -> timedelta:
        assert endpoint == "https://acme.queue.core.windows.net"
        return timedelta(seconds=seconds)

    (found,) = await examine_project.clocks(examine_project.accounts(folder.load()), skew)

    assert (found.state, word in found.found) == (state, True)
    assert bool(found.cure) is (state is not State.OK)


async def test_a_local_service_has_our_clock(folder: ProjectFolder) -> None:
    async def skew(endpoint: str) -> timedelta:
        raise AssertionError(endpoint)

    project = folder.load({"AzureWebJobsStorage": "UseDevelopmentStorage=true"})

    assert await examine_project.clocks(examine_project.accounts(project), skew) == []


def test_proxies_are_named_without_their_passwords() -> None:
    found = examine_machine.proxies({"https_proxy": "http://me:secret@proxy:3128", "PATH": "x"})

    assert found.found == "https_proxy=proxy:3128"
    assert examine_machine.proxies({"HTTP_PROXY": ""}).found == "none"


@pytest.mark.parametrize(
    ("conf", "state"),
    [
        ("", State.WARN),
        ("[Journal]\nRateLimitBurst=0\n", State.OK),
        ("#RateLimitBurst=0\n", State.WARN),
        ("RateLimitIntervalSec=1s\nRateLimitBurst=100000\n", State.OK),
    ],
)
def test_a_journal_that_drops_lines_is_warned_of(tmp_path: Path, conf: str, state: State) -> None:
    (tmp_path / "etc/systemd").mkdir(parents=True)
    (tmp_path / "etc/systemd/journald.conf").write_text(conf)

    found = examine_machine.journal({"JOURNAL_STREAM": "8:1"}, tmp_path)

    assert found is not None
    assert found.state is state
    assert examine_machine.journal({}, tmp_path) is None


@pytest.mark.parametrize(("watches", "state"), [("524288", State.OK), ("100", State.WARN)])
def test_few_watches_are_warned_of(tmp_path: Path, watches: str, state: State) -> None:
    tables = tmp_path / "proc/sys/fs/inotify"
    tables.mkdir(parents=True)
    (tables / "max_user_watches").write_text(f"{watches}\n")
    (tables / "max_user_instances").write_text("128\n")

    found = examine_machine.watching(tmp_path)

    assert found is not None
    assert found.state is state
    assert examine_machine.watching(tmp_path / "nowhere") is None


def test_a_machine_without_node_has_the_emulator_built_in(tmp_path: Path) -> None:
    bare = Machine(environment={"PATH": str(tmp_path), "HOME": str(tmp_path)}, wheel=None)

    found = examine_machine.azurite(tmp_path, bare)

    assert (found.state, found.cure) == (State.WARN, "pip install 'qtrigger[azurite]'")


def test_files_that_cannot_be_read_or_written_are_named(folder: ProjectFolder) -> None:
    def access(path: Path, wanted: int) -> bool:
        return path.name != "host.json" and not wanted & os.W_OK

    files, state = examine_machine.files(folder.root, folder.root / ".qtrigger", access)

    assert (files.state, "host.json" in files.found) == (State.FAIL, True)
    assert (state.state, "QTRIGGER_STATE" in state.cure) == (State.WARN, True)


def test_a_file_in_place_of_the_state_folder_is_warned_of(folder: ProjectFolder) -> None:
    (folder.root / ".qtrigger").write_text("")

    def of(things: list[Examined]) -> dict[str, State]:
        return {each.what: each.state for each in things}

    found = of(list(examine_machine.files(folder.root, folder.root / ".qtrigger")))

    assert found == {"project's files": State.OK, "state folder": State.WARN}


def local_service(port: int) -> str:
    """The emulator's account on another port."""
    from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY

    address = f"http://127.0.0.1:{port}/{EMULATOR_ACCOUNT}"
    return f"AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};QueueEndpoint={address}"

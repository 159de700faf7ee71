"""The socket of a host: its owner alone asks there, and nobody can do harm by asking."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from qtrigger import control, rendezvous
from qtrigger.clock import Clock, SystemClock
from qtrigger.control import Control
from qtrigger.rendezvous import MOST_OF_A_REQUEST, NoAnswerError
from qtrigger.testing.clock import ManualClock


class Place:
    """A project's folders, and what listens in them."""

    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.state = self.root / ".qtrigger"
        self.environ: dict[str, str] = {}
        self.asked: list[Mapping[str, Any]] = []
        self.released = asyncio.Event()
        self.given_up = asyncio.Event()
        self.waited = asyncio.Event()
        self.root.mkdir(parents=True)
        self.open: list[Control] = []

    async def control(self, clock: Clock | None = None) -> Control:
        answers = {"echo": self._echo, "wait": self._wait}
        made = Control(answers, clock or SystemClock())
        folders = rendezvous.folders(self.root, self.state, self.environ)
        await made.open(folders, temporary=folders[-1])
        self.open.append(made)
        return made

    def hosts(self) -> list[Path]:
        return list(rendezvous.hosts(self.root, self.state, self.environ))

    async def ask(self, path: Path, **request: Any) -> Mapping[str, Any]:
        return await asyncio.to_thread(rendezvous.ask, path, request, timeout_s=10.0)

    async def _echo(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(request)
        return {"said": request.get("say")}

    async def _wait(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.waited.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.given_up.set()
            raise
        return {"done": True}


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="qt") as folder:
        yield Path(folder)


@pytest.fixture
async def place(short: Path) -> AsyncIterator[Place]:
    made = Place(short)
    yield made
    for each in made.open:
        await each.close()


async def raw(path: Path, line: bytes) -> bytes:
    """What comes back for that line, b"" where the connection ends without a word."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        writer.write(line)
        return await asyncio.wait_for(reader.read(), 10.0)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_question_is_answered_and_its_owner_alone_can_ask(place: Place) -> None:
    await place.control()

    (path,) = place.hosts()
    assert path.parent == place.state.resolve()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (await place.ask(path, do="echo", say="hello"))["said"] == "hello"
    assert (place.state / ".gitignore").read_text() == "*\n"


async def test_the_socket_is_gone_with_its_host(place: Place) -> None:
    made = await place.control()
    await made.close()

    assert place.hosts() == []
    assert list(place.state.glob("*.sock")) == []


async def test_sockets_of_hosts_that_were_killed_are_no_hosts_and_are_removed(place: Place) -> None:
    place.state.mkdir()
    killed = place.state / "host-1.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(killed))
    assert place.hosts() == []

    await place.control()

    assert not killed.exists()
    assert len(place.hosts()) == 1


async def test_two_hosts_of_one_project_are_found_both(place: Place) -> None:
    """Also where both have the same process id, as in two containers with one folder."""
    await place.control()
    await place.control()

    assert len(place.hosts()) == 2


async def test_a_socket_where_systemd_wants_it_is_found_by_the_state_folder_too(
    place: Place, short: Path
) -> None:
    place.environ["RUNTIME_DIRECTORY"] = f"{short / 'run'}:{short / 'other'}"
    made = await place.control()
    place.environ.clear()

    (path,) = place.hosts()
    assert path.parent == (short / "run").resolve()
    assert (await place.ask(path, do="echo", say=1))["said"] == 1
    await made.close()
    assert list(place.state.glob("*.sock")) == []


async def test_a_path_too_long_for_a_socket_has_one_in_a_folder_of_the_users_own(
    short: Path,
) -> None:
    place = Place(short / ("long" * 30))
    made = await place.control()

    (path,) = place.hosts()
    folder = path.parent
    assert folder.name.startswith("qtrigger-")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (await place.ask(path, do="echo", say=1))["said"] == 1
    await made.close()
    assert not folder.exists()


async def test_a_temporary_folder_that_others_could_write_is_not_used(short: Path) -> None:
    place = Place(short / ("long" * 30))
    folder = rendezvous.folders(place.root, place.state, {})[-1]
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    try:
        with pytest.raises(PermissionError, match="not ours alone"):
            await place.control()
        assert place.hosts() == []
    finally:
        folder.rmdir()


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"[]\n",
        b'{"version": 1, "do": "unknown"}\n',
        b'{"version": 2, "do": "echo"}\n',
    ],
)
async def test_what_is_no_question_is_refused(place: Place, line: bytes) -> None:
    await place.control()

    answer = json.loads(await raw(place.hosts()[0], line))

    assert "does not know" in answer["error"]
    assert place.asked == []


async def test_a_question_without_an_end_is_cut_off(place: Place) -> None:
    await place.control()

    assert await raw(place.hosts()[0], b"x" * (MOST_OF_A_REQUEST * 3)) == b""


async def test_only_so_many_ask_at_once_and_the_next_may_again(place: Place) -> None:
    await place.control()
    (path,) = place.hosts()
    line = b'{"version": 1, "do": "wait"}\n'
    asking = {asyncio.create_task(raw(path, line)) for _ in range(control.MOST_CLIENTS + 4)}

    refused: set[asyncio.Task[bytes]] = set()
    async with asyncio.timeout(10.0):
        while len(refused) < 4:
            done, _ = await asyncio.wait(asking - refused, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
    for each in refused:
        assert "16 commands wait for its answers already" in json.loads(each.result())["error"]
    place.released.set()
    answers = await asyncio.gather(*(asking - refused))

    assert all(json.loads(each)["done"] for each in answers)
    assert len(answers) == control.MOST_CLIENTS
    assert (await place.ask(path, do="echo", say=1))["said"] == 1


async def test_those_who_say_nothing_hold_no_place(place: Place) -> None:
    await place.control()
    (path,) = place.hosts()
    count = control.MOST_SILENT + control.MOST_CLIENTS
    silent = [await asyncio.open_unix_connection(str(path)) for _ in range(count)]

    assert (await place.ask(path, do="echo", say=1))["said"] == 1

    # The one that has been silent for longest has given way.
    assert await asyncio.wait_for(silent[0][0].read(), 10.0) == b""
    for _, writer in silent:
        writer.close()


async def test_one_who_says_nothing_is_sent_away(place: Place) -> None:
    clock = ManualClock()
    await place.control(clock)
    (path,) = place.hosts()
    reader, writer = await asyncio.open_unix_connection(str(path))
    assert (await place.ask(path, do="echo", say=1))["said"] == 1  # so it has been let in

    await clock.advance(control.ASKING_S)

    assert await asyncio.wait_for(reader.read(), 10.0) == b""
    writer.close()


async def test_nothing_is_done_for_one_who_has_gone(place: Place) -> None:
    await place.control()
    _, writer = await asyncio.open_unix_connection(str(place.hosts()[0]))
    writer.write(b'{"version": 1, "do": "wait"}\n')
    await writer.drain()
    writer.close()

    await asyncio.wait_for(place.given_up.wait(), 10.0)


async def test_an_answer_under_way_is_given_before_the_socket_closes(place: Place) -> None:
    made = await place.control()
    asking = asyncio.create_task(place.ask(place.hosts()[0], do="wait"))
    await asyncio.wait_for(place.waited.wait(), 10.0)
    place.released.set()

    await made.close()

    assert (await asking)["done"] is True


async def test_a_host_that_says_nothing_is_given_up_in_time(place: Place) -> None:
    await place.control()
    with pytest.raises(NoAnswerError, match=r"has not answered within 0\.05 s: it is busy"):
        await asyncio.to_thread(rendezvous.ask, place.hosts()[0], {"do": "wait"}, timeout_s=0.05)


def test_where_nothing_temporary_can_be_written_the_other_places_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose root is read-only, with a folder for the state alone."""

    def none() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)

    assert tmp_path / "state" in rendezvous.folders(tmp_path, tmp_path / "state", {})
    assert rendezvous.hosts(tmp_path, tmp_path / "state", {}) == []

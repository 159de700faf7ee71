"""Those who are told of poisoned messages, as they are: programs, and an address that answers."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from aiohttp import web

from qtrigger.clock import SystemClock
from qtrigger.notices import TellingError
from qtrigger.project.options import OwnOptions, PoisonNotice
from qtrigger.tell_program import ProgramTeller
from qtrigger.tell_url import UrlTeller
from qtrigger.tellers import opener
from qtrigger.testing.clock import ManualClock
from tests.contract.certificates import write_certificate
from tests.contract.sockets import listening
from tests.unit.harness import definition

DOCUMENT = json.dumps({"function": "charge", "body": "é" * 40_000}, ensure_ascii=False)
SECRET = "s3cret"


def program(tmp_path: Path, code: str) -> ProgramTeller:
    (tmp_path / "tell.py").write_text(code)
    command = (sys.executable, "tell.py", "$HOME; echo no shell")
    return ProgramTeller(command, folder=tmp_path, environment=os.environ, clock=SystemClock())


async def test_a_program_reads_the_notice_in_the_projects_folder_and_no_shell_is_between(
    tmp_path: Path,
) -> None:
    code = "import sys, json\njson.dump([sys.stdin.read(), sys.argv[1]], open('told.json', 'w'))"

    await program(tmp_path, code).tell(DOCUMENT)

    assert json.loads((tmp_path / "told.json").read_text()) == [DOCUMENT, "$HOME; echo no shell"]


async def test_a_program_need_not_read_what_it_is_told(tmp_path: Path) -> None:
    await program(tmp_path, "import os; os.close(0)").tell(DOCUMENT * 10)


async def test_a_program_that_fails_says_how_with_its_last_lines(tmp_path: Path) -> None:
    code = "import sys\nprint('one')\nsys.exit('no mail today')"

    with pytest.raises(TellingError, match=r"exit code 1: .*no mail today"):
        await program(tmp_path, code).tell(DOCUMENT)


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    teller = ProgramTeller(
        ("./nothing",), folder=tmp_path, environment=os.environ, clock=SystemClock()
    )

    with pytest.raises(TellingError, match=r"cannot start \./nothing: .*No such file"):
        await teller.tell(DOCUMENT)


async def test_a_program_over_its_time_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("pids.part", "w").write(f"{os.getpid()} {child.pid}")
os.rename("pids.part", "pids")
time.sleep(60)
"""
    telling = asyncio.create_task(program(tmp_path, code).tell(DOCUMENT))
    async with asyncio.timeout(20.0):
        while not (tmp_path / "pids").exists():
            await asyncio.wait([telling], timeout=0.05)

    telling.cancel()
    await asyncio.wait([telling], timeout=20.0)

    assert telling.cancelled()
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert not any(is_running(pid) for pid in pids)


def is_running(pid: int) -> bool:
    """Whether it runs; one that has ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@dataclass
class Hook:
    """An address that answers with these statuses, one after another; the last one repeats."""

    statuses: list[int]
    got: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.got.append((request.headers["Content-Type"], await request.text()))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return web.Response(status=status, headers={"Location": self.url})


@asynccontextmanager
async def hook(*statuses: int) -> AsyncIterator[Hook]:
    found = Hook(list(statuses))
    application = web.Application()
    application.router.add_post(f"/{SECRET}", found.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        found.url = f"http://user:{SECRET}@127.0.0.1:{port}/{SECRET}?key={SECRET}"
        yield found
    finally:
        await runner.cleanup()


class Hasty(ManualClock):
    """Its sleeps are over at once, and noted."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)


async def test_an_address_gets_the_notice_as_json() -> None:
    async with hook(204) as found:
        await UrlTeller(found.url, Hasty()).tell(DOCUMENT)

    assert found.got == [("application/json", DOCUMENT)]


@pytest.mark.parametrize("statuses", [(503, 200), (429, 500, 202)])
async def test_a_passing_fault_has_two_more_tries_with_pauses(statuses: Sequence[int]) -> None:
    clock = Hasty()
    async with hook(*statuses) as found:
        await UrlTeller(found.url, clock).tell(DOCUMENT)

    assert len(found.got) == len(statuses)
    assert clock.slept == [1.0, 2.0][: len(statuses) - 1]


@pytest.mark.parametrize(
    ("status", "tries", "said"),
    [
        (500, 3, "it answered 500, 3 times"),
        (404, 1, "it answered 404"),
        (401, 1, "it answered 401"),
        (302, 1, "it answered 302, and redirects are not followed"),
    ],
)
async def test_what_does_not_pass_is_told_once_without_what_is_secret_in_the_address(
    status: int, tries: int, said: str
) -> None:
    async with hook(status) as found:
        teller = UrlTeller(found.url, Hasty())
        with pytest.raises(TellingError) as raised:
            await teller.tell(DOCUMENT)

    assert (str(raised.value), len(found.got)) == (said, tries)
    assert teller.who == "http://127.0.0.1/…"
    assert SECRET not in f"{raised.value}{raised.value.hint}{teller.who}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"http://127.0.0.1:1/{SECRET}", "no connection: Connection refused, 3 times"),
        (f"http://{SECRET}.invalid:99999/{SECRET}", "onPoison.url cannot be used as an address"),
    ],
)
async def test_an_address_that_cannot_be_reached_is_told_without_its_path(
    url: str, said: str
) -> None:
    with pytest.raises(TellingError) as raised:
        await UrlTeller(url, Hasty()).tell(DOCUMENT)

    assert str(raised.value) == said


async def test_an_address_with_a_certificate_that_is_not_trusted_is_told_as_that(
    tmp_path: Path,
) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(write_certificate(tmp_path / "cert.pem"))
    clock = Hasty()

    async with listening(_answer_nothing, tls) as port:
        with pytest.raises(TellingError, match=r"^no connection: self.signed certificate$") as no:
            await UrlTeller(f"https://localhost:{port}/{SECRET}", clock).tell(DOCUMENT)

    assert "SSL_CERT_FILE" in no.value.hint
    assert clock.slept == []


async def _answer_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


def test_a_function_has_a_teller_for_each_of_the_two(tmp_path: Path) -> None:
    both = PoisonNotice(command=("./tell", "x"), url=f"https://hooks.example/{SECRET}")
    function = replace(definition("charge", "orders"), own=OwnOptions(on_poison=both))

    tellers = opener(tmp_path, os.environ, SystemClock())(function)

    assert [each.who for each in tellers] == ["program ./tell", "https://hooks.example/…"]
    assert SECRET not in repr(function)

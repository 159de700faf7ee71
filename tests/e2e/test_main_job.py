"""`qtrigger start` end to end: a subprocess, Azurite, real signals, real files."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

PLAIN = """
    def main(msg: str) -> None:
        note(msg)
"""
TAKES_A_SECOND = """
    import time
    def main(msg: str) -> None:
        note("began")
        time.sleep(1)
        note("ended")
"""
RAISES = """
    def main(msg: bytes) -> None:
        note("called")
        raise ValueError("no")
"""
ASYNC = """
    import asyncio
    import azure.functions as func
    async def main(msg: func.QueueMessage) -> None:
        await asyncio.sleep(0)
        note(msg.get_body().decode())
"""


@pytest.mark.parametrize("extra", ["with uvloop", "without uvloop"])
async def test_a_thousand_messages_are_each_processed_and_deleted(
    folder: ProjectFolder, service: Service, extra: str
) -> None:
    if extra == "without uvloop":
        folder.hide("uvloop")
    folder.function("plain", PLAIN)
    folder.function("waiting", ASYNC)
    texts = [f"p{n}" for n in range(500)]
    others = [f"a{n}" for n in range(500)]
    await service.put(folder.queue("plain"), texts)
    await service.put(folder.queue("waiting"), others)

    with running(folder, "--exit-when-idle", "3") as host:
        assert host.wait() == 0

    assert Counter(folder.notes()) == Counter(texts + others)
    assert await service.texts(folder.queue("plain")) == []
    assert await service.texts(folder.queue("waiting")) == []
    assert "1,000 ok" in host.output


async def test_a_function_that_always_raises_is_called_five_times_and_poisons_the_bytes(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function(
        "broken", "def main(msg: bytes):\n    note('called')\n    raise ValueError('no')\n"
    )
    body = bytes(range(256))
    await service.put(folder.queue("broken"), [body])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert folder.notes() == ["called"] * 5
    assert await service.bodies(folder.queue("broken-poison")) == [body]
    assert await service.texts(folder.queue("broken")) == []
    assert "moved to" in host.output
    assert "functions/broken/__init__.py" in host.output


async def test_a_function_that_ends_its_process_is_retried_and_poisoned_while_others_go_on(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("leaver", "import os\ndef main(msg: str):\n    note('left')\n    os._exit(3)\n")
    folder.function("plain", PLAIN)
    await service.put(folder.queue("leaver"), ["x"])
    texts = [f"p{n}" for n in range(50)]

    with running(folder, "--exit-when-idle", "3") as host:
        host.wait_for("exit code 3")
        await service.put(folder.queue("plain"), texts)
        assert host.wait() == 0

    notes = Counter(folder.notes())
    assert notes.pop("left") == 5
    assert set(notes) == set(texts)
    assert await service.texts(folder.queue("leaver-poison")) == ["x"]
    assert await service.texts(folder.queue("leaver")) == []


async def test_a_killed_host_loses_nothing(folder: ProjectFolder, service: Service) -> None:
    folder.host_json(lease="00:00:04")
    folder.function(
        "slow", "import time\ndef main(msg: str):\n    time.sleep(0.02)\n    note(msg)\n"
    )
    texts = [f"m{n}" for n in range(500)]
    await service.put(folder.queue("slow"), texts)
    with running(folder) as first:
        first.wait_for("  ok  ", count=100)
        first.signal(signal.SIGKILL)
        first.wait()

    with running(folder, "--exit-when-idle", "6") as second:
        assert second.wait() == 0

    assert set(folder.notes()) == set(texts)
    assert await service.texts(folder.queue("slow")) == []
    assert await service.texts(folder.queue("slow-poison")) == []


async def test_the_first_signal_lets_running_functions_finish(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("slow", TAKES_A_SECOND)
    await service.put(folder.queue("slow"), ["x"])

    with running(folder, "--log-level", "debug") as host:
        host.wait_for("try 1 from")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["began", "ended"]
    assert await service.texts(folder.queue("slow")) == []


@pytest.mark.parametrize("twice", [False, True])
async def test_what_cannot_finish_is_handed_back_and_visible_at_once(
    folder: ProjectFolder, service: Service, twice: bool
) -> None:
    folder.host_json(shutdownTimeout="00:00:30" if twice else "00:00:01")
    folder.function("slow", "import time\ndef main(msg: str):\n    time.sleep(20)\n")
    await service.put(folder.queue("slow"), ["x"])

    with running(folder, "--log-level", "debug") as host:
        host.wait_for("try 1 from")
        host.signal(signal.SIGINT)
        if twice:
            host.wait_for("stopping")
            host.signal(signal.SIGINT)
        assert host.wait(10.0) == 0

    assert await service.texts(folder.queue("slow")) == ["x"]
    assert "handed back" in host.output


async def test_outputs_go_on_to_the_next_function(folder: ProjectFolder, service: Service) -> None:
    folder.function(
        "first",
        """
        import azure.functions as func
        def main(msg: str, copy: func.Out[str]) -> str:
            copy.set("copy of " + msg)
            return "result of " + msg
        """,
        out={"$return": "second", "copy": "second"},
    )
    folder.function("second", PLAIN)
    await service.put(folder.queue("first"), ["x"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["copy of x", "result of x"]


async def test_a_hang_up_loads_the_project_anew(folder: ProjectFolder, service: Service) -> None:
    folder.function("plain", PLAIN)
    with running(folder) as host:
        host.wait_for("ready in")
        folder.function("added", PLAIN)
        await service.put(folder.queue("added"), ["x"])

        host.signal(signal.SIGHUP)
        host.wait_for("ready in", count=2)
        host.wait_for("  ok  ")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["x"]


async def test_logs_and_prints_are_tied_to_their_message(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function(
        "talker",
        "import logging\ndef main(msg: str):\n    logging.info('logged')\n    print('printed')\n",
    )
    await service.put(folder.queue("talker"), ["x"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    (end,) = [line for line in host.lines if "  ok  " in line]
    short_id = end.split("talker")[1].split()[0]
    for words in ("logged", "printed"):
        (line,) = [line for line in host.lines if words in line]
        assert "talker" in line
        assert short_id in line


def test_the_version_is_one_line() -> None:
    ended = qtrigger("--version")

    assert ended.returncode == 0
    assert ended.stdout.startswith("qtrigger 0.")

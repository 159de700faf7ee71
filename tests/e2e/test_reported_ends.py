"""What users ran into with runs that never end, and with stops in the middle of work."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import LIMIT_S, QTRIGGER, ProjectFolder, RunningHost, running

PLAIN = """
    def main(msg: str) -> None:
        note(msg)
"""
# Both go on for 20 s, and say so ten times a second under the number of their try.
NEVER_RETURNS = """
    import time
    import azure.functions as func
    def main(msg: func.QueueMessage) -> None:
        for _ in range(200):
            note(f"try {msg.dequeue_count}")
            time.sleep(0.1)
"""
# Crashes three times while it is imported.
RECOVERS = """
    import os
    import azure.functions as func
    with open(os.environ["NOTES"] + ".imports", "a+") as file:
        file.write("x")
        file.flush()
        if file.tell() < 4:
            os._exit(1)
    def main(msg: func.QueueMessage) -> None:
        note(f"recovers, try {msg.dequeue_count}")
"""
SLOW_IMPORT = """
    import time
    import azure.functions as func
    time.sleep(1)
    def main(msg: func.QueueMessage) -> None:
        note(f"slow, try {msg.dequeue_count}")
"""
CRASHES = """
    import os
    os._exit(1)
    def main(msg: str) -> None: ...
"""
# Cannot be imported while a certain file is there.
FADES = """
    import os
    if os.path.exists(os.environ["FADED"]):
        raise RuntimeError("faded")
    def main(msg: str) -> None:
        note("fades")
"""
LEAVES = """
    import os
    def main(msg: str) -> None:
        os._exit(3)
"""
SWALLOWS = """
    import asyncio
    import azure.functions as func
    async def main(msg: func.QueueMessage) -> None:
        for _ in range(200):
            note(f"try {msg.dequeue_count}")
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                pass
"""
# Waits until all its neighbours have begun.
KILLS = """
    import os, signal, time
    def main(msg: str) -> None:
        note("kills")
        while open(os.environ["NOTES"]).read().count("began") < int(os.environ["NEIGHBOURS"]):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
"""
HALF_A_SECOND = """
    import time
    def main(msg: str) -> None:
        note("began " + msg)
        time.sleep(0.5)
        note("ended " + msg)
"""
TWENTY_SECONDS = """
    import time
    def main(msg: str) -> None:
        note("began " + msg)
        time.sleep(20)
        note("ended " + msg)
"""


def worker_pids(host: RunningHost) -> list[int]:
    """Of every worker that the host has had, from its lines at level debug."""
    return [int(pid) for pid in re.findall(r"ready in .* \(pid (\d+)\)", host.output)]


def alive(pids: Sequence[int]) -> list[int]:
    """Those of them that there are still."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("code", [NEVER_RETURNS, SWALLOWS], ids=["plain", "async"])
async def test_a_function_that_never_returns_times_out_into_poison_while_others_are_served(
    folder: ProjectFolder, service: Service, code: str
) -> None:
    """A try begins when the one before can no longer run: their lines never mix."""
    folder.environ["AzureFunctionsJobHost__functionTimeout"] = "00:00:01"
    folder.host_json(
        {"maxPollingInterval": "00:00:00.2"}, functions={"endless": {"maxDequeueCount": 3}}
    )
    folder.function("endless", code)
    folder.function("plain", PLAIN)
    await service.put(folder.queue("endless"), ["x"])

    with running(folder, "--log-level", "debug") as host:
        for number in (1, 2, 3):
            host.wait_for(f"try {number} from {folder.queue('endless')}")
            await service.put(folder.queue("plain"), [f"p{number}"])
        host.wait_for("POISON")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    tries = [note for note in folder.notes() if note.startswith("try")]
    assert tries == sorted(tries)
    assert set(tries) == {"try 1", "try 2", "try 3"}
    assert {"p1", "p2", "p3"} <= set(folder.notes())
    assert host.output.count("timed out after 1 s (functionTimeout)") == 3
    assert await service.texts(folder.queue("endless-poison")) == ["x"]
    pids = worker_pids(host)
    assert len(pids) >= 3
    assert alive(pids) == []


async def test_what_kills_its_worker_is_found_and_its_neighbours_lose_no_try(
    folder: ProjectFolder, service: Service
) -> None:
    """The neighbours have but one try, and the first one ends under them."""
    folder.host_json(
        {"maxPollingInterval": "00:00:30"},
        functions={"works": {"maxDequeueCount": 1}, "kills": {"maxDequeueCount": 2}},
    )
    folder.function("kills", KILLS)
    folder.function("works", HALF_A_SECOND)
    await service.put(folder.queue("works"), [f"m{number}" for number in range(5)])
    await service.put(folder.queue("kills"), ["x"])
    folder.environ["NEIGHBOURS"] = "5"

    with running(folder) as host:
        host.wait_for("  ok  ", count=5)
        host.wait_for("POISON    kills")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    ended = sorted(note for note in folder.notes() if note.startswith("ended"))
    assert ended == [f"ended m{number}" for number in range(5)]
    assert folder.notes().count("kills") == 3
    assert await service.raw(folder.queue("works-poison")) == []
    assert await service.texts(folder.queue("kills-poison")) == ["x"]
    killed = "killed by signal 9 (often: out of memory), peak memory"
    assert len([line for line in host.lines if " back      works " in line and killed in line]) == 5
    assert "this try is not counted, and the next one runs alone" in host.output
    assert "5 ok · 2 failed · 1 poisoned" in host.output


async def test_a_stop_under_load_is_over_in_time_and_everything_unfinished_is_there_again(
    folder: ProjectFolder, service: Service
) -> None:
    """A stop is no error, whatever it interrupts."""
    folder.host_json({"batchSize": 8}, shutdownTimeout="00:00:02")
    folder.function("slow", TWENTY_SECONDS)
    texts = [f"m{number}" for number in range(20)]
    await service.put(folder.queue("slow"), texts)

    with running(folder, "--log-level", "debug") as host:
        host.wait_for("try 1 from", count=8)
        host.signal(signal.SIGTERM)
        signalled = time.monotonic()
        assert host.wait() == 0
        took_s = time.monotonic() - signalled

    assert took_s < 12.0  # the functions would take longer; a busy machine may be late
    assert sorted(await service.texts(folder.queue("slow"))) == sorted(texts)
    (stopping,) = [at for at, line in enumerate(host.lines) if " stopping " in line]
    assert not any("try 1 from" in line for line in host.lines[stopping:])
    assert "ended" not in " ".join(folder.notes())
    assert [line for line in host.lines if re.search(r"ERROR|FAILED|WARN|code 143", line)] == []
    assert alive(worker_pids(host)) == []


async def test_a_second_host_takes_at_once_what_a_stop_interrupted(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json({"maxPollingInterval": "00:00:00.2"}, shutdownTimeout="00:00:30")
    folder.function("slow", TWENTY_SECONDS)
    await service.put(folder.queue("slow"), ["x"])

    with running(folder, "--log-level", "debug") as first:
        first.wait_for("try 1 from")
        with running(folder, "--log-level", "debug") as second:
            second.wait_for("0 found in")
            first.signal(signal.SIGTERM)
            first.wait_for("stopping")
            first.signal(signal.SIGTERM)
            second.wait_for("try 2 from", limit_s=12.0)
            assert first.wait(12.0) == 0
            second.signal(signal.SIGTERM)
            second.signal(signal.SIGTERM)
            assert second.wait() == 0


async def test_an_interrupt_of_the_terminal_stops_the_host_and_lets_functions_finish(
    folder: ProjectFolder, service: Service
) -> None:
    """Ctrl-C reaches everything in the terminal's group; the host alone decides what it means."""
    folder.function("child", ASKS_FOR_A_FILE)
    release = folder.root / "release"
    folder.environ["RELEASE"] = str(release)
    await service.put(folder.queue("child"), ["x"])

    with running(folder, "--log-level", "debug") as host:
        host.wait_for("try 1 from")
        await until_noted(folder, "began")
        for pid in [host.pid, *worker_pids(host)]:
            os.kill(pid, signal.SIGINT)
        host.wait_for("stopping")
        release.touch()
        assert host.wait() == 0

    assert folder.notes() == ["began", "ended"]
    assert await service.count(folder.queue("child")) == 0


async def until_noted(folder: ProjectFolder, *notes: str) -> None:
    """Wait until functions have noted all that."""
    async with asyncio.timeout(10):
        while not set(notes) <= set(folder.notes()):  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.02)


ASKS_FOR_A_FILE = """
import os, time
def main(msg: str) -> None:
    note("began")
    while not os.path.exists(os.environ["RELEASE"]):
        time.sleep(0.02)
    note("ended")
"""


async def test_no_message_is_taken_before_its_function_is_loaded_and_the_host_comes_up(
    folder: ProjectFolder, service: Service
) -> None:
    codes = {"crashes": CRASHES, "recovers": RECOVERS, "slow": SLOW_IMPORT}
    for name, code in codes.items():
        folder.function(name, code)
        await service.put(folder.queue(name), ["x"])

    with running(folder) as host:
        host.wait_for("  ok  ", count=2)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["recovers, try 1", "slow, try 1"]
    assert await service.dequeue_counts(folder.queue("crashes")) == [0]
    assert "2 of 3 functions" in host.output
    said = [line for line in host.lines if "failed while importing it" in line]
    assert len(said) == 1
    assert "functions/crashes/__init__.py:1" in said[0]


async def test_a_function_that_a_later_worker_cannot_load_is_let_be_until_one_can(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json(
        {"maxPollingInterval": "00:00:00.2"}, functions={"leaves": {"maxDequeueCount": 1}}
    )
    for name, code in {"fades": FADES, "leaves": LEAVES, "plain": PLAIN}.items():
        folder.function(name, code)
    faded = folder.root / "faded"
    folder.environ["FADED"] = str(faded)
    await service.put(folder.queue("fades"), ["x"])

    with running(folder) as host:
        host.wait_for("  ok  ")
        faded.touch()
        await service.put(folder.queue("leaves"), ["x"])
        host.wait_for("RuntimeError: faded")
        await service.put(folder.queue("fades"), ["y"])
        await service.put(folder.queue("plain"), ["p1"])
        host.wait_for("  ok  ", count=2)
        assert await service.dequeue_counts(folder.queue("fades")) == [0]
        faded.unlink()
        await service.put(folder.queue("leaves"), ["x"])
        host.wait_for("polled again")
        host.wait_for("  ok  ", count=3)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["fades", "p1", "fades"]
    assert len([line for line in host.lines if re.search(r"ERROR +fades", line)]) == 1


async def test_on_request_every_thread_says_where_it_stands_and_goes_on(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("waits", ASKS_FOR_A_FILE)
    release = folder.root / "release"
    folder.environ["RELEASE"] = str(release)
    await service.put(folder.queue("waits"), ["x"])

    with running(folder) as host:
        await until_noted(folder, "began")
        host.signal(signal.SIGUSR1)
        host.wait_for("functions/waits/__init__.py")
        release.touch()
        host.wait_for("  ok  ")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    (line,) = [line for line in host.lines if "functions/waits/__init__.py" in line]
    assert "in main" in line


async def test_no_host_holds_messages_that_its_threads_cannot_run(
    folder: ProjectFolder, service: Service
) -> None:
    """Two hosts of one thread each: both work from the start, and nothing is taken twice."""
    folder.environ["PYTHON_THREADPOOL_THREAD_COUNT"] = "1"
    folder.host_json({"maxPollingInterval": "00:00:00.2"}, lease="00:00:02")
    folder.function("slow", HALF_A_SECOND)

    with running(folder, "--log-level", "debug") as first, running(folder) as second:
        for host in (first, second):
            host.wait_for("ready, 1 at once")
            host.wait_for("of 1 functions")
        await service.put(folder.queue("slow"), [f"m{number}" for number in range(8)])
        for host in (first, second):
            host.wait_for("  ok  ", count=2)
        await until_noted(folder, *[f"ended m{number}" for number in range(8)])
        for host in (first, second):
            host.signal(signal.SIGTERM)
            assert host.wait() == 0

    assert sorted(folder.notes())[:8] == [f"began m{number}" for number in range(8)]
    assert len(folder.notes()) == 16
    assert "try 2" not in first.output + second.output


TAKES_A_WHILE = """
    import time
    def main(msg: str) -> None:
        note("began " + msg)
        time.sleep(1)
        note("ended " + msg)
"""
# Runs what follows in a terminal of its own, which is standard input.
IN_TERMINAL = """
import os, sys
os.login_tty(0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


async def test_a_terminal_that_is_closed_stops_its_host(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("slow", TAKES_A_WHILE)
    await service.put(folder.queue("slow"), ["x"])
    ours, its = pty.openpty()
    command = [sys.executable, "-c", IN_TERMINAL, *QTRIGGER[1:], "start", str(folder.root)]
    host = subprocess.Popen(command, stdin=its, env=folder.environ)  # noqa: ASYNC220
    os.close(its)
    try:
        await until_noted(folder, "began x")
        os.close(ours)
        assert await asyncio.to_thread(host.wait, LIMIT_S) == 0
    finally:
        host.kill()
        host.wait()

    assert folder.notes() == ["began x", "ended x"]

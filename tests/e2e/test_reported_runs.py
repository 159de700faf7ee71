"""What users ran into with runs that end oddly, outlive their lease, or die with their host."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

CANCELS = """
    import asyncio
    async def main(msg: str):
        note("cancels")
        raise asyncio.CancelledError
"""
ENDS = {
    "exits": (
        "import sys\ndef main(msg: str):\n    note('exits')\n    sys.exit(0)\n",
        "SystemExit",
    ),
    "leaves": (
        "import os\ndef main(msg: str):\n    note('leaves')\n    os._exit(0)\n",
        "exit code 0",
    ),
    "interrupts": (
        "def main(msg: str):\n    note('interrupts')\n    raise KeyboardInterrupt\n",
        "KeyboardInterrupt",
    ),
    "closes": (
        "async def main(msg: str):\n    note('closes')\n    raise GeneratorExit\n",
        "GeneratorExit",
    ),
    "cancels": (CANCELS, "CancelledError"),
}
FIVE_SECONDS = """
    import os, time
    def main(msg: str):
        note("began " + msg)
        time.sleep(5)
        while not os.path.exists(os.environ["WATCHED"]):
            time.sleep(0.05)
        note("ended " + msg)
"""
HANGS_ON_FIRST = """
    import os, time
    def main(msg: str):
        note("began " + msg)
        if os.environ.get("HANG"):
            time.sleep(600)
        note("ended " + msg)
"""
UPDATES_ITSELF = """
    import os
    import azure.functions as func
    from azure.storage.queue import QueueClient

    def main(msg: func.QueueMessage):
        body = msg.get_body().decode()
        note(f"{msg.dequeue_count} {body}")
        if msg.dequeue_count > 1:
            return
        queue = QueueClient.from_connection_string(
            os.environ["AzureWebJobsStorage"], os.environ["ITS_QUEUE"], api_version="2021-12-02"
        )
        text = {} if body == "hides" else {"content": "half done"}
        queue.update_message(msg.id, msg.pop_receipt, visibility_timeout=2, **text)
        if body == "fails":
            raise ValueError("no")
"""


async def test_however_a_run_ends_without_returning_it_is_a_failed_try_that_says_how(
    folder: ProjectFolder, service: Service
) -> None:
    """Exit codes of 0 are no success: the message is kept, and its tries are counted."""
    # A process that leaves takes its neighbours' runs along, and that once only: then it is tried
    # alone. That first try is excused, of every message that was there.
    folder.host_json({"maxDequeueCount": 3}, functions={"leaves": {"maxDequeueCount": 1}})
    for name, (code, _) in ENDS.items():
        folder.function(name, code)
        await service.put(folder.queue(name), [name])

    with running(folder, "--exit-when-idle", "3") as host:
        assert host.wait() == 0

    notes = Counter(folder.notes())
    for name, (_, how) in ENDS.items():
        assert await service.texts(folder.queue(f"{name}-poison")) == [name]
        said = [line for line in host.lines if f"FAILED    {name} " in line]
        assert any(how in line for line in said), (name, host.output)
        tries = 1 if name == "leaves" else 3
        assert notes[name] - tries in (0, 1), (notes, host.output)
    assert " 0 ok ·" in host.output


async def test_a_run_longer_than_its_lease_is_one_run_among_two_hosts(
    folder: ProjectFolder, service: Service
) -> None:
    """It takes 5 s under a lease of 2 s, while another host asks five times a second."""
    folder.host_json({"maxPollingInterval": "00:00:00.2"}, lease="00:00:02")
    folder.function("slow", FIVE_SECONDS)
    watched = folder.root / "watched"
    folder.environ["WATCHED"] = str(watched)
    await service.put(folder.queue("slow"), ["a"])

    with running(folder, "--log-level", "debug") as first:
        first.wait_for("try 1 from")
        with running(folder, "--log-level", "debug") as second:
            second.wait_for("0 found in", count=20)
            watched.touch()
            first.wait_for("  ok  ")
            for host in (first, second):
                host.signal(signal.SIGTERM)
                assert host.wait() == 0

    assert folder.notes() == ["began a", "ended a"]
    assert await service.count(folder.queue("slow")) == 0
    assert first.output.count("renewed for 2 s") >= 4
    assert "no longer ours" not in first.output


async def test_a_message_whose_host_was_killed_comes_back_with_its_lease(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json({"maxPollingInterval": "00:00:00.2"}, lease="00:00:03")
    folder.function("slow", HANGS_ON_FIRST)
    await service.put(folder.queue("slow"), ["a"])
    folder.environ["HANG"] = "1"
    with running(folder, "--log-level", "debug") as first:
        first.wait_for("try 1 from")
        first.signal(signal.SIGKILL)
        first.wait()
    del folder.environ["HANG"]

    with running(folder) as second:
        second.wait_for("  ok  ")
        second.signal(signal.SIGTERM)
        assert second.wait() == 0

    assert folder.notes()[-2:] == ["began a", "ended a"]
    assert await service.count(folder.queue("slow")) == 0
    assert await service.raw(folder.queue("slow-poison")) == []


async def test_what_a_killed_host_left_is_told_at_the_next_start_as_far_as_it_can_be_known(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("slow", HANGS_ON_FIRST)
    folder.environ["HANG"] = "1"
    await service.put(folder.queue("slow"), ["a", "b"])
    with running(folder, "--log-level", "debug") as first:
        first.wait_for("try 1 from", count=2)
        assert "hidden in" not in first.output
        first.signal(signal.SIGKILL)
        first.wait()

    with running(folder) as second:
        second.wait_for(f"about 2 messages are hidden in {folder.queue('slow')}")
        second.signal(signal.SIGTERM)
        assert second.wait() == 0

    (line,) = [line for line in second.lines if "hidden in" in line]
    assert "left by a host that was killed" in line
    assert "10 min at most (qtrigger.lease)" in line


async def test_a_message_whose_hosts_all_died_is_not_run_again_and_says_so(
    folder: ProjectFolder, service: Service
) -> None:
    options = {"maxPollingInterval": "00:00:00.2", "maxDequeueCount": 2}
    folder.host_json(options, lease="00:00:02")
    folder.function("slow", HANGS_ON_FIRST)
    folder.environ["HANG"] = "1"
    await service.put(folder.queue("slow"), ["a"])
    for number in (1, 2):
        with running(folder, "--log-level", "debug") as host:
            host.wait_for(f"try {number} from")
            host.signal(signal.SIGKILL)
            host.wait()

    with running(folder) as last:
        last.wait_for("POISON")
        last.signal(signal.SIGTERM)
        assert last.wait() == 0

    (line,) = [line for line in last.lines if "POISON" in line]
    assert "2 of its 2 tries before this one left no result here" in line
    assert "in the queue since" in line
    assert await service.texts(folder.queue("slow-poison")) == ["a"]
    assert "ended a" not in folder.notes()


@pytest.mark.parametrize("body", ["hides", "writes", "fails"])
async def test_a_function_that_updates_its_own_message_has_its_way_and_one_warning(
    folder: ProjectFolder, service: Service, body: str
) -> None:
    """The receipt that the host holds is old then, and the service's answer is no error."""
    folder.function("own", UPDATES_ITSELF)
    folder.environ["ITS_QUEUE"] = folder.queue("own")
    # The SDK writes the text as it stands, so base64 is for the function to leave out.
    folder.host_json(
        {"maxPollingInterval": "00:00:00.2"}, functions={"own": {"messageEncoding": "none"}}
    )
    await service.put_raw(folder.queue("own"), [body])

    with running(folder) as host:
        host.wait_for("try 2")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    seen = "hides" if body == "hides" else "half done"
    assert folder.notes() == [f"1 {body}", f"2 {seen}"]
    warned = [line for line in host.lines if "no longer ours" in line]
    assert len(warned) == 1
    assert "the function itself updated or deleted it" in warned[0]
    assert "SETTLE" not in host.output
    assert (" 1 failed ·" if body == "fails" else " 0 failed ·") in host.output
    assert await service.count(folder.queue("own")) == 0

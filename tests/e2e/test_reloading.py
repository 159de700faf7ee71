"""Files of a running project that are saved: what restarts, what does not, and what is said."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.processes import below
from benchmarks.small_host import wait_until
from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, RunningHost, running

VERSION = """
VERSION = {version}
def main(msg):
    note(f"{{VERSION}} {{msg.get_body().decode()}} {{msg.dequeue_count}}")
"""
SLOW = """
import time
VERSION = {version}
def main(msg):
    body = msg.get_body().decode()
    note(f"{{VERSION}} began {{body}}")
    if body == "long":
        time.sleep(1.2)
    note(f"{{VERSION}} ended {{body}} {{msg.dequeue_count}}")
"""


def save(folder: ProjectFolder, name: str, code: str) -> Path:
    """Write a function's code anew, as an editor does that replaces the file."""
    file = folder.root / "functions" / name / "__init__.py"
    new = file.with_name("new~")
    new.write_text("from shared_notes import note\n" + code)
    return new.replace(file)


async def until(true: Callable[[], bool], what: str) -> None:
    """Wait until that is so; others go on meanwhile."""
    await asyncio.to_thread(wait_until, true, what)


async def until_noted(folder: ProjectFolder, text: str) -> None:
    """Wait until a function has noted that."""
    await until(lambda: text in folder.notes(), text)


def reloads(host: RunningHost) -> list[str]:
    return [line.split("reload", 1)[1].strip() for line in host.lines if "  reload  " in line]


async def test_what_runs_finishes_on_the_old_code_once_and_the_next_is_on_the_newest(
    folder: ProjectFolder, service: Service
) -> None:
    """host#7, host#8: a save, and another, while a message is in work."""
    folder.function("slow", SLOW.format(version=1))
    folder.function("other", "def main(msg): pass\n")
    await service.put(folder.queue("slow"), ["long"])

    with running(folder) as host:
        await until_noted(folder, "1 began long")
        for version in (2, 3):
            save(folder, "slow", SLOW.format(version=version))
            host.wait_for("slow live again in", count=version - 1)
        await service.put(folder.queue("slow"), ["next"])
        await until_noted(folder, "3 ended next 1")
        await until_noted(folder, "1 ended long 1")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert sorted(folder.notes()) == [
        "1 began long",
        "1 ended long 1",
        "3 began next",
        "3 ended next 1",
    ]
    first = reloads(host)[0]
    assert re.fullmatch(
        r"functions/slow/__init__\.py saved: slow live again in \S+ m?s "
        r"\(1 message finishes on the old code\)",
        first,
    )
    assert len([line for line in host.lines if "ready in" in line]) == 1


async def test_a_syntax_error_and_its_mending_cost_no_message_and_no_try(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("charge", VERSION.format(version=1))
    folder.function("refund", VERSION.format(version=1))
    sent: list[str] = []

    async def send(until: asyncio.Event) -> None:
        while not until.is_set():
            sent.append(f"m{len(sent)}")
            await service.put(folder.queue("charge"), [sent[-1]])
            await service.put(folder.queue("refund"), [sent[-1]])

    with running(folder) as host:
        host.wait_for("ready in")
        enough = asyncio.Event()
        sending = asyncio.create_task(send(enough))
        await asyncio.to_thread(host.wait_for, "  ok  ", count=4)
        save(folder, "charge", "def main(msg:\n")
        await asyncio.to_thread(host.wait_for, "charge cannot run and is not polled until")
        refunds = len(folder.notes())
        await asyncio.to_thread(host.wait_for, "  ok  ", count=refunds + 4)
        save(folder, "charge", VERSION.format(version=2))
        await asyncio.to_thread(host.wait_for, "charge live again in")
        enough.set()
        await sending
        await until(lambda: len(folder.notes()) == 2 * len(sent), "all messages")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    notes = [note.split() for note in folder.notes()]
    assert {tries for _, _, tries in notes} == {"1"}
    assert sorted(body for _, body, _ in notes) == sorted(sent * 2)
    assert len([line for line in host.lines if "__init__.py:2" in line and "ERROR" in line]) == 1


async def test_a_script_that_cannot_be_imported_holds_all_its_functions_until_it_is_mended(
    folder: ProjectFolder, service: Service
) -> None:
    script = folder.root / "function_app.py"
    declared = (
        "import azure.functions as func\nfrom shared_notes import note\napp = func.FunctionApp()\n"
        f"@app.queue_trigger(arg_name='msg', queue_name='{folder.queue('one')}', "
        "connection='AzureWebJobsStorage')\n"
        "def one(msg: func.QueueMessage):\n    note(f'one {msg.dequeue_count}')\n"
    )
    script.write_text(declared)

    with running(folder) as host:
        host.wait_for("ready in")
        script.write_text(declared + "def broken(:\n")
        host.wait_for("one cannot run and is not polled until it is mended; no function runs now")
        await service.put(folder.queue("one"), ["x"])
        (folder.root / "unread.py").write_text("# another file\n")
        host.wait_for("unread.py saved")
        assert folder.notes() == []
        script.write_text(declared)
        host.wait_for("one live again in")
        await until_noted(folder, "one 1")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert len([line for line in host.lines if "function_app.py:7" in line]) == 1


async def test_a_file_that_is_saved_in_two_halves_is_one_reload(
    folder: ProjectFolder, service: Service
) -> None:
    """host#2976: the first half alone is broken."""
    folder.function("charge", VERSION.format(version=1))
    with running(folder) as host:
        host.wait_for("ready in")
        file = folder.root / "functions" / "charge" / "__init__.py"
        whole = file.read_text().replace("VERSION = 1", "VERSION = 2")
        file.write_text(whole[: whole.index("{VERSION}")])
        await asyncio.sleep(0.4)  # what is tested is this time
        file.write_text(whole)
        host.wait_for("charge live again in")
        await service.put(folder.queue("charge"), ["x"])
        await until_noted(folder, "2 x 1")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert len(reloads(host)) == 1
    assert not [line for line in host.lines if "ERROR" in line]


async def test_many_saves_end_in_the_last_state_with_two_generations_of_workers_at_most(
    folder: ProjectFolder, service: Service
) -> None:
    """host#9335: reloads leaked workers."""
    folder.function("charge", VERSION.format(version=0))
    with running(folder, "--workers", "2") as host:
        host.wait_for("ready in")
        assert len(below([host.pid])) == 2
        most = 0
        for version in range(1, 21):
            save(folder, "charge", VERSION.format(version=version))
            await service.put(folder.queue("charge"), [str(version)])
            for _ in range(5 if version % 5 else 20):
                most = max(most, len(below([host.pid])))
                await asyncio.sleep(0.01)
        saved_at = time.monotonic()
        await asyncio.to_thread(host.wait_for, "live again in")
        await until(lambda: len(below([host.pid])) == 2, "two workers")
        assert time.monotonic() - saved_at < 5.0
        await service.put(folder.queue("charge"), ["after"])
        await until_noted(folder, "20 after 1")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert most <= 4
    assert len(folder.notes()) == 21


async def test_local_settings_come_anew_and_requirements_are_only_told_of(
    folder: ProjectFolder, service: Service
) -> None:
    settings = folder.root / "local.settings.json"
    settings.write_text('{"Values": {"COLOUR": "red"}}')
    folder.function("one", "import os\ndef main(msg: str):\n    note(os.environ['COLOUR'])\n")
    with running(folder) as host:
        host.wait_for("ready in")
        settings.write_text('{"Values": {"COLOUR": "green"}}')
        host.wait_for("local.settings.json saved: one live again in")
        await service.put(folder.queue("one"), ["x"])
        await until_noted(folder, "green")
        (folder.root / "requirements.txt").write_text("attrs\n")
        host.wait_for("-m pip install -r requirements.txt, then: qtrigger reload")
        settings.write_text('{"Values": {"COLOUR": "gr')
        host.wait_for("the project was not reloaded and goes on as it was")
        await service.put(folder.queue("one"), ["y"])
        host.wait_for("  ok  ", count=2)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["green", "green"]
    assert len(reloads(host)) == 3


async def test_host_json_brings_a_new_host_and_functions_come_and_go(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("one", VERSION.format(version=1))
    with running(folder) as host:
        host.wait_for("ready in")
        folder.host_json({"batchSize": 3})
        host.wait_for("host.json saved: one live again in")
        folder.function("two", VERSION.format(version=1))
        host.wait_for("files saved: two live again in")
        host.wait_for("ready in", count=2)
        (folder.root / "functions" / "one" / "function.json").unlink()
        host.wait_for("one removed")
        for name in ("one", "two"):
            await service.put(folder.queue(name), ["x"])
        await until_noted(folder, "1 x 1")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["1 x 1"]
    assert await service.dequeue_counts(folder.queue("one")) == [0]


async def test_a_link_that_is_led_to_another_release_is_followed(
    folder: ProjectFolder, service: Service, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """host#2686: `current` leads to one release, and then to the next."""
    folder.function("work", VERSION.format(version=1))
    releases = tmp_path_factory.mktemp("releases")
    next_one = shutil.copytree(folder.root, releases / "2")
    script = next_one / "functions" / "work" / "__init__.py"
    script.write_text(script.read_text().replace("VERSION = 1", "VERSION = 2"))
    current, new = releases / "current", releases / "new"
    current.symlink_to(folder.root)
    new.symlink_to(next_one)
    release, folder.root = folder.root, current
    with running(folder) as host:
        host.wait_for("ready in")
        await service.put(folder.queue("work"), ["a"])
        await until_noted(folder, "1 a 1")

        new.replace(current)
        host.wait_for("live again in")
        await service.put(folder.queue("work"), ["b"])
        await until_noted(folder, "2 b 1")
    folder.root = release


HANGS = "import time\ntime.sleep(600)\ndef main(msg): pass\n"


async def test_an_import_that_hangs_is_ended_by_the_save_that_mends_it(
    folder: ProjectFolder, service: Service
) -> None:
    """At the first start, and at a reload; and which file it is, in which process, is told."""
    folder.function("charge", HANGS)
    note = r"importing functions/charge/__init__\.py takes longer than 5 s \(process (\d+)\)"
    with running(folder) as host:
        for version in (1, 2):
            host.wait_for("takes longer than", count=version)
            *_, hung = re.findall(note, host.output)
            save(folder, "charge", VERSION.format(version=version))
            host.wait_for("ready in" if version == 1 else "charge live again in", limit_s=10.0)
            with pytest.raises(ProcessLookupError):
                os.kill(int(hung), 0)
            await service.put(folder.queue("charge"), ["m"])
            await until_noted(folder, f"{version} m 1")
            if version == 1:
                save(folder, "charge", HANGS)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

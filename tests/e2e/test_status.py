"""A host that runs is asked, reloaded and stopped from another terminal, and failures are kept."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from qtrigger.journal import JournalFile
from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

CODE = """
import logging
def main(msg):
    body = msg.get_body().decode()
    logging.info("charging %s", body)
    if body.startswith("bad"):
        raise ValueError("no card")
    note(body)
"""


async def test_a_host_is_asked_reloaded_and_stopped_from_another_terminal(
    folder: ProjectFolder, service: Service
) -> None:
    queue, root = folder.queue("charges"), str(folder.root)
    folder.host_json({"maxDequeueCount": 2, "visibilityTimeout": "00:00:00"})
    folder.function("charge", CODE, queue="charges")
    await service.put(queue, ["first", "bad"])
    assert qtrigger("status", root).returncode == 4
    assert qtrigger("status", root, "--check").returncode == 1

    with running(folder) as host:
        host.wait_for("POISON")
        host.wait_for("  ok  ")
        checked = qtrigger("status", root, "--check")
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
        (found,) = standings(qtrigger("status", root, "--format", "json"))
        assert (found["state"], found["pid"], found["project"]) == ("ready", host.pid, root)
        (charge,) = found["functions"]
        assert (charge["succeeded"], charge["failed"], charge["poisoned"]) == (1, 2, 1)
        assert charge["messages"]["waiting"] == 0
        assert [each["running"] for each in found["workers"]] == [0]
        shown = qtrigger("status", root).stdout
        assert "charge: last error" in shown
        assert "ValueError: no card" in shown

        reloaded = qtrigger("reload", root, "--wait")
        assert reloaded.stdout == f"host {host.pid} has loaded the project anew and is ready\n"
        host_json = folder.root / "host.json"
        kept = host_json.read_text()
        host_json.write_text("{")
        rejected = qtrigger("reload", root, "--wait")
        assert (rejected.returncode, rejected.stdout) == (3, "")
        assert f"host {host.pid} goes on as before" in rejected.stderr
        host_json.write_text(kept)
        script = folder.root / "functions/charge/__init__.py"
        code = script.read_text()
        script.write_text("import of_nobody\n")
        broken = qtrigger("reload", root, "--wait")
        assert (broken.returncode, broken.stdout) == (3, "")
        assert "  functions/charge/__init__.py:1: charge: " in broken.stderr
        script.write_text(code)
        assert qtrigger("reload", root, "--wait").returncode == 0
        await service.put(queue, ["second"])
        host.wait_for("  ok  ", count=2)

        stopped = qtrigger("stop", root, "--wait")
        assert (stopped.returncode, stopped.stderr) == (0, "")
        assert "has ended: 2 succeeded, 2 failed tries, 0 handed back" in stopped.stdout
        assert host.wait() == 0

    nobody = qtrigger("stop", root)
    assert (nobody.returncode, nobody.stdout) == (4, "")
    assert f"no host of {root} runs here" in nobody.stderr
    assert_kept(folder.root)


def standings(ran: subprocess.CompletedProcess[str]) -> list[Any]:
    assert ran.returncode == 0, ran.stderr
    content = json.loads(ran.stdout)
    assert content["schema_version"] == 1
    found = content["hosts"]
    assert isinstance(found, list)
    return found


def assert_kept(root: Path) -> None:
    """What the journal holds of the message that was poisoned."""
    journal = JournalFile(root / ".qtrigger")
    last, first = journal.recent()
    assert (first.dequeue_count, last.dequeue_count) == (1, 2)
    assert (last.error_type, last.error_message) == ("ValueError", "no card")
    assert last.place == "functions/charge/__init__.py:8"
    assert "raise ValueError" in last.traceback
    assert last.lines == ("INFO root: charging bad",)
    (copy,) = journal.copies_of(last.message_id)
    assert journal.tries_of(copy.poison_id) == (first, last)
    assert journal.function_of_copy(copy.poison_id) == "charge"
    assert journal.path.stat().st_mode & 0o077 == 0

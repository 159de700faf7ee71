"""`qtrigger check` end to end: the same findings as a start's, and what becomes of the rest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.storage.queue import QueueSasPermissions, generate_queue_sas

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

PLAIN = "def main(msg: str):\n    note(msg)\n"


def trigger(**changes: str) -> str:
    given = {
        "type": "queueTrigger",
        "direction": "in",
        "name": "msg",
        "queueName": "somewhere",
        "connection": "AzureWebJobsStorage",
    }
    return json.dumps({"bindings": [given | changes]}, indent=1)


# Each is broken in its own way: the file's text, the code, and where the finding must point.
BROKEN: Mapping[str, tuple[str, str, str]] = {
    "comma": (
        '{"bindings": [\n{"type": "queueTrigger" "name": "msg"}]}',
        PLAIN,
        "function.json:2:25",
    ),
    "setting": (trigger(connection="Nowhere"), PLAIN, "function.json:8:18"),
    "queue": (trigger(queueName="a_b"), PLAIN, "function.json:7:17"),
    "kind": (trigger(type="queuTrigger"), PLAIN, "function.json:4:12"),
    "syntax": (trigger(), "def main(msg: str)\n    pass\n", "__init__.py:2"),
    "missing": (trigger(), "import nothing_like_it\n", "__init__.py:2"),
    "dies": (trigger(), "import os\nos._exit(3)\n", "__init__.py:1"),
}


@pytest.fixture
def half_broken(folder: ProjectFolder) -> ProjectFolder:
    """Ten functions, of which seven are broken in seven ways."""
    for name in ("one", "two", "three"):
        folder.function(name, PLAIN)
    for name, (text, code, _) in BROKEN.items():
        folder.function(name, code)
        (folder.root / "functions" / name / "function.json").write_text(text)
    return folder


def findings(folder: ProjectFolder, *flags: str) -> list[dict[str, Any]]:
    ended = qtrigger("check", str(folder.root), "--format", "json", *flags, environ=folder.environ)
    found: list[dict[str, Any]] = json.loads(ended.stdout)["findings"]
    return found


def test_seven_broken_functions_are_seven_findings_with_place_and_hint(
    half_broken: ProjectFolder,
) -> None:
    ended = qtrigger("check", str(half_broken.root), environ=half_broken.environ)

    assert ended.returncode == 3, ended.stderr
    *lines, last = ended.stdout.splitlines()
    assert last == "7 errors, 0 warnings in 10 functions"
    assert "Traceback" not in ended.stdout + ended.stderr
    for name, (_, _, place) in BROKEN.items():
        (line,) = [each for each in lines if each.startswith(f"functions/{name}/{place}")]
        assert re.fullmatch(r"\S+: error: .+  hint: .+", line)


async def test_the_three_others_run_and_a_start_says_the_same_in_the_same_words(
    half_broken: ProjectFolder, service: Service
) -> None:
    for name in ("one", "two", "three"):
        await service.put(half_broken.queue(name), [name])

    with running(half_broken, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(half_broken.notes()) == ["one", "three", "two"]
    told = findings(half_broken)
    assert len(told) == 7
    for finding in told:
        place = ":".join(str(finding[key]) for key in ("file", "line", "column") if finding[key])
        words = f"  {place}: {finding['message']}  hint: {finding['hint']}"
        assert len([line for line in host.lines if line.endswith(words)]) == 1, words


def test_without_importing_only_the_files_are_judged(half_broken: ProjectFolder) -> None:
    told = findings(half_broken, "--no-import")

    assert {finding["function"] for finding in told} == {"comma", "setting", "queue", "kind"}


def test_a_sound_project_ends_with_0_and_leaves_no_worker(folder: ProjectFolder) -> None:
    pid = folder.root / "pid"
    folder.function("good", f"import os\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\n" + PLAIN)

    ended = qtrigger("check", str(folder.root), environ=folder.environ)

    assert (ended.returncode, ended.stdout) == (0, "0 errors, 0 warnings in 1 function\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_warnings_count_when_they_are_asked_to(folder: ProjectFolder) -> None:
    folder.function("good", PLAIN)
    folder.host_json({"batchSizes": 4})

    lax = qtrigger("check", str(folder.root), environ=folder.environ)
    strict = qtrigger("check", str(folder.root), "--strict", environ=folder.environ)

    assert (lax.returncode, strict.returncode) == (0, 3)
    assert 'hint: did you mean "batchSize"?' in lax.stdout


def test_a_project_that_runs_nothing_is_an_error(folder: ProjectFolder) -> None:
    ended = qtrigger("check", str(folder.root), environ=folder.environ)

    assert ended.returncode == 3
    assert "no function in" in ended.stdout


def test_github_gets_annotations_relative_to_the_repository(folder: ProjectFolder) -> None:
    folder.function("bad", PLAIN)
    (folder.root / "functions/bad/function.json").write_text(trigger(queueName="a_b"))

    ended = qtrigger(
        *("check", str(folder.root), "--format", "github"),
        environ={**folder.environ, "GITHUB_WORKSPACE": str(folder.root.parent)},
    )

    place = f"file={folder.root.name}/functions/bad/function.json,line=7,col=17"
    assert ended.stdout.startswith(f"::error {place},title=bad::bindings[0].queueName")


async def test_every_queue_is_looked_at_and_no_message_taken(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN, out={"$return": "answers"})
    await service.put(folder.queue("good"), ["x"])

    ended = qtrigger("check", str(folder.root), "--connect", environ=folder.environ)

    assert ended.returncode == 0, ended.stdout
    queue = folder.queue("good")
    assert f"queue {queue} in devstoreaccount1 (account key): exists, about 1 message;" in (
        ended.stdout
    )
    assert f"queue {queue}-poison in devstoreaccount1 (account key): does not exist" in ended.stdout
    assert await service.texts(queue) == ["x"]
    assert await service.raw(f"{queue}-poison") == []


def test_a_service_that_does_not_answer_ends_with_4(folder: ProjectFolder, tmp_path: Path) -> None:
    folder.function("good", PLAIN)
    dead = {"AzureWebJobsStorage": re.sub(r":\d+/", ":1/", folder.connection)}

    ended = qtrigger("check", str(folder.root), "--connect", environ={**folder.environ, **dead})

    assert ended.returncode == 4
    assert "functions/good/function.json:1:" in ended.stdout
    assert "is the emulator running?" in ended.stdout
    assert "1 error, 0 warnings" in ended.stdout


def test_a_refused_credential_ends_with_4_and_says_which_right_is_missing(
    folder: ProjectFolder,
) -> None:
    folder.function("good", PLAIN)
    wrong = {
        "AzureWebJobsStorage": re.sub("AccountKey=[^;]+", "AccountKey=QUFBQQ==", folder.connection)
    }

    ended = qtrigger("check", str(folder.root), "--connect", environ={**folder.environ, **wrong})

    assert ended.returncode == 4
    assert "the key is not one of account 'devstoreaccount1'" in ended.stdout


async def test_a_sas_that_may_not_read_is_refused_with_the_permission_it_lacks(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    queue = folder.queue("good")
    await service.put(queue, ["x"])
    sas = generate_queue_sas(
        EMULATOR_ACCOUNT,
        queue,
        EMULATOR_KEY,
        permission=QueueSasPermissions.from_string("p"),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )
    endpoint = re.search("QueueEndpoint=[^;]+", folder.connection)
    assert endpoint is not None
    signed = {"AzureWebJobsStorage": f"{endpoint[0]};SharedAccessSignature={sas}"}

    ended = qtrigger("check", str(folder.root), "--connect", environ={**folder.environ, **signed})

    assert ended.returncode == 4
    assert "refused to read the queue's properties" in ended.stdout
    assert "the SAS lacks the permission r (read)" in ended.stdout
    assert "lacks the permissions r (read) and u (update) and a (add)" in ended.stdout
    assert "sig=" not in ended.stdout + ended.stderr
    assert await service.texts(queue) == ["x"]

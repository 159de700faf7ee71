"""Bad input: one clear message each, the other functions run, and no traceback of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import REPOSITORY, ProjectFolder, qtrigger, running

PLAIN = "def main(msg: str):\n    note(msg)\n"


def binding(**changes: str) -> str:
    trigger = {
        "type": "queueTrigger",
        "direction": "in",
        "name": "msg",
        "queueName": "somewhere",
        "connection": "AzureWebJobsStorage",
    }
    return json.dumps({"bindings": [trigger | changes]}, indent=1)


@pytest.mark.parametrize(
    ("function_json", "code", "words"),
    [
        ('{"bindings": [', PLAIN, ["functions/bad/function.json:1"]),
        (binding(connection="Nowhere"), PLAIN, ["bad/function.json", "AzureWebJobsNowhere"]),
        (binding(queueName="a_b"), PLAIN, ["bad/function.json", "a_b", "underscore"]),
        (binding(), "def main(msg: str)\n    pass\n", ["functions/bad/__init__.py:2"]),
        (binding(), "import nothing_like_it\n", ["nothing_like_it", "bad"]),
    ],
    ids=["broken json", "missing setting", "bad queue name", "syntax error", "missing import"],
)
async def test_a_broken_function_is_named_and_the_others_run(
    folder: ProjectFolder, service: Service, function_json: str, code: str, words: list[str]
) -> None:
    folder.function("good", PLAIN)
    folder.function("bad", code)
    (folder.root / "functions/bad/function.json").write_text(function_json)
    await service.put(folder.queue("good"), ["x"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert folder.notes() == ["x"]
    for word in words:
        assert word in host.output
    assert f'File "{REPOSITORY}/qtrigger/' not in host.output
    errors = [line for line in host.lines if "  error" in line or "ERROR" in line]
    assert len(errors) == 1


async def test_capitals_in_a_queue_name_are_lowered(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    path = folder.root / "functions/good/function.json"
    path.write_text(path.read_text().replace(folder.queue("good"), folder.queue("good").upper()))
    await service.put(folder.queue("good"), ["x"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert folder.notes() == ["x"]


async def test_a_body_that_is_not_base64_goes_to_poison_and_is_named(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    await service.put_raw(folder.queue("good"), ['{"a": 1}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert await service.raw(folder.queue("good-poison")) == ['{"a": 1}']
    (line,) = [line for line in host.lines if "POISON" in line]
    assert "messageEncoding" in line
    assert folder.notes() == []


def test_an_unknown_host_json_version_stops_the_start(folder: ProjectFolder) -> None:
    folder.function("good", PLAIN)
    (folder.root / "host.json").write_text('{"version": "4.0"}')

    with running(folder) as host:
        assert host.wait() == 3

    assert "host.json:1" in host.output
    assert "2.0" in host.output
    assert "Traceback" not in host.output


def test_a_folder_that_is_no_project_is_said_so(tmp_path: Path) -> None:
    ended = qtrigger("start", str(tmp_path))

    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    assert str(tmp_path) in ended.stderr


def test_an_unknown_verb_gets_the_nearest_one() -> None:
    ended = qtrigger("strat")

    assert ended.returncode == 2
    assert "'start'" in ended.stderr

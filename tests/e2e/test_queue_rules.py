"""The reference's rules for queue functions: one project, declared in both models."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import REPOSITORY, ProjectFolder, running

PROJECT = REPOSITORY / "tests" / "projects" / "queues"
COUNT = len(list(PROJECT.glob("functions/*/function.json")))


def document(body: str) -> str:
    """What a `QueueMessage` becomes on Azure."""
    return f'{{\n  "id": null,\n  "body": "{body}"\n}}'


# In the order in which they were put.
WRITTEN = {
    "return_str": ["é"],
    "return_bytes": ["é"],
    "return_message": [document("é")],
    "return_message_exact": ["é"],
    "set_str": ["é"],
    "set_bytes": ["é"],
    "set_bytes_on_str": ["é"],
    "set_message": [document("é")],
    "set_texts": ["é one", "é two"],
    "set_messages": [document("é one"), document("é two")],
    "set_untyped": ["é one", "é two"],
    "set_twice": ["last é"],
    "json_body": ["8"],
    "untyped": ["QueueMessage"],
}


@pytest.mark.parametrize("model", ["folders", "decorators"])
async def test_each_rule_for_queue_functions_holds(
    folder: ProjectFolder, service: Service, model: str
) -> None:
    shutil.copytree(PROJECT, folder.root, dirs_exist_ok=True)
    folder.environ["Prefix"] = folder.prefix
    if model == "decorators":
        folder.environ["PYTHON_SCRIPT_FILE_NAME"] = "rules_app.py"

    def queue(name: str) -> str:
        return folder.queue(name.replace("_", "-"))

    for name in WRITTEN:
        await service.put(queue(name), ['{"number": 7}' if name == "json_body" else "é"])
    for name in ("properties", "logs_awaited", "logs_threaded"):
        await service.put(queue(name), ["one"])

    with running(folder, "--exit-when-idle", "1", "--log-format", "json") as host:
        assert host.wait() == 0

    assert {name: await service.texts(queue(f"{name}_out")) for name in WRITTEN} == WRITTEN
    (seen,) = await service.texts(queue("properties_out"))
    assert_properties(json.loads(seen))
    lines = [json.loads(line) for line in host.lines if line.startswith("{")]
    for name, texts in {
        "logs_awaited": ["awaited one"],
        "logs_threaded": ["threaded one", "own thread one"],
    }.items():
        (invocation_id,) = await service.texts(queue(f"{name}_out"))
        said = [line for line in lines if line.get("message") in texts]
        assert [line["message"] for line in said] == texts
        assert {line["invocation_id"] for line in said} == {invocation_id}
        assert {line["function"] for line in said} == {name}
    assert not [line for line in lines if line["level"] == "error"]


def assert_properties(seen: dict[str, Any]) -> None:
    """All seven are there; the object came back as the reference's indented document."""
    times = [
        datetime.fromisoformat(seen[name])
        for name in ("insertion_time", "time_next_visible", "expiration_time")
    ]
    assert (seen["body"], seen["dequeue_count"]) == ("one", 1)
    assert seen["id"]
    assert seen["pop_receipt"]
    assert all(time.utcoffset() == timedelta(0) for time in times)
    assert times == sorted(times)

"""The page for whoever is on call: list, show, requeue, export, purge, run as it says."""

from __future__ import annotations

import json

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, qtrigger, running


async def test_poisoned_messages_are_looked_after_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("poison-messages", folder)
    queue, poison = folder.queue("charges"), folder.queue("charges-poison")
    await service.put(queue, ["ann", "bob"])

    def verb(*arguments: str) -> str:
        ended = qtrigger(*arguments, "--project", str(folder.root), environ=folder.environ)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    listed = json.loads(verb("poison", "list", "--format", "json"))["messages"]
    assert sorted(each["body"] for each in listed) == ["ann", "bob"]
    assert {each["error"]["message"] for each in listed} == {"no such customer"}

    (ann,) = [each for each in listed if each["body"] == "ann"]
    shown = verb("poison", "show", ann["original_id"][:8])
    assert shown.count("LookupError: no such customer") >= 2
    assert "charging ann" in shown
    assert f"message   {ann['id']} in {poison}" in shown

    out = folder.root / "charge.jsonl"
    verb("poison", "export", "charge", "--out", str(out))
    assert len(out.read_text().splitlines()) == 2

    assert verb("poison", "purge", "charge", "--contains", "bob", "--yes") == "deleted 1\n"
    (folder.root / "bank-is-up").touch()
    assert verb("poison", "requeue", "charge", "--rate", "50/s", "--yes") == "moved 1\n"

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0
    assert (await service.count(queue), await service.count(poison)) == (0, 0)

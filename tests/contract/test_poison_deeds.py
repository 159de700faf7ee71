"""Deeds over HTTP on every queue service: nothing is lost, and no byte is changed."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any, cast

import pytest

from qtrigger.admin.poison.deeds import Deeds
from qtrigger.admin.poison.reach import Clients, Reach
from qtrigger.admin.poison.routes import PoisonRoutes
from qtrigger.admin.route import Answer, Asked
from qtrigger.clock import SystemClock
from qtrigger.journal import JournalFile
from qtrigger.queues.client import NEVER_EXPIRES_S, WholeQueue
from qtrigger.queues.services import QueueServices
from tests.unit.project.folder import TRIGGER, ProjectFolder

BODIES = (
    b"plain",
    b"\xff\x00",
    b"x" * 49_000,
    "\u2028\x00".encode(),
    *(b"%d" % n for n in range(75)),
)
TEXTS = (*(base64.b64encode(each).decode() for each in BODIES), "{no base64} &<\r>")


@pytest.mark.parametrize(("deed", "moved"), [("requeue", TEXTS), ("delete", ())])
async def test_all_are_moved_as_they_are_or_deleted(
    service: Any, queue_name: str, tmp_path: Path, deed: str, moved: tuple[str, ...]
) -> None:
    source = cast("WholeQueue", service.queue(queue_name))
    poison = cast("WholeQueue", service.queue(f"{queue_name}-poison"))
    await source.create()
    await poison.create()
    for text in TEXTS:
        await poison.send(text, ttl_s=NEVER_EXPIRES_S)
    folder = ProjectFolder(tmp_path / "project")
    folder.function("charge", {**TRIGGER, "queueName": queue_name})
    project, clock = folder.load(), SystemClock()
    deeds = Deeds(clock)
    reach = Reach(
        project=lambda: project,
        clients=Clients(QueueServices(lambda _account: service)),
        journal=JournalFile(tmp_path / "state"),
        clock=clock,
        plain=str,
    )
    routes = {(each.method, each.path): each for each in PoisonRoutes(reach, deeds).routes()}
    content = {"all": True, "confirm": len(TEXTS)}

    answer = await routes["POST", f"/api/poison/{{queue}}/{deed}"].answer(
        Asked(parts={"queue": poison.name}, body=json.dumps(content).encode())
    )
    assert isinstance(answer, Answer)
    async with asyncio.timeout(30.0):
        found = await deeds.ended(json.loads(answer.body)["deed"])

    assert (found["state"], found["moved"], found["left"]) == ("done", len(TEXTS), 0)
    assert await poison.approximate_count() == 0
    got: list[str] = []
    while some := await source.receive(32, 60.0):
        got += [each.text for each in some]
    assert sorted(got) == sorted(moved)

"""Functions that take lists, with real workers that really end."""

from __future__ import annotations

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

DIES = """
    import os
    def main(msg):
        note(" ".join(sorted(each.get_body().decode() for each in msg)))
        if any(each.get_body() == b"dies" for each in msg):
            os._exit(3)
"""


async def test_only_the_message_that_ends_workers_pays_for_it(
    folder: ProjectFolder, service: Service
) -> None:
    """Each message has one try, so that an innocent one would be poison for its neighbour."""
    folder.function("lists", DIES)
    folder.host_json({"maxDequeueCount": 1}, functions={"lists": {"cardinality": "many"}})
    await service.put(folder.queue("lists"), ["a", "b", "c", "dies"])

    with running(folder, "--exit-when-idle", "2") as host:
        assert host.wait() == 0

    first, *others = folder.notes()
    assert first == "a b c dies"
    assert " ".join(others).count("dies") == 1
    assert sorted(" ".join(others).split()) == ["a", "b", "c", "dies"]
    assert await service.count(folder.queue("lists")) == 0
    assert await service.texts(folder.queue("lists-poison")) == ["dies"]

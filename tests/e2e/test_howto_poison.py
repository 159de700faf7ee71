"""The projects of the pages about waits after failures and the poison queue, run as they say."""

from __future__ import annotations

import asyncio
import signal
import time
from datetime import timedelta

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, qtrigger, running


async def test_the_service_hides_a_failed_message_as_long_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("retry-delays", folder)
    queue = folder.queue("charges")
    await service.put(queue, ['{"id": 1}'])

    with running(folder) as host:
        host.wait_for("try 1/6, again in 2 s")
        host.wait_for("try 2/6, again in ")
        failed_at = time.monotonic()
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    # Nobody asks any more; the service alone says when it is seen again.
    assert (await service.count(queue), await service.raw(queue)) == (1, [])
    async with asyncio.timeout(20.0):
        while not await service.raw(queue):
            pass  # every look is a request
    assert 3.0 < time.monotonic() - failed_at < 9.0
    assert await service.dequeue_counts(queue) == [2]


async def test_two_functions_share_a_poison_queue_and_a_program_is_told_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("poison-queue", folder)
    await service.put(folder.queue("charges"), ["one"])
    await service.put(folder.queue("shipments"), ["two"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(await service.texts(folder.queue("failed"))) == ["one", "two"]
    assert host.output.count(f"moved to {folder.queue('failed')} (tries)") == 2
    async with service._client(folder.queue("failed")) as client:
        for copy in await client.peek_messages(32):
            assert copy.expires_on is not None
            assert copy.inserted_on is not None
            assert copy.expires_on - copy.inserted_on == timedelta(days=30)
    assert sorted((folder.root / "poisoned.txt").read_text().splitlines()) == [
        "charge: no such customer: one",
        "ship: no address: two",
    ]


async def test_no_verb_and_no_line_shows_more_of_an_address_than_its_host(
    folder: ProjectFolder, service: Service
) -> None:
    secret = "s3cret-in-the-path"
    folder.environ["HOOK"] = f"http://127.0.0.1:1/{secret}?key={secret}"
    folder.host_json({"maxDequeueCount": 1}, onPoison={"url": "%HOOK%"})
    folder.function("charge", "def main(msg: str):\n    raise ValueError('no')\n")
    await service.put(folder.queue("charge"), ["one"])

    with running(folder, "--exit-when-idle", "1", "--log-level", "debug") as host:
        assert host.wait() == 0
    shown = [
        qtrigger(verb, str(folder.root), *flags, environ=folder.environ)
        for verb, *flags in (("check",), ("settings",), ("settings", "--format", "json"))
    ]

    texts = [host.output, *(ended.stdout + ended.stderr for ended in shown)]
    assert "http://127.0.0.1/… was not told of the poisoned message: no connection" in texts[0]
    assert not [text for text in texts if secret in text]

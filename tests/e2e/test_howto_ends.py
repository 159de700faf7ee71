"""The projects of the pages about what a run may ask for, run as the pages say."""

from __future__ import annotations

import asyncio
import re
import signal
import time

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, running


async def test_a_message_is_postponed_or_rejected_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("later-and-reject", folder)
    folder.environ["AzureFunctionsJobHost__extensions__queues__maxPollingInterval"] = "00:00:00.5"

    with running(folder) as host:
        host.wait_for("ready")
        await service.put(folder.queue("shipments"), ['{"id": 1}', '{"note": "no id"}'])
        host.wait_for("(rejected): an order without an id")
        host.wait_for("order 1 is shipped, try 2")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert "asked to come back in 2 s" in host.output
    assert "rejected: an order without an id" in host.output
    assert await service.texts(folder.queue("shipments")) == []
    assert await service.texts(folder.queue("shipments-poison")) == ['{"note": "no id"}']


async def test_a_failed_run_is_done_again_within_its_try_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("retry-policies", folder)
    folder.host_json({"maxDequeueCount": 1})
    await service.put(folder.queue("orders"), ["42"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    for number in range(3):
        assert f"retry {number} of 2: the bank is down" in host.output
    assert "retry 3" not in host.output
    assert await service.texts(folder.queue("orders-poison")) == ["42"]


async def test_the_last_try_is_known_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("last-try", folder)
    await service.put(folder.queue("charges"), ['{"id": 1}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    for number in (1, 2):
        assert f"try {number}/3" in host.output
    assert "try 3 was the last: somebody has to do it" in host.output
    assert await service.texts(folder.queue("charges-by-hand")) == ['{"id": 1}']
    assert await service.count(folder.queue("charges-poison")) == 0


async def test_what_is_written_shows_up_and_expires_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("output-times", folder)
    mails = folder.queue("mails")
    await service.put(folder.queue("members"), ["ada"])

    with running(folder) as host:
        host.wait_for(" ok  ")
        seen_at = time.monotonic()
        at_once = await service.lifetimes(mails)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert set(at_once) == {"welcome ada"}
    assert at_once["welcome ada"] > 10 * 365 * 86_400
    assert await service.count(mails) == 2
    async with asyncio.timeout(10):
        while "code for ada" not in (later := await service.lifetimes(mails)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert later["code for ada"] == 600.0
    assert time.monotonic() - seen_at > 1.0


async def test_a_run_goes_on_from_its_checkpoint_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("checkpoint", folder)
    await service.put(folder.queue("imports"), ['{"rows": 5}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    rows = [line.rpartition(" ")[2] for line in host.lines if re.search(r" row \d$", line)]
    assert rows == ["0", "1", "2", "3", "4"]
    assert "all 5 rows are there" in host.output
    assert await service.count(folder.queue("imports")) == 0

"""The projects of the pages about how work is sent and written, run as the pages say."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import LIMIT_S, ProjectFolder, running


async def test_what_is_delivered_twice_is_done_once_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("idempotent-functions", folder)
    texts = ['{"id": 1, "amount": 5}', '{"id": 1, "amount": 5}', '{"id": 2, "amount": 7}']
    await service.put(folder.queue("charges"), texts)

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    assert host.output.count("order 1: charged") == 1
    assert host.output.count("order 1: was charged before") == 1
    assert host.output.count("order 2: charged") == 1


async def test_what_is_too_large_goes_by_a_claim_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("large-messages", folder)
    await service.put(folder.queue("reports"), ["may"])

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    assert "the report has 20000 lines" in host.output
    assert len(list((folder.root / "claims").iterdir())) == 1


async def test_a_reminder_comes_at_its_time_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("schedule", folder)
    folder.environ["AzureFunctionsJobHost__extensions__queues__maxPollingInterval"] = "00:00:00.5"
    began = time.monotonic()
    await service.put(folder.queue("plans"), ['{"in_seconds": 2, "text": "call Ann"}'])

    with running(folder, "--exit-when-idle", "3") as host:
        host.wait_for("now: call Ann")
        took_s = time.monotonic() - began
        assert host.wait() == 0

    assert took_s > 2.0
    assert "  later  " in host.output
    assert await service.count(folder.queue("reminders")) == 0


async def test_a_function_takes_from_one_account_and_writes_to_another_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("connections", folder)
    folder.environ["Partner"] = folder.connection
    await service.put(folder.queue("from-partner"), ["a hat"])

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    assert "charging a hat" in host.output
    assert "Partner" in host.output


def test_another_program_sends_what_a_function_takes_as_the_page_says(
    folder: ProjectFolder,
) -> None:
    write_project("from-celery", folder)

    subprocess.run(
        [sys.executable, "produce.py"],
        cwd=folder.root,
        env=folder.environ,
        timeout=LIMIT_S,
        check=True,
    )
    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    assert "to ann@example.org: it is on its way" in host.output

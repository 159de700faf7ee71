"""The projects of the pages about limits and order, run as the pages say."""

from __future__ import annotations

import asyncio
import json
import re
import signal

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, running


async def test_rate_and_concurrency_are_kept_at_the_service_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("limits", folder)
    charges, reports = folder.queue("charges"), folder.queue("reports")
    await service.put(charges, [*"abcde"])
    await service.put(reports, [*"123456"])
    hidden = list[int]()

    with running(folder) as host:
        async with asyncio.timeout(20.0):
            while host.output.count("reported ") < 6:
                visible = len(await service.raw(reports))
                hidden.append(await service.count(reports) - visible)
                await asyncio.sleep(0.05)
        # The two that the minute does not allow yet are there for others to take.
        assert host.output.count("charged ") == 3
        assert len(await service.bodies(charges)) == 2
        assert await service.dequeue_counts(charges) == [0, 0]
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    # Two run, and two more may have ended and not be deleted yet.
    assert 2 <= max(hidden) <= 4


async def test_a_customers_messages_run_in_order_and_others_beside_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("order", folder)
    updates = folder.queue("updates")
    for number in (1, 2, 3):
        for name in ("anna", "bert"):
            await service.put(updates, [json.dumps({"customer": {"id": name}, "number": number})])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    said = re.findall(r"(begins|ends) (\w+) (\d)", host.output)
    for name in ("anna", "bert"):
        own = [(what, number) for what, who, number in said if who == name]
        assert own == [(what, str(each)) for each in (1, 2, 3) for what in ("begins", "ends")]
    # Both customers' first ones, before either has ended.
    assert [what for what, _, _ in said[:2]] == ["begins", "begins"]
    assert {who for _, who, _ in said[:2]} == {"anna", "bert"}

"""The project of the page about batches, run as the page says."""

from __future__ import annotations

import base64

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, qtrigger, running

UNDECODABLE = "not base64!"


async def test_of_32_messages_30_are_deleted_one_comes_back_and_one_is_poison(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("batches", folder)
    good, bad = '{"amount": 5}', '{"amount": "much"}'
    texts = [base64.b64encode(each.encode()).decode() for each in [good] * 30 + [bad]]
    await service.put_raw(folder.queue("bookings"), [*texts, UNDECODABLE])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert "booked 30 of 31 messages at once" in host.output
    assert "1 could not be booked" in host.output
    assert "30 ok" in host.output
    # Hidden for the ten minutes that the page says, and seen by nobody before.
    assert await service.count(folder.queue("bookings")) == 1
    assert await service.raw(folder.queue("bookings")) == []
    assert await service.raw(folder.queue("bookings-poison")) == [UNDECODABLE]


async def test_the_page_s_function_takes_a_single_message_as_on_azure(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("batches", folder)
    folder.host_json()
    await service.put(folder.queue("bookings"), ['{"amount": 5}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert "booked 1 of 1 messages at once" in host.output
    assert await service.count(folder.queue("bookings")) == 0


def test_a_run_by_hand_passes_a_list_of_one(folder: ProjectFolder) -> None:
    write_project("batches", folder)

    ran = qtrigger(
        "invoke", "book", "--project", str(folder.root), "--message", "{}", environ=folder.environ
    )

    assert ran.returncode == 6
    assert "booked 0 of 1 messages at once" in ran.stderr
    assert "SomeFailed: 1 could not be booked" in ran.stderr

"""The projects of the pages about what a run may ask for, run as the pages say."""

from __future__ import annotations

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, running


async def test_a_message_is_postponed_or_rejected_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("later-and-reject", folder)
    folder.environ["AzureFunctionsJobHost__extensions__queues__maxPollingInterval"] = "00:00:00.5"
    await service.put(folder.queue("shipments"), ['{"id": 1}', '{"note": "no id"}'])

    with running(folder, "--exit-when-idle", "4") as host:
        assert host.wait() == 0

    assert "asked to come back in 2 s" in host.output
    assert "order 1 is shipped, try 2" in host.output
    assert "rejected: an order without an id" in host.output
    assert "(rejected): an order without an id" in host.output
    assert await service.texts(folder.queue("shipments")) == []
    assert await service.texts(folder.queue("shipments-poison")) == ['{"note": "no id"}']

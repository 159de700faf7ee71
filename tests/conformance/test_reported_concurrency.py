"""What users ran into with numbers of concurrent runs: the file's numbers, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import Bench
from tests.unit.project.folder import ProjectFolder


def of_file(folder: ProjectFolder, **options: Any) -> QueueOptions:
    """What a listener is given by a host.json with those options."""
    folder.queues(**options, messageEncoding="none")
    project = folder.load(environment="Production")
    assert project.problems == ()
    return project.host.queues


def one_second(options: QueueOptions, *, beside: Bench | None = None) -> Bench:
    async def body(_message: TriggerMessage) -> Outcome:
        await bench.clock.sleep(1.0)
        return Succeeded()

    bench = Bench(body, options=options, beside=beside)
    return bench


@pytest.mark.parametrize("threshold", [{}, {"newBatchThreshold": 0}], ids=["alone", "and 0"])
async def test_a_batch_size_of_one_is_one_run_at_a_time_in_each_host(
    folder: ProjectFolder, threshold: dict[str, int]
) -> None:
    options = of_file(folder, batchSize=1, **threshold)
    first = one_second(options)
    second = one_second(options, beside=first)
    await first.start(*(str(n) for n in range(20)))
    await second.start()

    await first.clock.advance(11.0)

    assert (first.most_at_once, second.most_at_once) == (1, 1)
    assert (len(first.bodies), len(second.bodies)) == (10, 10)
    assert first.left() == []
    await first.stop()
    await second.stop()


def test_the_threshold_is_half_of_the_batch_on_every_machine_and_shown_with_its_origin(
    folder: ProjectFolder,
) -> None:
    """And not that times the number of processors: 24 at once, as documented."""
    folder.queues(batchSize=16)

    project = folder.load(environment="Production")

    shown = {each.key.rpartition(".")[2]: (each.value, each.origin) for each in project.effective}
    assert shown["batchSize"] == ("16", "host.json:1")
    assert shown["newBatchThreshold"] == ("8", "default")
    assert project.host.queues.concurrency == 24

"""A requeue on Azurite that is interrupted half-way, and another that finishes it."""

from __future__ import annotations

import signal

from qtrigger.queues.azurite_process import AzuriteProcess
from tests.chaos.requeue import requeue
from tests.e2e.support import ProjectFolder

MESSAGES = 300


async def test_an_interrupted_requeue_loses_nothing_and_the_next_one_finishes_it(
    folder: ProjectFolder, azurite: AzuriteProcess
) -> None:
    outcome = await requeue(folder.root, azurite.port, MESSAGES, number=signal.SIGINT, rate="200/s")

    said = "\n".join(outcome.lines())
    assert outcome.codes == (5, 0), said
    assert (outcome.lost, outcome.left, len(outcome.back)) == (0, 0, MESSAGES), said
    assert max(outcome.back.values()) <= 2, said
    assert "moved" in outcome.said[0]
    assert "left" in outcome.said[0]

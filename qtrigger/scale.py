"""The numbers by which others decide how many hosts a queue needs.

Owns what the length of a queue and the age of its oldest message mean, and the arithmetic on
them. Takes nothing from the queue. Source: QueueMetricsProvider and QueueTargetScaler of the
storage extension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from qtrigger.clock import Clock
from qtrigger.project.model import QueueOptions
from qtrigger.queues.client import MAX_RECEIVE, QueueInspector


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSample:
    """One look at a queue.

    `length` is the number of messages, hidden ones too as long as others are visible; `age_s` is
    how long the first visible one has been there, 0.0 when none is.
    """

    length: int
    age_s: float


async def sample(queue: QueueInspector, clock: Clock) -> QueueSample:
    """Look at a queue: one request, and a second where there are messages.

    The service's count is a little behind, and counts the hidden. So where nothing is visible
    the length is 0, and where fewer than a peek can show, it is what the peek showed. Raises the
    `QueueError` family, QueueMissing where there is no such queue.
    """
    count = await queue.approximate_count()
    if count <= 0:
        return QueueSample(length=0, age_s=0.0)
    seen = await queue.peek(MAX_RECEIVE)
    if not seen:
        return QueueSample(length=0, age_s=0.0)
    length = count if len(seen) == MAX_RECEIVE else len(seen)
    age_s = (clock.utcnow() - seen[0].inserted).total_seconds()
    return QueueSample(length=max(length, len(seen)), age_s=max(age_s, 0.0))


def target_instances(length: int, options: QueueOptions) -> int:
    """How many hosts would have all of `length` messages in processing at once."""
    return math.ceil(length / options.concurrency)

"""How long to wait: before the next poll, the next renewal, the next try to settle.

Pure arithmetic on seconds with a seeded source of randomness; knows no clock and no queue.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

MINIMUM_POLLING_INTERVAL_S = 0.1
RANDOMIZATION = 0.2
LEAST_LIMIT_S = 1.0


class PollBackoff:
    """The queue trigger's randomised exponential wait between polls that find nothing.

    Waits run about 0.1, 0.2, 0.3, 0.5, 0.9, 1.7 s … up to `maximum_s`, where they stay without
    any random part until something is found. Source: the WebJobs SDK's
    RandomizedExponentialBackoffStrategy with minimum and delta of 100 ms.
    """

    def __init__(
        self,
        maximum_s: float,
        random: Random,
        *,
        minimum_s: float = MINIMUM_POLLING_INTERVAL_S,
    ) -> None:
        self._minimum_s = minimum_s
        self._maximum_s = max(maximum_s, minimum_s)
        self._random = random
        self._current_s = 0.0
        self._exponent = 0

    def next(self, *, found: bool) -> float:
        """Return the wait before the next poll.

        `found` says whether anything was found since the last wait was asked for, so the first
        empty poll after a busy spell begins at the minimum again.
        """
        if found:
            self._current_s, self._exponent = self._minimum_s, 1
        elif self._current_s != self._maximum_s:
            self._grow()
        return self._current_s

    def give_up(self) -> float:
        """Go to the longest wait at once: for errors that only a person can mend."""
        self._current_s = self._maximum_s
        return self._current_s

    def _grow(self) -> None:
        candidate = self._minimum_s
        if self._exponent:
            factor = self._random.uniform(1 - RANDOMIZATION, 1 + RANDOMIZATION)
            candidate += self._minimum_s * 2 ** (self._exponent - 1) * factor
        if candidate < self._maximum_s:
            self._current_s = candidate
            self._exponent += 1
        else:
            self._current_s = self._maximum_s


class RenewalPacing:
    """When to renew a lease: at half of it, and sooner after a failed try.

    With the reference's lease of 600 s: 300 s, then half the wait before, never under 60 s. A
    lease of another length keeps these proportions. What the reference lacks: a wait after a
    failed try uses up four fifths of what is left of the lease at most, and a try that hangs one
    half, so that another try always fits in. Less than a hundredth of the lease is not divided
    any more.
    """

    def __init__(self, lease_s: float) -> None:
        self._normal_s = lease_s / 2
        self._least_s = lease_s / 10
        self._smallest_s = lease_s / 100
        self._current_s = self._normal_s

    def next(self, *, renewed: bool, left_s: float = math.inf) -> float:
        """Return the wait before the next renewal, given how the last one went.

        `left_s` is what is left of the lease, and counts after a failed try alone.
        """
        if renewed:
            self._current_s = self._normal_s
            return self._current_s
        self._current_s = max(self._current_s / 2, self._least_s)
        return min(self._current_s, self._share(left_s, 0.8))

    def limit(self, left_s: float) -> float:
        """Return how long one try may take, with that much of the lease left.

        A second is never too long: a service that is slow is not one that hangs.
        """
        return max(self._share(left_s, 0.5), LEAST_LIMIT_S)

    def _share(self, left_s: float, part: float) -> float:
        """That part of what is left; no limit at the very end, nor after it.

        A renewal that comes too late is taken as well, where nobody has received the message.
        """
        share_s = left_s * part
        return share_s if share_s >= self._smallest_s else math.inf


def doubling(first_s: float, most_s: float) -> Iterator[float]:
    """Yield `first_s`, twice that, and so on, up to `most_s` for ever."""
    wait_s = first_s
    while True:
        yield min(wait_s, most_s)
        wait_s = min(wait_s * 2, most_s)

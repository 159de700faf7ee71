"""What a function asks of the queue service, as plain counts.

Owns the numbers of one function's requests and polls, over all hosts of a process: additions and
nothing else, for every message pays for them. What they cost and who is shown them is for others.
"""

from __future__ import annotations

from collections.abc import Mapping

from qtrigger.errors import QueueError


class Traffic:
    """One function's; a `RequestWatcher` of its queues. Numbers only grow, but for `wait_s`.

    `requests` are all of its requests: polls, renewals, settling, outputs, poison copies, looks.
    Polls are those that `found` messages, were `empty`, met a `missing` queue, or `failed`;
    `wait_s` is the wait after the last one, in seconds, 0.0 while there is something to do.
    """

    __slots__ = ("empty", "failed_polls", "found", "missing", "requests", "wait_s")

    def __init__(self) -> None:
        self.requests = 0
        self.found = 0
        self.empty = 0
        self.missing = 0
        self.failed_polls = 0
        self.wait_s = 0.0

    def answered(self, _verb: str) -> None:
        """See `RequestWatcher`."""
        self.requests += 1

    def failed(self, _verb: str, _error: QueueError) -> None:
        """See `RequestWatcher`; the service bills what it refuses."""
        self.requests += 1


class TrafficOfAll:
    """The traffic of every function of a process, by name."""

    def __init__(self) -> None:
        self._traffic: dict[str, Traffic] = {}

    @property
    def by_function(self) -> Mapping[str, Traffic]:
        """Of those that have had some."""
        return self._traffic

    def of(self, function: str) -> Traffic:
        """That of one function."""
        found = self._traffic.get(function)
        if found is None:
            found = self._traffic[function] = Traffic()
        return found

"""Lets whoever adds a message to a queue wake the listener of that queue in this process.

Owns the map from a queue's address to those who listen there. Source: the WebJobs SDK's
SharedQueueWatcher, which knows queues by name alone; here the account counts too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable


class Wakeups:
    """Who wants to hear of new messages, by queue address."""

    def __init__(self) -> None:
        self._listening: defaultdict[str, list[Callable[[], None]]] = defaultdict(list)

    def register(self, address: str, wake: Callable[[], None]) -> None:
        """Have `wake` called whenever this process adds a message to that queue."""
        self._listening[address].append(wake)

    def forget(self, address: str, wake: Callable[[], None]) -> None:
        """Call that `wake` no more."""
        self._listening[address].remove(wake)

    def wake(self, address: str) -> None:
        """Say that a message was added there."""
        for wake in self._listening.get(address, ()):
            wake()

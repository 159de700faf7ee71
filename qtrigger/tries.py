"""What this process knows of the tries of messages that come back.

Owns how many tries ended here with a result, and the last of them; bounded, and gone with the
process. The dequeue count is the service's, and counts the tries of every host.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

REMEMBERED_MESSAGES = 10_000


@dataclass(frozen=True, slots=True)
class Seen:
    """The tries of one message that ended here; `invocation_id` is the last one's, "" of none."""

    results: int = 0
    invocation_id: str = ""


class TriesSeen:
    """Remembers the messages of one function that will come back."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, Seen] = OrderedDict()

    def of(self, message_id: str) -> Seen:
        """What is known of that message's tries before this one."""
        return self._seen.get(message_id, Seen())

    def add(self, message_id: str, invocation_id: str) -> None:
        """A try ended here, and the message will come back."""
        results = self.of(message_id).results + 1
        self._seen[message_id] = Seen(results, invocation_id)
        self._seen.move_to_end(message_id)
        if len(self._seen) > REMEMBERED_MESSAGES:
            self._seen.popitem(last=False)

    def forget(self, message_id: str) -> None:
        """The message has reached its end."""
        self._seen.pop(message_id, None)

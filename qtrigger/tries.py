"""What this process knows of the tries of messages that come back.

Owns how many tries ended here with a result, the last of them, and how many are not held against
the message; bounded, kept over reloads and gone with the process. The dequeue count is the
service's, and counts the tries of every host.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, replace

from qtrigger.invocation import Failed, Interrupted, Outcome, Postponed, TimedOut, WorkerLost

REMEMBERED_MESSAGES = 10_000
# Beside the spared ones, no more of a message's tries are excused, so that it has an end whatever
# happens around it.
EXCUSED_TRIES = 10
# A function that asks for its message later means to get it; so these have a limit of their own,
# beyond which nobody waits for what does not come.
POSTPONED_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """The tries of one message that ended here; `invocation_id` is the last one's, "" of none.

    `excused` of them ended by no fault of its function's. Among them are those `postponed` at its
    wish and the `spared`, which an open circuit breaker made up for: those are without limit. They
    were spared in so many `outages`, the last of which has the number `last_outage`. `unfailed` did
    not fail, whatever the limit makes of them. A `suspect` ran in a worker that ended,
    alone or beside others, so that it is what ended it, or may be.
    """

    results: int = 0
    invocation_id: str = ""
    excused: int = 0
    suspect: bool = False
    unfailed: int = 0
    spared: int = 0
    outages: int = 0
    last_outage: int = 0
    postponed: int = 0


NOT_SEEN = Seen()


class TriesSeen:
    """Remembers the messages of one function that will come back."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, Seen] = OrderedDict()
        self._outage = 1

    def of(self, message_id: str) -> Seen:
        """What is known of that message's tries before this one."""
        return self._seen.get(message_id, NOT_SEEN)

    def add(self, message_id: str, invocation_id: str, outcome: Outcome) -> None:
        """A try ended here, and the message will come back."""
        before = self.of(message_id)
        postponed = min(before.postponed + isinstance(outcome, Postponed), POSTPONED_TRIES)
        ours = before.excused - before.postponed - before.spared + _is_excused(outcome)
        self._seen[message_id] = replace(
            before,
            results=before.results + 1,
            invocation_id=invocation_id,
            excused=min(ours, EXCUSED_TRIES) + postponed + before.spared,
            suspect=isinstance(outcome, WorkerLost),
            unfailed=before.unfailed + (not _has_failed(outcome)),
            postponed=postponed,
        )
        self._touched(message_id)

    def spare(self, message_id: str, count: int = 1) -> None:
        """Hold that many failed tries, of now or before, against the message no more.

        Without limit: what a queue's messages depend on may be down for days.
        """
        before = self.of(message_id)
        self._seen[message_id] = replace(
            before,
            excused=before.excused + count,
            spared=before.spared + count,
            outages=before.outages + (before.last_outage != self._outage),
            last_outage=self._outage,
        )
        self._touched(message_id)

    def outage_over(self) -> None:
        """What is spared from now on is in another outage."""
        self._outage += 1

    def _touched(self, message_id: str) -> None:
        self._seen.move_to_end(message_id)
        if len(self._seen) > REMEMBERED_MESSAGES:
            self._seen.popitem(last=False)

    def forget(self, message_id: str) -> None:
        """The message has reached its end."""
        self._seen.pop(message_id, None)


class TriesOfAll:
    """What is remembered of every function's messages, handed from one host to the next.

    A reload interrupts runs, and ends waits for a retry: what excuses these must outlive the host.
    """

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], TriesSeen] = {}
        self._starts: dict[str, deque[float]] = {}

    def of(self, function: str, queue_address: str) -> TriesSeen:
        """The memory of a function's messages on that queue."""
        return self._of.setdefault((function, queue_address), TriesSeen())

    def starts(self, function: str) -> deque[float]:
        """The times of the function's last starts, for `rate`: a reload begins no new minute."""
        return self._starts.setdefault(function, deque())


def _is_excused(outcome: Outcome) -> bool:
    if isinstance(outcome, WorkerLost):
        return not outcome.alone
    return isinstance(outcome, Interrupted)


def _has_failed(outcome: Outcome) -> bool:
    if isinstance(outcome, WorkerLost):
        return outcome.alone
    return isinstance(outcome, (Failed, TimedOut))

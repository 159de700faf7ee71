"""The messages of one in-memory queue, under the service's own rules.

Owns visibility, receipts, dequeue counts and expiry, each verb O(log n): a heap orders the
messages by when they become visible, and an entry whose message has moved on is skipped when it
comes up. Synchronous; knows no transport, no faults and no queue names.
"""

from __future__ import annotations

import base64
import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from qtrigger.clock import Clock
from qtrigger.errors import LeaseLostError, QueueRejected
from qtrigger.ids import new_id
from qtrigger.queues.client import MAX_RECEIVE, NEVER_EXPIRES_S, QueueMessage, Receipt
from qtrigger.queues.encoding import check_text

NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LONGEST_VISIBILITY_S = 7 * 86_400
DEFAULT_TTL_S = 7 * 86_400

# Slack before stale heap entries are swept out; any small number does.
_SWEEP_SLACK = 64


@dataclass(slots=True)
class _Stored:
    """A message in the queue. `turn` names its one valid heap entry; -1: it is gone."""

    id: str
    text: str
    inserted: datetime
    expires: datetime
    next_visible: datetime
    receipt: str
    turn: int
    visible_at: float
    dequeue_count: int = 0

    def shown(self, receipt: str) -> QueueMessage:
        return QueueMessage(
            id=self.id,
            text=self.text,
            dequeue_count=self.dequeue_count,
            inserted=self.inserted,
            expires=self.expires,
            next_visible=self.next_visible,
            pop_receipt=receipt,
        )


class MessageStore:
    """One queue. Durations are seconds, cut to whole ones as the service's interface is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: dict[str, _Stored] = {}
        self._by_visibility: list[tuple[float, int, _Stored]] = []
        self._by_expiry: list[tuple[float, int, _Stored]] = []
        self._turns = itertools.count()

    def put(self, text: str, delay_s: float | None, ttl_s: float | None) -> QueueMessage:
        """Add a message; its receipt is valid at once, as the service's answer to a put is.

        Raises QueueRejected and MessageTooLarge.
        """
        check_text(text)
        ttl = DEFAULT_TTL_S if ttl_s is None else int(ttl_s)
        if ttl != NEVER_EXPIRES_S and ttl < 1:
            raise _out_of_range("messagettl", ttl, "at least 1, or -1")
        delay = self._visibility(delay_s or 0.0, least=0)
        if ttl_s is not None and ttl != NEVER_EXPIRES_S and delay >= ttl:
            raise _out_of_range("visibilitytimeout", delay, f"below the time to live of {ttl}")

        now = self._now()
        lifetime = math.inf if ttl == NEVER_EXPIRES_S else float(ttl)
        stored = _Stored(
            id=new_id(),
            text=text,
            inserted=now,
            expires=_later(now, lifetime),
            next_visible=now,
            receipt="",
            turn=-1,
            visible_at=0.0,
        )
        self._messages[stored.id] = stored
        self._hide(stored, delay)
        if lifetime < math.inf:
            ends = self._clock.monotonic() + lifetime
            heapq.heappush(self._by_expiry, (ends, stored.turn, stored))
            self._sweep_by_expiry()
        return stored.shown(stored.receipt)

    def receive(self, count: int, visibility_timeout_s: float) -> list[QueueMessage]:
        """Take up to `count` visible messages. Raises QueueRejected."""
        _check_count(count)
        hidden = self._visibility(visibility_timeout_s, least=1)
        taken = self._pop_visible(count)
        for stored in taken:
            stored.dequeue_count += 1
            self._hide(stored, hidden)
        return [stored.shown(stored.receipt) for stored in taken]

    def peek(self, count: int) -> list[QueueMessage]:
        """Show up to `count` visible messages, changing nothing. Raises QueueRejected."""
        _check_count(count)
        seen = self._pop_visible(count)
        for stored in seen:
            heapq.heappush(self._by_visibility, (stored.visible_at, stored.turn, stored))
        return [stored.shown("") for stored in seen]

    def update(
        self, message_id: str, receipt: str, visibility_timeout_s: float, text: str | None
    ) -> Receipt:
        """Hide the message from now on, under a new receipt.

        Raises LeaseLostError, and QueueRejected for a time beyond the message's expiry.
        """
        hidden = self._visibility(visibility_timeout_s, least=0)
        if text is not None:
            check_text(text)
        stored = self._held(message_id, receipt)
        if self._clock.utcnow() + timedelta(seconds=hidden) > stored.expires:
            # Azurite lets this pass; the service does not.
            raise _out_of_range("visibilitytimeout", hidden, "no time beyond the message's expiry")
        if text is not None:
            stored.text = text
        self._hide(stored, hidden)
        return Receipt(pop_receipt=stored.receipt, next_visible=stored.next_visible)

    def delete(self, message_id: str, receipt: str) -> None:
        """Remove the message. Raises LeaseLostError."""
        self._remove(self._held(message_id, receipt))

    def clear(self) -> None:
        """Remove all messages, hidden ones too."""
        for stored in self._messages.values():
            stored.turn = -1
        self._messages.clear()
        self._by_visibility.clear()
        self._by_expiry.clear()

    def __len__(self) -> int:
        self._drop_expired()
        return len(self._messages)

    def __iter__(self) -> Iterator[QueueMessage]:
        """Every message, hidden ones too, in the order of their arrival."""
        self._drop_expired()
        return iter([stored.shown(stored.receipt) for stored in self._messages.values()])

    def visible(self) -> int:
        """How many messages could be received now; O(n)."""
        self._drop_expired()
        now = self._clock.monotonic()
        return sum(stored.visible_at <= now for stored in self._messages.values())

    def _now(self) -> datetime:
        return self._clock.utcnow().replace(microsecond=0)

    def _visibility(self, seconds: float, *, least: int) -> int:
        whole = int(seconds)
        if not least <= whole <= LONGEST_VISIBILITY_S:
            raise _out_of_range("visibilitytimeout", whole, f"{least} to {LONGEST_VISIBILITY_S}")
        return whole

    def _hide(self, stored: _Stored, seconds: int) -> None:
        turn = next(self._turns)
        stored.turn = turn
        stored.visible_at = self._clock.monotonic() + seconds
        stored.next_visible = self._now() + timedelta(seconds=seconds)
        # Plus and slash, as in receipts of the real service: an unescaped one shows at once.
        stored.receipt = base64.b64encode(b"\xfb\xff\xfe" + turn.to_bytes(9, "big")).decode()
        heapq.heappush(self._by_visibility, (stored.visible_at, turn, stored))
        if len(self._by_visibility) > 2 * len(self._messages) + _SWEEP_SLACK:
            self._by_visibility = [e for e in self._by_visibility if e[1] == e[2].turn]
            heapq.heapify(self._by_visibility)

    def _sweep_by_expiry(self) -> None:
        """Let go of messages that are gone: their time to live may be days ahead, or years."""
        if len(self._by_expiry) > 2 * len(self._messages) + _SWEEP_SLACK:
            self._by_expiry = [entry for entry in self._by_expiry if entry[2].turn != -1]
            heapq.heapify(self._by_expiry)

    def _pop_visible(self, count: int) -> list[_Stored]:
        self._drop_expired()
        now = self._clock.monotonic()
        found: list[_Stored] = []
        heap = self._by_visibility
        while heap and len(found) < count and heap[0][0] <= now:
            _, turn, stored = heapq.heappop(heap)
            if turn == stored.turn:
                found.append(stored)
        return found

    def _held(self, message_id: str, receipt: str) -> _Stored:
        self._drop_expired()
        stored = self._messages.get(message_id)
        if stored is None:
            raise LeaseLostError(
                f"message {message_id} is no longer in the queue",
                status=404,
                code="MessageNotFound",
            )
        if stored.receipt != receipt:
            raise LeaseLostError(
                f"message {message_id} has been received or updated by someone else",
                status=400,
                code="PopReceiptMismatch",
            )
        return stored

    def _remove(self, stored: _Stored) -> None:
        stored.turn = -1
        del self._messages[stored.id]

    def _drop_expired(self) -> None:
        now = self._clock.monotonic()
        while self._by_expiry and self._by_expiry[0][0] <= now:
            _, _, stored = heapq.heappop(self._by_expiry)
            if stored.turn != -1:
                self._remove(stored)


def _later(now: datetime, seconds: float) -> datetime:
    if seconds >= (NEVER - now).total_seconds():
        return NEVER
    return now + timedelta(seconds=seconds)


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_RECEIVE:
        raise _out_of_range("numofmessages", count, f"1 to {MAX_RECEIVE}")


def _out_of_range(parameter: str, value: int, allowed: str) -> QueueRejected:
    return QueueRejected(
        f"{parameter} is {value}; the service takes {allowed}",
        status=400,
        code="OutOfRangeQueryParameterValue",
    )

"""What becomes of the notices of poisoned messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeFailed:
    """Somebody could not be told of a poisoned message, and is not told of it again.

    `told` is who: a program, or an address without what may be secret in it.
    """

    function: str
    queue: str
    message_id: str
    told: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesDropped:
    """So many poisoned messages of a function were not told: too many waited, or we stopped.

    `reason` is full or stopped.
    """

    function: str
    count: int
    reason: str

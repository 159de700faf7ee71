"""Tries a request again where that can only help.

Owns how often and after which pauses. A request whose answer was lost may have been carried out;
whether it may be made twice is for who makes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from qtrigger.clock import Clock
from qtrigger.errors import QueueUnavailable
from qtrigger.poison_copies import ANSWER_LOST

T = TypeVar("T")

PAUSES_S: Final = (0.5, 2.0, 5.0)
# A service that wants more patience is told of, rather than waited for.
LONGEST_WISH_S: Final = 30.0


async def persist(request: Callable[[], Awaitable[T]], clock: Clock, *, twice: bool = True) -> T:
    """Make the request, and again after a passing fault. Raises its last error.

    `twice` False: a request that may have been carried out is not made again.
    """
    for pause_s in PAUSES_S:
        try:
            return await request()
        except QueueUnavailable as error:
            if not twice and error.code in ANSWER_LOST:
                raise
            await clock.sleep(min(max(pause_s, error.retry_after_s or 0.0), LONGEST_WISH_S))
    return await request()

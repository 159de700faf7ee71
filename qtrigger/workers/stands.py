"""Asking a worker process where the code of a run stands.

Owns the questions that are open and how long an answer may take; what is done with one is for
whoever asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from qtrigger.clock import Clock

# A process that does not answer in time is held up itself: its interpreter's lock is taken.
ANSWER_S = 2.0


class Stands:
    """The questions; `send` is called with the number of the run that one is about."""

    def __init__(self, clock: Clock, send: Callable[[int], None]) -> None:
        self._clock = clock
        self._send = send
        self._open: dict[int, asyncio.Future[str]] = {}

    async def ask(self, number: int) -> str:
        """The run's stack as text, "" when there is no answer, or the run has ended."""
        answer = self._open.get(number)
        if answer is None:
            answer = self._open[number] = asyncio.get_running_loop().create_future()
            self._send(number)
        try:
            async with self._clock.timeout(ANSWER_S):
                return await asyncio.shield(answer)
        except TimeoutError:
            return ""
        finally:
            self._open.pop(number, None)

    def answered(self, number: int, stack: str) -> None:
        """The process has answered, perhaps too late."""
        answer = self._open.pop(number, None)
        if answer is not None and not answer.done():
            answer.set_result(stack)

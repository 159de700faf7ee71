"""One at a time, in the order of arrival.

Owns whose turn it is. It does not know what is done with a turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Lane:
    """Gives turns; whoever waits may be told instead that none is needed any more.

    `emptied` is called when a turn has ended and nobody is there to take the next.
    """

    def __init__(self, emptied: Callable[[], None]) -> None:
        self._emptied = emptied
        self._taken = False
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def enter(self) -> bool:
        """Wait for a turn; False when `excuse` has come first. After True, `leave` is due."""
        if not self._taken:
            self._taken = True
            return True
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the turn to the next one."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._taken = False
        self._emptied()

    def excuse(self) -> None:
        """Let those go that wait now, without a turn."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(False)

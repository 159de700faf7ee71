"""Noticing that a function blocks the event loop.

Owns a thread that looks in on the loop while runs are open there. The loop cannot say this
itself, and everything async in the process stands still meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

BLOCKED_AFTER_S = 2.0
LOOK_EVERY_S = 1.0

Tell = Callable[[str, "FrameType | None"], Callable[[float], None]]
"""Told the name of the task that has the loop, and where its thread stands.

What it returns is told in the end for how many seconds the loop was blocked.
"""


class LoopWatch:
    """Watches the loop of the thread that makes this object.

    `is_busy` says whether there is anything to look at; `wake` that there is again.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, is_busy: Callable[[], bool], tell: Tell
    ) -> None:
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._is_busy = is_busy
        self._tell = tell
        self._awake = threading.Event()
        self.wake = self._awake.set
        threading.Thread(target=self._watch, name="qtrigger-watch", daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._awake.wait()
            self._awake.clear()
            while self._is_busy():
                self._look()
                time.sleep(LOOK_EVERY_S)

    def _look(self) -> None:
        answered = threading.Event()
        asked_at = time.monotonic()
        try:
            self._loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            return  # closed: the process is about to leave
        if answered.wait(BLOCKED_AFTER_S):
            return
        task = asyncio.current_task(self._loop)
        if task is None:
            answered.wait()
            return
        frames = sys._current_frames()  # noqa: SLF001 - the public way to see another thread
        tell_end = self._tell(task.get_name(), frames.get(self._loop_thread))
        answered.wait()
        tell_end(time.monotonic() - asked_at)

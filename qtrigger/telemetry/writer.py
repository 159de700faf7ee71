"""A stream that never makes its writer wait.

Owns a thread between the event loop and standard output: a reader that pauses (a pager, a full
pipe) must not stop lease renewals, and one that has gone must not end the host.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

# About a minute of a busy host's lines; what comes while the reader has not caught up is counted.
MOST_WAITING: Final = 100_000
# Lines that follow each other within this time are written together.
TOGETHER_S: Final = 0.005


class BackgroundWriter:
    """A `write` and `flush` that return at once; the lines go to `stream` from a thread.

    A line that comes alone is written at once, and what follows it closely is written together.
    When `stream` takes no more (its reader has gone), everything further is dropped. `close`
    waits up to its deadline for what is still to be written. `plain` takes secrets out of a text.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        most_waiting: int = MOST_WAITING,
        plain: Callable[[str], str] = str,
    ) -> None:
        self._stream = stream
        self._plain = plain
        self._most_waiting = most_waiting
        self._texts: deque[str] = deque()
        self._dropped = 0  # counted by those who write …
        self._dropped_told = 0  # … and told by the thread
        self._broken = False
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def write(self, text: str) -> int:
        """Take a text; drop it when too much is waiting already."""
        if len(self._texts) < self._most_waiting:
            self._texts.append(text)
        else:
            self._dropped += 1
        if not self._woken.is_set():
            self._woken.set()
        return len(text)

    def flush(self) -> None:
        """Do nothing: the thread flushes whenever it has caught up."""

    def close(self, timeout_s: float = 2.0) -> None:
        """Write what is waiting, for `timeout_s` seconds at most, and end the thread."""
        self._closing.set()
        self._woken.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        closing = False
        while not closing:
            self._woken.wait()
            self._woken.clear()  # before looking: what comes after that wakes it again
            closing = self._closing.is_set()
            self._put(self._plain(self._waiting()))
            # Each wake takes the interpreter from the event loop for a while.
            self._closing.wait(TOGETHER_S)

    def _waiting(self) -> str:
        texts = [self._texts.popleft() for _ in range(len(self._texts))]
        dropped = self._dropped - self._dropped_told
        self._dropped_told += dropped
        if dropped:
            texts.append(f"({dropped} lines were dropped: the reader of this output is too slow)\n")
        return "".join(texts)

    def _put(self, text: str) -> None:
        if self._broken:
            return
        try:
            self._say(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._broken = True
            _discard(self._stream)

    def _say(self, text: str) -> None:
        """Write a text, escaping what the stream's encoding has no way to say."""
        try:
            self._stream.write(text)
        except UnicodeEncodeError as error:
            sayable = text.encode(error.encoding, "backslashreplace").decode(error.encoding)
            self._stream.write(sayable)


def _discard(stream: TextIO) -> None:
    """Point a stream without a reader at nothing, so that its last flush at exit is silent."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return

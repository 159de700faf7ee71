"""A stream that never makes its writer wait.

Owns a thread between the event loop and standard output: a reader that pauses (a pager, a full
pipe) must not stop lease renewals, and one that has gone must not end the host.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import Final, TextIO

# About a minute of a busy host's lines; what comes while the reader has not caught up is counted.
MOST_WAITING: Final = 100_000


class BackgroundWriter:
    """A `write` and `flush` that return at once; the lines go to `stream` from a thread.

    When `stream` takes no more (its reader has gone), everything further is dropped. `close`
    waits up to its deadline for what is still to be written.
    """

    def __init__(self, stream: TextIO, *, most_waiting: int = MOST_WAITING) -> None:
        self._stream = stream
        self._texts: queue.Queue[str | None] = queue.Queue(most_waiting)
        self._dropped = 0
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def write(self, text: str) -> int:
        """Take a text; drop it when too much is waiting already."""
        try:
            self._texts.put_nowait(text)
        except queue.Full:
            self._dropped += 1
        return len(text)

    def flush(self) -> None:
        """Do nothing: the thread flushes whenever it has caught up."""

    def close(self, timeout_s: float = 2.0) -> None:
        """Write what is waiting, for `timeout_s` seconds at most, and end the thread."""
        try:
            self._texts.put(None, timeout=timeout_s)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (text := self._texts.get()) is not None:
            if not self._broken:
                self._put(text, caught_up=self._texts.empty())
        if not self._broken:
            self._put("", caught_up=True)

    def _put(self, text: str, *, caught_up: bool) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            text += f"({dropped} lines were dropped: the reader of this output is too slow)\n"
        try:
            self._say(text)
            if caught_up:
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

"""What a worker process says, as events.

Owns lines from user code and from below it, the note about an import that takes long, and the
process's last words for when it does not come up. It reads frames and never sends any.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

from qtrigger.clock import Clock, Timer
from qtrigger.events import EventSink, UserLog

LOGGER = "qtrigger.worker"
LAST_LINES = 5


class UserText:
    """Turns log frames and raw lines into UserLog events.

    `importing` is the function whose module is being imported, "" when none is.
    """

    def __init__(self, clock: Clock, events: EventSink, *, note_after_s: float) -> None:
        self._clock = clock
        self._events = events
        self._note_after_s = note_after_s
        self._note: Timer | None = None
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self.importing = ""

    @property
    def last_words(self) -> str:
        """The last lines that did not come as frames, each on a line of its own."""
        return "".join(f"\n  {line}" for line in self._lines)

    def on_log(self, frame: Mapping[str, Any]) -> None:
        """A log frame."""
        function, invocation_id, message_id = frame.get("scope", ("", "", ""))
        self._events.emit(
            UserLog(
                function=function,
                invocation_id=invocation_id,
                message_id=message_id,
                level=frame["level"],
                logger=frame["logger"],
                message=frame["text"],
                extra=frame.get("extra", {}),
            )
        )

    def on_line(self, stream: str, line: str) -> None:
        """A line from below Python, or from before it was ready."""
        self._lines.append(line)
        self._say("", logging.INFO if stream == "stdout" else logging.WARNING, stream, line)

    def on_loading(self, function: str, script: str, pid: int) -> None:
        """The import of a function's script begins in that process, or of one with any number."""
        self.loaded()
        self.importing = function
        text = f"importing {script} takes longer than {self._note_after_s:g} s (process {pid})"
        self._note = self._clock.call_later(
            self._note_after_s, lambda: self._say(function, logging.WARNING, LOGGER, text)
        )

    def loaded(self) -> None:
        """Nothing is being imported any more."""
        self.importing = ""
        if self._note is not None:
            self._note.cancel()

    def _say(self, function: str, level: int, logger: str, text: str) -> None:
        self._events.emit(
            UserLog(
                function=function,
                invocation_id="",
                message_id="",
                level=level,
                logger=logger,
                message=text,
            )
        )

"""Which of the functions' own lines are let through: host.json's `logging.logLevel`.

Owns Azure's categories and level names. Our own lines are not concerned, those included that the
worker says of a function.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from qtrigger.events import Event, EventSink, UserLog

DEFAULT: Final = "default"
CONSOLE: Final = "Host.Function.Console"
_LEVELS: Final = {
    "trace": 0,
    "debug": logging.DEBUG,
    "information": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "none": logging.CRITICAL + 1_000,
}


class UserLevels:
    """Passes events on, but for lines of user code under the level of their category.

    `levels` maps categories to level names. A function's records have the category
    `Function.NAME.User`, what it prints `Host.Function.Console`. The longest key that a category
    begins with counts, else `default`, else every line is let through.
    """

    def __init__(self, sink: EventSink, levels: Mapping[str, str]) -> None:
        self._sink = sink
        self.go_by(levels)

    def go_by(self, levels: Mapping[str, str]) -> None:
        """Go by these levels from now on."""
        self._levels = {name.casefold(): level for name, level in levels.items()}

    def emit(self, event: Event) -> None:
        """Take one event."""
        if not isinstance(event, UserLog) or event.level >= self._least(event):
            self._sink.emit(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return self._sink.wants(kind)

    def _least(self, event: UserLog) -> int:
        if not self._levels or event.logger.startswith("qtrigger."):
            return 0
        printed = event.logger in ("stdout", "stderr")
        category = (CONSOLE if printed else f"Function.{event.function}.User").casefold()
        keys = [key for key in self._levels if key != DEFAULT and category.startswith(key)]
        name = self._levels.get(max(keys, key=len, default=DEFAULT), "trace")
        return _LEVELS.get(name.casefold(), 0)

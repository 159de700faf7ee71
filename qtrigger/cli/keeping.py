"""Puts the journal of failures together for a host that runs.

Owns which project's wish applies, and how a warning comes from the writing
thread to the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.events import EventSink, HostLog
from qtrigger.journal_file import JournalLimits, JournalWriter
from qtrigger.journaling import Journaling
from qtrigger.project.model import Project


class KeptJournal:
    """The journal in a state folder; `sink` hears what happens. Made on the loop's own thread."""

    def __init__(
        self, folder: Path, *, clock: Clock, sink: EventSink, plain: Callable[[str], str]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._warnings = sink
        self._writer = JournalWriter(folder, warn=self._warn)
        self.sink = Journaling(self._writer.put, now=clock.utcnow, plain=plain)

    def apply(self, project: Project) -> None:
        """Keep from now on what that project wants kept."""
        wanted = project.host.journal
        self.sink.on = wanted is not None
        if wanted is not None:
            self._writer.limits = JournalLimits(
                max_entries=wanted.max_entries, max_age_s=wanted.max_age_s
            )

    def close(self) -> None:
        """Write what is still to be written, within two seconds."""
        self._writer.close()

    def _warn(self, text: str) -> None:
        event = HostLog(level=logging.WARNING, logger="qtrigger", message=text)
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._warnings.emit, event)

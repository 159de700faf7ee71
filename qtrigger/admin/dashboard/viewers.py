"""Those who watch a page: one look a second is told to all of them, as server-sent events.

Owns the pace, the numbering by which a viewer that comes back gets what it missed, and the bounds:
how many there are, and how far behind one may be before it is let go. It comes back by itself.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from qtrigger.admin.dashboard.cells import Cells, Figures
from qtrigger.admin.dashboard.looking import Looking
from qtrigger.admin.route import Refusal
from qtrigger.background import begin

MOST_VIEWERS: Final = 16
EACH_S: Final = 1.0
# Events that a viewer may not have taken yet.
MOST_BEHIND: Final = 3
MOST_KEPT: Final = 10
# When nothing can be told, something still is: whoever waits knows that the host is there.
BEAT_S: Final = 5.0
_BEAT: Final = b": still here\n\n"
_RETRY: Final = b"retry: 2000\n\n"


class _Viewer:
    def __init__(self) -> None:
        self.pending: deque[bytes] = deque()
        self.news = asyncio.Event()
        self.gone = False

    def let_go(self) -> None:
        self.gone = True
        self.pending.clear()
        self.news.set()


class Viewers:
    """Tells all viewers the same."""

    def __init__(self, looking: Looking, figures: Figures) -> None:
        self._looking = looking
        self._figures = figures
        self._clock = looking.seen.clock
        self._viewers: set[_Viewer] = set()
        # So that a number from another process is not taken for one of ours.
        self._mark = secrets.token_hex(4)
        self._number = 0
        self._told: Cells = {}
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=MOST_KEPT)
        self._telling: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._viewers)

    def check_room(self) -> None:
        """Raises Refusal (503) when there are as many viewers as there may be."""
        if len(self._viewers) >= MOST_VIEWERS:
            raise Refusal(503, f"{MOST_VIEWERS} pages watch this host already; close one")

    async def stream(self, last_id: str = "") -> AsyncGenerator[bytes, None]:
        """What a viewer is told, until it is too slow or the host ends.

        `last_id` is that of the last event it got; what came since is told, or everything where
        that is no longer known.
        """
        if len(self._viewers) >= MOST_VIEWERS:
            return
        viewer = _Viewer()
        self._viewers.add(viewer)
        try:
            if self._telling is None or self._telling.done():
                self._told, self._kept = {}, deque(maxlen=MOST_KEPT)
                await self._tell()
                self._telling = begin(self._go_on(), name="tell the dashboard's viewers")
            viewer.pending.clear()
            yield _RETRY
            for event in self._missed(last_id):
                yield event
            while not viewer.gone:
                if viewer.pending:
                    yield viewer.pending.popleft()
                    continue
                viewer.news.clear()
                if not await self._clock.wait(viewer.news, BEAT_S):
                    yield _BEAT
        finally:
            self._viewers.discard(viewer)

    def close(self) -> None:
        """Tell nobody anything any more."""
        for viewer in self._viewers:
            viewer.let_go()
        if self._telling is not None:
            self._telling.cancel()
        self._looking.close()

    def _missed(self, last_id: str) -> list[bytes]:
        mark, _, number = last_id.partition("-")
        known = [each for each, _ in self._kept]
        if mark == self._mark and number.isascii() and number.isdigit():
            last = int(number[:18])
            if last == self._number or last + 1 in known:
                return [event for each, event in self._kept if each > last]
        return [self._event(self._told, whole=True)]

    async def _go_on(self) -> None:
        while True:
            await self._clock.sleep(EACH_S)
            if not self._viewers:
                return
            event = await self._tell()
            for viewer in tuple(self._viewers):
                if len(viewer.pending) >= MOST_BEHIND:
                    self._viewers.discard(viewer)
                    viewer.let_go()
                else:
                    viewer.pending.append(event)
                    viewer.news.set()

    async def _tell(self) -> bytes:
        """The event with what has changed since the one before."""
        view = await self._looking.view()
        cells = self._figures.cells(view)
        before = self._told
        changed: dict[str, str | None] = {
            key: value for key, value in cells.items() if before.get(key) != value
        }
        changed |= dict.fromkeys(before.keys() - cells.keys())
        self._told = cells
        self._number += 1
        event = self._event(changed)
        self._kept.append((self._number, event))
        return event

    def _event(self, cells: Mapping[str, str | None], *, whole: bool = False) -> bytes:
        # Line breaks are escaped by JSON, so that the data is one line whatever stands in it.
        data = json.dumps({"whole": whole, "cells": cells}, separators=(",", ":"))
        return f"id: {self._mark}-{self._number}\nevent: cells\ndata: {data}\n\n".encode()
